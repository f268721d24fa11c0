//! Dependencies of the pages.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::service::MonitorReader;
use crate::telemetry::{HealthSource, Metrics};

/// Dependencies of the pages.
#[derive(Clone)]
pub struct PageState {
    /// Monitors and results.
    pub monitor_reader: Arc<MonitorReader>,
    /// Health of the process.
    pub health: Arc<dyn HealthSource>,
    /// Metrics of the process.
    pub metrics: Arc<Metrics>,
    /// Custom properties whose values are labels of a metric.
    pub metrics_properties: Arc<[String]>,
    /// Most series of a monitor in the metrics of monitors.
    pub max_monitor_series: u32,
    /// Monitors whose metrics may be in memory.
    pub metrics_permits: Arc<Semaphore>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}
