//! Mail: written by lettre, handed to one mail server over our own stream, so that the egress policy and the
//! trust of the location hold here too.

mod bounded_stream;
mod channel;
mod email;

pub(super) use channel::MailChannel;
pub use channel::{MailSettings, MailTls};
