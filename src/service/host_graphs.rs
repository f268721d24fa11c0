//! The values of the host of a monitor over the last day, for its page.

use std::collections::BTreeMap;
use std::time::Duration;

use super::monitor_reader::MonitorReader;
use crate::domain::{HostHistoryQuery, HostId, HostSpan, StoreError, Timestamp};
use crate::schema::Monitor;
use crate::schema::host_reference::find_host_id;

/// How far back a graph goes.
const GRAPH_RANGE: Duration = Duration::from_hours(24);

/// A series of a host with its graph.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesGraph {
    /// The metric with its labels.
    pub series: String,
    /// The newest value.
    pub value: f64,
    /// Start and mean of each span, the oldest first.
    pub points: Vec<(Timestamp, f64)>,
}

impl MonitorReader {
    /// Returns the values of the host that `monitor` names, with graphs over a day; empty without a host that
    /// reports.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn host_graphs(
        &self,
        monitor: &Monitor,
        now: Timestamp,
    ) -> Result<Vec<SeriesGraph>, StoreError> {
        let (Some(reference), Some(accounts), Some(hosts)) =
            (monitor.document.host_reference(), self.account_cache(), self.host_store())
        else {
            return Ok(Vec::new());
        };
        let account = accounts.account(monitor.customer).await?;
        let Some(host_id) = find_host_id(&account.hosts, reference).map(HostId) else {
            return Ok(Vec::new());
        };
        let Some(newest) = hosts.host_state(host_id).await? else { return Ok(Vec::new()) };
        let query = HostHistoryQuery { host_id, span: HostSpan::Block, from: now - GRAPH_RANGE, until: now };
        let mut points: BTreeMap<String, Vec<(Timestamp, f64)>> = BTreeMap::new();
        for row in hosts.host_history(query).await? {
            for value in row.values {
                points.entry(value.series).or_default().push((row.start, value.mean));
            }
        }
        let to_graph = |value: crate::domain::SeriesValue| SeriesGraph {
            points: points.remove(&value.series).unwrap_or_default(),
            series: value.series,
            value: value.value,
        };
        Ok(newest.values.into_iter().map(to_graph).collect())
    }
}
