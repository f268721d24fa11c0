//! POP3 (RFC 1939) as a client speaks it: the way into a mailbox, and what is asked of it there. The protocol
//! itself is without sockets; [`Mailbox`] drives it over a [`super::session::Session`].

mod login;
mod mailbox;
mod message;
mod opening;
mod reply;

pub use login::Login;
pub use mailbox::{Ending, Listed, Mailbox};
pub use message::{Piece, Reading};
pub use opening::{Goal, Opening};
