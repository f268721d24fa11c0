//! One exchange of a protocol over a stream of [`crate::net`], and its parsers without sockets.

pub mod dns;
pub mod http;
pub mod starttls;
