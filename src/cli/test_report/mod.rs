//! Results as reports of tests, which CI systems read.

mod junit;
mod tap;
mod test_case;

pub(super) use junit::render_junit;
pub(super) use tap::render_tap;
pub(super) use test_case::{TestCase, TestOutcome, TestVerdict};
