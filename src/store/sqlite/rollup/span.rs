//! How wide rollups are, and how that is stored.

use crate::store::contract::RollupSpan;

/// Microseconds.
pub(in crate::store::sqlite) const fn width_us(span: RollupSpan) -> i64 {
    match span {
        RollupSpan::Hour => 3_600_000_000,
        RollupSpan::Day => 86_400_000_000,
    }
}

/// The number kept for `span`.
pub(in crate::store::sqlite) const fn span_code(span: RollupSpan) -> i64 {
    match span {
        RollupSpan::Hour => 0,
        RollupSpan::Day => 1,
    }
}
