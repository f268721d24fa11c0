//! Tells pages and API the health of monitors, which the alert engine of this process knows.

use std::sync::Arc;

use crate::alerting::MonitorHealth;
use crate::domain::MonitorId;
use crate::pipeline::Ingestor;
use crate::service::HealthLookup;

/// The health of monitors according to an ingestor.
pub(super) struct IngestorHealth(pub(super) Arc<Ingestor>);

impl HealthLookup for IngestorHealth {
    fn health(&self, monitor: MonitorId) -> MonitorHealth {
        self.0.monitor_health(monitor)
    }

    fn down_monitors(&self) -> Vec<MonitorId> {
        self.0.down_monitors()
    }
}
