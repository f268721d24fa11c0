//! Mail: written by lettre, handed to one mail server over our own stream, so that the egress policy and the
//! trust of the location hold here too.

mod channel;
mod letter;
mod relay;

pub(super) use channel::MailChannel;
pub use channel::{MailSettings, MailTls};
