//! The charts of the durations of a monitor, and the same numbers as tables.

mod figure;
mod marks;
mod section;
mod span;

pub(super) use section::{LatencyQuery, render_latency};
