//! The bound on the number of nodes that an expression may visit.

use std::cell::Cell;

/// Subtracts `node_count` from the budget; fails, and leaves nothing, when less is left.
pub(super) fn consume_nodes(node_budget: &Cell<u64>, node_count: u64) -> Result<(), String> {
    let remaining = node_budget.get().checked_sub(node_count);
    node_budget.set(remaining.unwrap_or(0));
    remaining.map(drop).ok_or_else(|| "the XPath visits too many nodes of this body".to_owned())
}
