//! Lists the performance alerts of one monitor.

use serde_json::{Map, Value};

use super::record_definition::record_definition;
use super::record_service::RecordService;
use crate::domain::{MonitorId, RecordKind};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{Paginated, Pagination, RecordFilter};

impl RecordService {
    /// Returns the performance alerts of a monitor.
    pub async fn performance_alerts_of_monitor(
        &self,
        caller: &Caller,
        monitor_id: MonitorId,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        caller.require_permission(record_definition(RecordKind::PerformanceAlert).view_permission)?;
        self.require_own_monitor(caller, monitor_id)?;
        let filter = RecordFilter {
            parent_ids: vec![monitor_id.0],
            ..RecordFilter::new(RecordKind::PerformanceAlert)
        };
        self.list(caller, filter, page).await
    }

    /// Fails unless the monitor is the caller's.
    pub(super) fn require_own_monitor(
        &self,
        caller: &Caller,
        monitor_id: MonitorId,
    ) -> Result<(), ServiceError> {
        let is_own = self.dependencies.monitor_cache.get_for_customer(caller.customer, monitor_id).is_some();
        if is_own { Ok(()) } else { Err(ServiceError::NotFound) }
    }
}
