//! Rollups: statistics by hour and day.

/// Width of a stored rollup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollupSpan {
    /// One hour, UTC.
    Hour,
    /// One day, UTC.
    Day,
}
