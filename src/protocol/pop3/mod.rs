//! A POP3 client (RFC 1939): opening a mailbox, and commands on it. The protocol itself is implemented without sockets;
//! [`Pop3Mailbox`] runs it over a [`super::line_session::LineSession`].

mod login;
mod mailbox;
mod message_lines;
mod reply;
mod session_setup;

pub use login::LoginOptions;
pub use mailbox::{MessageEntry, Pop3Mailbox, ReadOutcome};
pub use message_lines::{DataLine, HeaderScanner};
pub use session_setup::{OpeningDialogue, OpeningDialogueOptions};
