//! Security scans: passive, and with no more connections than a polite client opens.

mod allowed_targets;
mod dns_scan;
mod fetch;
mod options;
mod port_scan;
mod probe;
mod report;
mod scan;
mod tls_scan;
mod web_scan;

pub use allowed_targets::{AllowedTargets, SecurityScanSettings};
pub(super) use probe::build;
