//! Figures of a service level agreement (behaviour.md 7): what counts, what is counted, and how much of what was
//! allowed is used up.

mod budget;
mod figures;
mod spans;
mod tally;

pub use budget::{Budget, Goal, Standing, percent};
pub use figures::Figures;
pub use spans::Spans;
pub use tally::{Counted, Scope, Tally};
