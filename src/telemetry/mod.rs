//! Logs, metrics, and the health of the process.

mod agent_metrics;
mod bounded_names;
mod fault_injection;
mod health;
mod labels;
mod last_figures;
mod logs;
mod metrics;
mod monitor_histograms;
mod otlp_metrics;
mod process_metrics;
mod supervised_task;
mod task_health;
mod task_name;

pub use agent_metrics::{AgentLookup, AgentSample};
pub use fault_injection::{blocking_fault_point, fault_point};
pub use health::{HealthCondition, HealthSource};
pub use last_figures::{LastFigures, ResultFigures};
pub use logs::{
    LOG_FIELDS, LogFormat, LogOptions, LogSetupError, init_logging, install_panic_hook, parse_log_filter,
};
pub use metrics::{Metrics, PropertyCount, RunnerLoad};
pub use monitor_histograms::{DurationHistogram, MonitorHistograms};
pub use otlp_metrics::{OTLP_SIGNALS, OtlpMetrics};
pub use supervised_task::{SupervisedTask, TaskFuture, panic_message};
pub use task_health::{STUCK_AFTER, TaskHeartbeat, TaskRegistry};
pub use task_name::TaskName;
