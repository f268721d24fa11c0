//! Bounds what a file makes the parser copy.

use std::cell::Cell;

/// Maximum size of all texts that are copied from one place of a file to several others, in bytes.
const MAX_COPIED_BYTES: usize = 64 * 1024 * 1024;

/// What may still be copied: parameters and paths of interfaces into their resources and steps, and names of steps into
/// transfers.
pub(super) struct CopyBudget(Cell<usize>);

impl CopyBudget {
    pub(super) const fn new() -> Self {
        Self(Cell::new(MAX_COPIED_BYTES))
    }

    /// Takes `bytes` from the budget.
    ///
    /// # Errors
    /// When more would be copied than is allowed.
    pub(super) fn charge(&self, bytes: usize) -> Result<(), String> {
        let Some(rest) = self.0.get().checked_sub(bytes) else {
            let max_mib = MAX_COPIED_BYTES >> 20;
            return Err(format!("steps repeat more than {max_mib} MiB of names and parameters"));
        };
        self.0.set(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_used_up() {
        let budget = CopyBudget::new();
        assert_eq!(budget.charge(MAX_COPIED_BYTES), Ok(()));
        assert_eq!(budget.charge(0), Ok(()));
        assert_eq!(budget.charge(1).unwrap_err(), "steps repeat more than 64 MiB of names and parameters");
    }
}
