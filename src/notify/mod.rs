//! Notification channels, one for each method, and the templates that render messages.
//!
//! A channel gets a complete message and reports whether the receiver accepted it. It knows no store, outbox or
//! schedule: retries, limits and digests are the caller's.

mod alertmanager;
mod channels;
mod dedup_key;
mod form_post;
mod json_fields;
mod json_post;
mod mail;
mod message_secrets;
mod outgoing_message;
mod pager_duty;
mod send_error;
mod service_now;
mod slack;
mod sms;
mod snmp;
mod splunk;
mod templates;
mod webhook;

pub use channels::{ChannelSettings, DEFAULT_TRAP_ENTERPRISE, NotificationChannels};
pub use json_fields::json_fields;
pub use mail::{MailEncryption, MailSettings};
pub use outgoing_message::{MessageSender, OutgoingMessage, Secret, SendFuture};
pub use send_error::SendError;
pub use sms::SmsSettings;
pub use snmp::parse_object_identifier;
pub use templates::{AccountTemplate, MessageRenderer, RenderedMessage, TemplateError};
pub use webhook::WebhookClient;
