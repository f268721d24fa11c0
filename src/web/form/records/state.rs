//! Dependencies of the pages of an account.

use std::sync::Arc;

use crate::service::ConfigRecordService;
use crate::web::actions::ActionsState;

/// Dependencies of the pages of an account.
#[derive(Clone)]
pub struct AccountState {
    /// Monitors, and who may do what.
    pub actions: ActionsState,
    /// What accounts have beside their monitors.
    pub config_record_service: Arc<ConfigRecordService>,
}
