//! Read models and caches of accounts, monitors and recipients.

pub(crate) mod contacts;
mod directory;
pub(crate) mod example;
pub(crate) mod moment;
pub(crate) mod object;
mod raised;
mod roster;
pub(crate) mod stored;
pub(crate) mod subject;

pub use contacts::recipient_password;
pub use directory::{
    AccountCache, AccountFacts, CertificateSummary, MobileEmulation, PropertyDefinition, SharedFacts,
};
pub use raised::ActivePerformanceAlerts;
pub use roster::MonitorCache;
