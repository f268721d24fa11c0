//! What one transaction takes.

use crate::domain::{CheckResult, MonitorState};

use super::alerts::AlertChanges;
use super::future::StoreFuture;

/// What one transaction takes.
#[derive(Debug, Default, Clone)]
pub struct Commit {
    /// Results; their ids are those that [`CheckId::of`](crate::domain::CheckId::new) gives. A real result replaces a missed one of the same check id; any other repeat is dropped.
    pub results: Vec<CheckResult>,
    /// States that follow from them.
    pub states: Vec<MonitorState>,
    /// What alerting makes of them.
    pub alerts: AlertChanges,
}

/// Takes results and what follows from them.
pub trait Ingest: Send + Sync + 'static {
    /// Keeps all of `commit` or nothing of it; once answered, a killed process loses none of it.
    fn commit(&self, commit: Commit) -> StoreFuture<'_, ()>;
}
