//! Lists the performance alerts of one monitor.

use serde_json::{Map, Value};

use super::kinds::kind_of;
use super::records::Resources;
use crate::domain::{MonitorId, RecordKind};
use crate::service::caller::{Caller, Refusal};
use crate::store::{Paginated, Pagination, RecordFilter};

impl Resources {
    /// The performance alerts of a monitor.
    pub async fn performance_alerts(
        &self,
        caller: &Caller,
        monitor: MonitorId,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, Refusal> {
        caller.require(kind_of(RecordKind::PerformanceAlert).see)?;
        self.own_monitor(caller, monitor)?;
        let filter =
            RecordFilter { parent_id: vec![monitor.0], ..RecordFilter::new(RecordKind::PerformanceAlert) };
        self.list(caller, filter, page).await
    }

    /// Refuses a monitor that is not the caller's.
    pub(super) fn own_monitor(&self, caller: &Caller, monitor: MonitorId) -> Result<(), Refusal> {
        let known = self.parts.roster.of(caller.customer, monitor).is_some();
        if known { Ok(()) } else { Err(Refusal::NotFound) }
    }
}
