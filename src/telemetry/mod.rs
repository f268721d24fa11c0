//! Logs, metrics, and the health of the process.

mod health;
mod labels;
mod logs;
mod metrics;
mod process_metrics;

pub use health::{HealthCondition, HealthSource};
pub use logs::{
    LOG_FIELDS, LogFormat, LogOptions, LogSetupError, init_logging, install_panic_hook, parse_log_filter,
};
pub use metrics::{Metrics, SchedulerLoad};
