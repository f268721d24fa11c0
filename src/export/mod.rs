//! Results for other systems: the metrics of monitors, and what is sent by OTLP.

mod metric_family;
mod monitor_exposition;
mod monitor_sample;
mod open_metrics;
pub mod otlp;

pub use metric_family::METRIC_NAMES;
pub use monitor_exposition::MonitorExposition;
pub use monitor_sample::{BudgetSample, LocationSample, MonitorSample};
pub use open_metrics::push_label;
