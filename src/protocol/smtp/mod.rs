//! An SMTP client without sockets (RFC 5321, RFC 3207, RFC 4954).

mod message;
mod reply;
mod session;

pub use message::OutgoingMessage;
pub use reply::{SmtpReply, SmtpReplyParser};
pub use session::{SmtpOptions, SmtpSession};
