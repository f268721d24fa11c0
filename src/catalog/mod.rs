//! Read models and caches of accounts, monitors and recipients.

mod account_cache;
mod active_alerts;
pub(crate) mod contacts;
mod egress_review;
pub(crate) mod example_notification;
pub(crate) mod json_object;
mod monitor_cache;
pub(crate) mod monitor_summary;
pub(crate) mod record_settings;
pub(crate) mod timestamp_format;

pub use account_cache::{
    AccountCache, AccountSnapshot, CertificateSummary, MobileEmulation, PropertyDefinition, SharedAccountData,
};
pub use active_alerts::ActivePerformanceAlerts;
pub use contacts::decrypt_recipient_password;
pub use egress_review::{denied_monitor_target, denied_recipient};
pub use monitor_cache::MonitorCache;
