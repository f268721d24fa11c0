//! Liveness and readiness of the process, for health probes.

/// A condition that must hold for the process to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthCondition {
    /// Stable name, such as `store`.
    pub name: &'static str,
    /// Why the condition does not hold, with a remedy; `None` when it holds.
    pub unmet_reason: Option<String>,
}

impl HealthCondition {
    /// Creates a condition that holds.
    #[must_use]
    pub const fn met(name: &'static str) -> Self {
        Self { name, unmet_reason: None }
    }

    /// Creates a condition that does not hold.
    pub fn unmet(name: &'static str, reason: impl Into<String>) -> Self {
        Self { name, unmet_reason: Some(reason.into()) }
    }
}

/// Source of the health of the process, implemented by the app.
pub trait HealthSource: Send + Sync + 'static {
    /// Returns the conditions that need a restart when unmet: the runner makes progress.
    fn liveness(&self) -> Vec<HealthCondition>;

    /// Returns the conditions for serving requests: store open, ingest healthy, monitors loaded.
    fn readiness(&self) -> Vec<HealthCondition>;
}
