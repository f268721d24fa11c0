//! One exchange of a protocol over a stream of [`crate::net`], and its parsers without sockets.

pub mod dns;
pub mod ftp;
pub mod http;
mod session;
pub mod starttls;
mod transcript;

pub use session::{Act, Core, Line, Session};
pub use transcript::Transcript;
