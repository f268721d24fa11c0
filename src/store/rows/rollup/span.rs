//! Width and stored code of rollup spans.

use crate::domain::RollupStep;
use crate::store::contract::RollupSpan;

/// Returns the width in microseconds.
pub(in crate::store) const fn width_us(span: RollupSpan) -> i64 {
    match span {
        RollupSpan::Hour => 3_600_000_000,
        RollupSpan::Day => 86_400_000_000,
    }
}

/// Returns the stored code of `span`.
pub(in crate::store) const fn span_code(span: RollupSpan) -> i64 {
    match span {
        RollupSpan::Hour => 0,
        RollupSpan::Day => 1,
    }
}

/// Returns the start of the hour or day that contains `time_us`.
pub(in crate::store) fn span_start(span: RollupSpan, time_us: i64) -> i64 {
    time_us.saturating_sub(time_us.rem_euclid(width_us(span)))
}

/// Returns the first start of a step at or after `time_us`.
pub(in crate::store) const fn ceil_step(step: RollupStep, time_us: i64) -> i64 {
    match time_us.rem_euclid(step.width_us()) {
        0 => time_us,
        rest => time_us.saturating_add(step.width_us() - rest),
    }
}
