//! Logs, metrics, and the health of the process.

mod health;
mod labels;
mod logs;
mod metrics;
mod process;

pub use health::{Condition, Vitals};
pub use logs::{FIELDS, LogFormat, LogOptions, LogSetupError, init_logs, log_panics, parse_filter};
pub use metrics::{Load, Metrics};
