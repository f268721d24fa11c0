//! Whether the process lives and can do its work, as told to those who watch it.

/// One thing that has to hold before the process is of use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Stable word, such as `store`.
    pub name: &'static str,
    /// Why it does not hold, with what to do; `None` when it does.
    pub reason: Option<String>,
}

impl Condition {
    /// A condition that holds.
    #[must_use]
    pub const fn met(name: &'static str) -> Self {
        Self { name, reason: None }
    }

    /// A condition that does not hold.
    pub fn unmet(name: &'static str, fault: impl Into<String>) -> Self {
        Self { name, reason: Some(fault.into()) }
    }
}

/// The state of the process; app knows it.
pub trait HealthSource: Send + Sync + 'static {
    /// Conditions without which a restart is the remedy: the runner makes progress.
    fn liveness(&self) -> Vec<Condition>;

    /// Conditions without which it is of no use yet: store open, ingest healthy, monitors loaded.
    fn readiness(&self) -> Vec<Condition>;
}
