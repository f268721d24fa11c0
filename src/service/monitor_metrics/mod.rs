//! The metrics of each monitor, for Prometheus.

mod budgets;
mod figures;
mod metrics_cache;
mod page;
mod page_part;
mod samples;

pub(super) use metrics_cache::MetricsCache;
pub use page::{MonitorMetricsPage, MonitorMetricsRequest};
pub use page_part::PagePart;
