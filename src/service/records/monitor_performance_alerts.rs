//! Lists the performance alerts of one monitor.

use serde_json::{Map, Value};

use super::config_record_service::ConfigRecordService;
use super::record_definition::record_definition;
use crate::domain::{ConfigRecordKind, MonitorId};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{ConfigRecordFilter, Paginated, Pagination};

impl ConfigRecordService {
    /// Returns the performance alerts of a monitor.
    pub async fn performance_alerts_of_monitor(
        &self,
        caller: &Caller,
        monitor_id: MonitorId,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        caller.require_permission(record_definition(ConfigRecordKind::PerformanceAlert).view_permission)?;
        self.require_own_monitor(caller, monitor_id)?;
        let filter = ConfigRecordFilter {
            parent_ids: vec![monitor_id.0],
            ..ConfigRecordFilter::new(ConfigRecordKind::PerformanceAlert)
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
