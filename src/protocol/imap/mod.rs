//! IMAP as a client sees it (RFC 9051, and RFC 3501 before it). What comes before the login is a core
//! without sockets: the library drops bytes that come too early, and they must be seen byte for byte where
//! TLS begins. Login, mailbox and logout are the library's, over a stream that keeps it within bounds.

mod bounded_stream;
mod mailbox;
mod opening;

pub use mailbox::{LoginMethod, Mailbox};
pub use opening::{Opening, OpeningOptions};
