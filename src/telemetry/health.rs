//! Whether the process lives and can do its work, as told to those who watch it.

/// One thing that has to hold before the process is of use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Stable word, such as `store`.
    pub name: &'static str,
    /// Why it does not hold, with what to do; `None` when it does.
    pub fault: Option<String>,
}

impl Condition {
    /// A condition that holds.
    #[must_use]
    pub const fn holds(name: &'static str) -> Self {
        Self { name, fault: None }
    }

    /// A condition that does not hold.
    pub fn broken(name: &'static str, fault: impl Into<String>) -> Self {
        Self { name, fault: Some(fault.into()) }
    }
}

/// The state of the process; app knows it.
pub trait Vitals: Send + Sync + 'static {
    /// Conditions without which a restart is the remedy: the runner makes progress.
    fn alive(&self) -> Vec<Condition>;

    /// Conditions without which it is of no use yet: store open, ingest healthy, monitors loaded.
    fn ready(&self) -> Vec<Condition>;
}
