//! An FTP client (RFC 959, 2428, 4217), passive mode only.
//!
//! suppaftp runs the dialogue from the login on: it sends commands, requests data connections, and ends transfers.
//! Three parts around it do what it cannot:
//!
//! | Part | Why |
//! |---|---|
//! | [`OpeningDialogue`] | the dialogue before: suppaftp does not support `120`, aborts at a greeting whose inner lines start with a number, has no implicit TLS over an existing connection, and silently drops bytes received before the TLS handshake |
//! | [`FtpStream`] | the stream below: it limits replies, passes each on as one line, records transcript and times, and keeps the password out of suppaftp's logs |
//! | the driver of [`FtpClient`] | data connections and their TLS use [`crate::net::Net`]: egress policy, source address, deadline, certificates |

mod client;
mod client_builder;
mod connector;
mod driver;
mod list;
mod opening_dialogue;
mod passive;
mod recorder;
mod reply;
mod stream;

pub use client::{FtpClient, FtpCredentials};
pub use list::ListEntryCounter;
pub use opening_dialogue::OpeningDialogue;
pub use passive::{parse_epsv_reply, parse_pasv_reply};
pub use recorder::SessionRecorder;
pub use reply::{FtpReply, FtpReplyError, FtpReplyParser};
pub use stream::FtpStream;
