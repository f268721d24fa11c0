//! Dependencies of the page of locations.

use std::sync::Arc;

use crate::clock::Clock;
use crate::service::ConfigRecordService;

/// Dependencies of the page of locations.
#[derive(Clone)]
pub struct LocationsState {
    /// Locations and agents.
    pub config_record_service: Arc<ConfigRecordService>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}
