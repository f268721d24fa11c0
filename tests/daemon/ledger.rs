//! The ledger of a server: every planned run of every monitor is one stored result or a missed one.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use vigie::domain::{CheckResult, MonitorId, Timestamp};
use vigie::schedule::SlotGrid;
use vigie::store::{Pagination, ResultFilter, ResultStore};

use super::process::Daemon;

/// Monitors of a server, each planned once a minute: two results a second.
pub const MONITORS: usize = 120;
/// Within its interval, a run that was due while no server ran starts late or is missed.
pub const RUN_TIME_AFTER_RESTART: Duration = Duration::from_secs(63);

/// What became of the planned runs.
#[derive(Debug, Default)]
pub struct Ledger {
    pub planned: usize,
    pub stored: usize,
    pub missed: usize,
    /// Planned runs without a result, and results beyond one for a run.
    pub wrong: Vec<String>,
}

/// A result, or a series of missed runs.
pub struct Record {
    pub monitor_id: MonitorId,
    pub planned_at: Timestamp,
    pub run_count: u32,
    pub is_missed: bool,
}

impl From<&CheckResult> for Record {
    fn from(result: &CheckResult) -> Self {
        Self {
            monitor_id: result.monitor_id,
            planned_at: result.planned_at,
            run_count: result.run_count(),
            is_missed: result.missed.is_some(),
        }
    }
}

impl Ledger {
    /// Compares the runs of the monitors `ids` planned from `from` to `until` with `records`.
    pub fn new(
        records: impl IntoIterator<Item = Record>,
        ids: &[MonitorId],
        from: Timestamp,
        until: Timestamp,
    ) -> Self {
        let mut recorded: HashMap<(MonitorId, Timestamp), Vec<bool>> = HashMap::new();
        for Record { monitor_id, planned_at, run_count, is_missed } in records {
            let grid = slot_grid(monitor_id);
            let mut slot = planned_at;
            for _ in 0..run_count {
                recorded.entry((monitor_id, slot)).or_default().push(is_missed);
                slot = grid.next_slot_after(slot);
            }
        }
        let mut ledger = Self::default();
        for &id in ids {
            let grid = slot_grid(id);
            let mut slot = grid.first_slot_at_or_after(from);
            while slot < until {
                ledger.planned += 1;
                match recorded.get(&(id, slot)).map(Vec::as_slice) {
                    Some([false]) => ledger.stored += 1,
                    Some([true]) => ledger.missed += 1,
                    other => ledger.wrong.push(format!("{} at {slot:?}: {other:?}", id.0)),
                }
                slot = grid.next_slot_after(slot);
            }
        }
        ledger
    }
}

fn slot_grid(id: MonitorId) -> SlotGrid {
    SlotGrid::new(id, Duration::from_mins(1), None)
}

/// Returns all results, first checks among them.
pub async fn all_results(store: &dyn ResultStore) -> Vec<CheckResult> {
    store.results(ResultFilter::default(), Pagination::ALL).await.unwrap().results
}

/// Returns the ids of the monitors of `server`.
pub fn monitor_ids(server: &Daemon) -> Vec<MonitorId> {
    let list = || server.call("GET", "/monitors?limit=1000", &Value::Null);
    // The first call meets the fault of a reading thread.
    let (status, list) = [list(), list()].into_iter().find(|(status, _)| *status == 200).unwrap();
    assert_eq!(status, 200, "{list}");
    let id = |monitor: &Value| MonitorId(monitor["id"].as_i64().unwrap());
    let ids: Vec<_> = list["results"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids.len(), MONITORS);
    ids
}

pub fn now() -> Timestamp {
    use vigie::clock::Clock;
    vigie::clock::SystemClock.now()
}
