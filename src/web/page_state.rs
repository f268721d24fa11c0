//! What the pages are made of.

use std::sync::Arc;

use crate::clock::Clock;
use crate::service::StatusQueries;
use crate::telemetry::{HealthSource, Metrics};

/// What the pages are made of.
#[derive(Clone)]
pub struct PageState {
    /// Monitors and results.
    pub queries: Arc<StatusQueries>,
    /// State of the process.
    pub health: Arc<dyn HealthSource>,
    /// Metrics of the process.
    pub metrics: Arc<Metrics>,
    /// For "12 s ago".
    pub clock: Arc<dyn Clock>,
}
