//! How wide rollups are, and how that is stored.

use crate::store::contract::Span;

/// Microseconds.
pub(in crate::store::sqlite) const fn width(span: Span) -> i64 {
    match span {
        Span::Hour => 3_600_000_000,
        Span::Day => 86_400_000_000,
    }
}

/// The number kept for `span`.
pub(in crate::store::sqlite) const fn code(span: Span) -> i64 {
    match span {
        Span::Hour => 0,
        Span::Day => 1,
    }
}
