//! Logs, metrics, and the health of the process.

mod health;
mod labels;
mod logs;
mod metrics;
mod process;

pub use health::{Condition, HealthSource};
pub use logs::{
    LOG_FIELDS, LogFormat, LogOptions, LogSetupError, init_logs, install_panic_hook, parse_filter,
};
pub use metrics::{Metrics, SchedulerLoad};
