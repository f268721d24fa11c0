//! A POP3 client (RFC 1939): opening a mailbox, and commands on it. The protocol itself is implemented without sockets;
//! [`Pop3Mailbox`] runs it over a [`super::line_session::LineSession`].

mod login;
mod mailbox;
mod message_lines;
mod opening_dialogue;
mod reply;

pub use login::LoginOptions;
pub use mailbox::{MessageEntry, Pop3Mailbox, ReadOutcome};
pub use message_lines::{DataLine, HeaderScanner};
pub use opening_dialogue::{OpeningDialogue, OpeningDialogueOptions};
