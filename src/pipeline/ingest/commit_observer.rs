//! Who learns of the results that were stored.

use crate::domain::CheckResult;

/// Learns of the results that were stored, for example to export them.
pub trait CommitObserver: Send + Sync {
    /// Takes note of stored results. The ingest waits for it, so it must return at once and never block. Results that an
    /// agent sends again may be among them.
    fn on_committed(&self, results: &[CheckResult]);
}
