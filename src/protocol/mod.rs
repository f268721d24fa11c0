//! Exchanges of protocols over streams of [`crate::net`], and their parsers without sockets.

pub mod auth;
pub mod dns;
pub mod ftp;
pub mod http;
pub mod imap;
mod line_session;
pub mod pop3;
pub mod smtp;
pub mod starttls;
pub mod tls_scan;
mod transcript;
#[cfg(test)]
mod transcript_test;

pub use line_session::{LineProtocol, LineSession, OutgoingLine, ProtocolAction};
pub use transcript::Transcript;
