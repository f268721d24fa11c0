//! Limits what one step may compute.

use std::cell::Cell;

use crate::net::Deadline;

/// Maximum size of the values that paths of expansions read in one step, in bytes: about a second.
const MAX_PATH_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of nodes that all paths of one step visit: some seconds.
const MAX_NODES: u64 = 50_000_000;
/// The same on the async thread, where texts are short: some milliseconds.
const MAX_INLINE_NODES: u64 = 300_000;

/// What the paths of one step may still read, and until when.
pub(super) struct StepBudget {
    remaining_path_bytes: Cell<usize>,
    /// Nodes that paths may still visit.
    pub(super) nodes: Cell<u64>,
    /// The step is over then: nobody reads what comes later.
    pub(super) deadline: Deadline,
}

impl StepBudget {
    pub(super) const fn new(deadline: Deadline) -> Self {
        Self::with_nodes(deadline, MAX_NODES)
    }

    /// Returns the budget of a step that is computed on the async thread.
    pub(super) const fn inline(deadline: Deadline) -> Self {
        Self::with_nodes(deadline, MAX_INLINE_NODES)
    }

    const fn with_nodes(deadline: Deadline, nodes: u64) -> Self {
        Self { remaining_path_bytes: Cell::new(MAX_PATH_BYTES), nodes: Cell::new(nodes), deadline }
    }

    /// Whether nothing more may be computed: what failed since then failed for that reason.
    pub(super) fn is_used_up(&self) -> bool {
        self.nodes.get() == 0 || self.deadline.is_expired()
    }

    /// Counts a value of `bytes` that a path of an expansion reads.
    ///
    /// # Errors
    /// When the step has read too much, or its time is over.
    pub(super) fn charge_path(&self, bytes: usize) -> Result<(), String> {
        self.check_time()?;
        let Some(remaining) = self.remaining_path_bytes.get().checked_sub(bytes) else {
            return Err(format!("paths of expansions read more than {MAX_PATH_BYTES} bytes"));
        };
        self.remaining_path_bytes.set(remaining);
        Ok(())
    }

    /// Fails when the time of the step is over.
    pub(super) fn check_time(&self) -> Result<(), String> {
        if self.deadline.is_expired() {
            return Err(format!("it did not end within {:?}", self.deadline.timeout));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn bytes_and_time_are_limited() {
        let budget = StepBudget::new(Deadline::within(Duration::from_mins(1)));
        assert_eq!(budget.charge_path(MAX_PATH_BYTES), Ok(()));
        assert!(budget.charge_path(1).unwrap_err().contains("more than"));
        let budget = StepBudget::new(Deadline::within(Duration::ZERO));
        assert!(budget.charge_path(1).unwrap_err().contains("did not end within"));
    }
}
