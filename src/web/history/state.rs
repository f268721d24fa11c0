//! Dependencies of the history of a monitor.

use std::sync::Arc;

use crate::service::{AlertService, ConfigRecordService};
use crate::web::actions::ActionsState;

/// Dependencies of the history of a monitor.
#[derive(Clone)]
pub struct HistoryState {
    /// Monitors, and who may see and do what with them.
    pub actions: ActionsState,
    /// Outages.
    pub alert_service: Arc<AlertService>,
    /// The audit trail.
    pub config_record_service: Arc<ConfigRecordService>,
}
