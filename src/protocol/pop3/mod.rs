//! POP3 (RFC 1939) as a client speaks it: the way into a mailbox, and what is asked of it there. The protocol
//! itself is without sockets; [`Mailbox`] drives it over a [`super::line_session::LineSession`].

mod login;
mod mailbox;
mod message_lines;
mod opening;
mod reply;

pub use login::LoginOptions;
pub use mailbox::{Mailbox, MessageEntry, ReadOutcome};
pub use message_lines::{DataLine, HeaderScanner};
pub use opening::{Opening, OpeningOptions};
