//! Read models and caches of accounts, monitors and recipients.

mod account_cache;
mod active_performance_alerts;
pub(crate) mod alerting_settings;
pub(crate) mod example_notification;
mod monitor_cache;
pub(crate) mod monitor_description;
mod recipient_secrets;
pub(crate) mod record_settings;
pub(crate) mod v3_time_format;

pub use account_cache::{
    AccountCache, AccountSnapshot, CertificateSummary, InstanceData, MobileSettings, PropertyDefinition,
};
pub use active_performance_alerts::ActivePerformanceAlerts;
pub use monitor_cache::MonitorCache;
pub use recipient_secrets::{
    RecipientSecrets, decrypt_recipient_password, masked_recipient_fields, masked_webhook_url,
};
