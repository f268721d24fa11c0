//! Notification channels, one for each method, and the templates that render messages.
//!
//! A channel gets a complete message and reports whether the receiver accepted it. It knows no store, outbox or
//! schedule: retries, limits and digests are the caller's.

mod alertmanager;
mod channels;
mod contract;
mod fields;
mod form_post;
mod http;
mod json_post;
mod mail;
mod pager_duty;
mod send_error;
mod service_now;
mod slack;
mod sms;
mod snmp;
mod splunk;
mod templates;

pub use channels::{ChannelSettings, DEFAULT_TRAP_ENTERPRISE, NotificationChannels};
pub use contract::{MessageSender, OutgoingMessage, Secret, SendFuture};
pub use fields::json_fields;
pub use http::WebhookClient;
pub use mail::{MailEncryption, MailSettings};
pub use send_error::SendError;
pub use sms::SmsSettings;
pub use snmp::parse_object_identifier;
pub use templates::{MessageRenderer, MessageTemplate, RenderedMessage, TemplateError};
