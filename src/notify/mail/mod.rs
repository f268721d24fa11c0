//! Mail: lettre builds it and speaks SMTP to one mail server over Vigie's own network stack, so that the egress policy
//! and the trusted certificates of the location apply.

mod channel;
mod email;
mod read_limit_stream;

pub(super) use channel::MailChannel;
pub use channel::{MailEncryption, MailSettings};
