//! Lists the performance alerts of one monitor.

use serde_json::{Map, Value};

use super::resource_kind::resource_kind;
use super::resource_service::ResourceService;
use crate::domain::{MonitorId, RecordKind};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{Paginated, Pagination, RecordFilter};

impl ResourceService {
    /// Returns the performance alerts of a monitor.
    pub async fn performance_alerts(
        &self,
        caller: &Caller,
        monitor: MonitorId,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        caller.require_right(resource_kind(RecordKind::PerformanceAlert).view_right)?;
        self.require_own_monitor(caller, monitor)?;
        let filter =
            RecordFilter { parent_ids: vec![monitor.0], ..RecordFilter::new(RecordKind::PerformanceAlert) };
        self.list(caller, filter, page).await
    }

    /// Fails unless the monitor is the caller's.
    pub(super) fn require_own_monitor(
        &self,
        caller: &Caller,
        monitor: MonitorId,
    ) -> Result<(), ServiceError> {
        let known = self.dependencies.monitors.get_for_customer(caller.customer, monitor).is_some();
        if known { Ok(()) } else { Err(ServiceError::NotFound) }
    }
}
