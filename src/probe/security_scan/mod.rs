//! Security scans: passive, and no more than a polite client does.

mod allowed_targets;

pub use allowed_targets::{AllowedTargets, SecurityScanSettings};
