//! FTP as its client speaks it (RFC 959, 2428, 4217), passive only.
//!
//! The dialogue from the login on is suppaftp's: it frames commands, asks for data connections, and ends
//! transfers in good order. Three things stand around it, because it cannot do them:
//!
//! | Part | Why |
//! |---|---|
//! | [`Opening`] | what comes before: suppaftp takes no `120`, ends the session at an inner line of a greeting that begins with a number, has no implicit TLS over a connection that somebody else made, and throws bytes away unseen that came before the TLS handshake |
//! | [`FtpStream`] | the stream below it: bounds replies, hands each on as one line, notes transcript and times, and keeps the password from its logs |
//! | the desk in [`FtpClient`] | data connections and their TLS go through [`crate::net::Net`]: egress policy, source address, deadline, certificates |

mod client;
mod client_builder;
mod connector;
mod driver;
mod list;
mod opening;
mod passive;
mod recorder;
mod reply;
mod stream;

pub use client::{FtpClient, FtpCredentials};
pub use list::ListEntryCounter;
pub use opening::Opening;
pub use passive::{parse_epsv, parse_pasv};
pub use recorder::SessionRecorder;
pub use reply::{Reply, ReplyError, ReplyParser};
pub use stream::FtpStream;
