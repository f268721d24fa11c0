//! An IMAP client (RFC 9051, and RFC 3501 before it). The dialogue before the login is implemented here without
//! sockets: the library drops bytes that arrive too early, and these must be detected before TLS. Login, mailbox and
//! logout use the library, over a stream that enforces limits.

mod bounded_stream;
mod mailbox;
mod opening_dialogue;

pub use mailbox::{ImapSession, LoginMethod};
pub use opening_dialogue::{OpeningDialogue, OpeningDialogueOptions};
