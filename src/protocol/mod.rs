//! One exchange of a protocol over a stream of [`crate::net`], and its parsers without sockets.

pub mod auth;
pub mod dns;
pub mod ftp;
pub mod http;
pub mod imap;
pub mod pop3;
#[cfg(test)]
mod script;
mod session;
pub mod smtp;
pub mod starttls;
mod transcript;

pub use session::{LineProtocol, LineSession, OutgoingLine, ProtocolAction};
pub use transcript::Transcript;
