//! Statistics of hours and days, and their stored form.

pub(in crate::store) mod missed_series;
pub(in crate::store) mod rolled_up_hours;
pub(in crate::store) mod span;
pub(in crate::store) mod stats;
pub(in crate::store) mod sums;
mod sums_codec;
