//! Rollups: figures per hour, out of the results, and per day, out of the hours.
//!
//! Hours that have ended are first noted as due, in the transaction that moves `rolled_until` on; from
//! then on each result that still comes in for them notes its own rollup as late. So nothing falls
//! between reading an hour and writing its rollups, and a process that dies in the middle goes on later.

mod figures;
pub(super) mod pending_rollups;
pub(super) mod roll_up;
pub(super) mod span;

pub use figures::SKETCH_RELATIVE_ERROR;
