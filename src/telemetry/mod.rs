//! Logs and metrics.

mod labels;
mod logs;
mod metrics;
mod process;

pub use logs::{FIELDS, LogFormat, LogOptions, LogSetupError, init_logs, log_panics, parse_filter};
pub use metrics::{Load, Metrics};
