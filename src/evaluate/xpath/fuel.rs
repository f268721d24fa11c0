//! The bound on the number of nodes that an expression may visit.

use std::cell::Cell;

/// Subtracts `amount` nodes from the budget; fails when too few are left.
pub(super) fn consume_nodes(fuel: &Cell<u64>, amount: u64) -> Result<(), String> {
    let left = fuel.get().checked_sub(amount);
    fuel.set(left.unwrap_or(0));
    left.map(drop).ok_or_else(|| "the XPath visits too many nodes of this body".to_owned())
}
