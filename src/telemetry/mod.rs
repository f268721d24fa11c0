//! Logs and metrics.

mod metrics;

pub use metrics::Metrics;
