//! Sweeps over monitors of one location, at times that the test sets.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::remote_agents::{AgentsState, RemoteAgents};
use super::sweep::{MissedRunSweep, PlanSource};
use super::swept_location::SweptLocation;
use crate::app::local_planner::{PlannedMonitor, PlannedMonitorPage};
use crate::bus::contract::{BusFuture, ResultCaptures, ResultReceiver, ResultSink};
use crate::clock::FakeClock;
use crate::domain::{
    CheckResult, CustomerId, LocationId, MissedReason, MissedRuns, MonitorId, MonitorType, Revision,
    Timestamp,
};
use crate::schedule::{RunPlan, SlotGrid};
use crate::schema::{Monitor, MonitorDocument, Origin};
use crate::store::{MissedRunStore, PlannedRuns, StoreFuture};
use crate::sync::Mutex;
use crate::telemetry::{Metrics, TaskHeartbeat, TaskName};

const LOCATION: LocationId = LocationId(1000);

fn at(minute: i64) -> Timestamp {
    Timestamp::from_seconds(1_800_000_000 + 60 * minute)
}

/// A store that keeps what it is given.
#[derive(Default)]
struct Recorded {
    results: Mutex<Vec<CheckResult>>,
    sweeps: Mutex<HashMap<LocationId, Timestamp>>,
}

impl Recorded {
    /// Returns the first and last run of each missed series, and its reason.
    fn missed(&self) -> Vec<(i64, i64, MissedReason)> {
        let minute = |time: Timestamp| (time.as_micros() - at(0).as_micros()) / 60_000_000;
        let results = self.results.lock();
        let missed = results.iter().filter_map(|result| Some((result.planned_at, result.missed?)));
        missed.map(|(first, runs)| (minute(first), minute(runs.last_planned_at), runs.reason)).collect()
    }
}

impl MissedRunStore for Recorded {
    fn missed_run_sweeps(&self) -> StoreFuture<'_, Vec<(LocationId, Timestamp)>> {
        Box::pin(async { Ok(self.sweeps.lock().iter().map(|(id, until)| (*id, *until)).collect()) })
    }

    fn set_missed_run_sweeps(&self, swept_until: Vec<(LocationId, Timestamp)>) -> StoreFuture<'_, ()> {
        self.sweeps.lock().extend(swept_until);
        Box::pin(async { Ok(()) })
    }

    fn recorded_runs(&self, runs: Vec<PlannedRuns>) -> StoreFuture<'_, Vec<Vec<RangeInclusive<Timestamp>>>> {
        let results = self.results.lock();
        let times = |result: &CheckResult| {
            result.planned_at..=result.missed.map_or(result.planned_at, |missed| missed.last_planned_at)
        };
        let recorded = |runs: &PlannedRuns| {
            let of_monitor = results.iter().filter(|result| result.monitor_id == runs.monitor_id);
            of_monitor.map(times).collect()
        };
        let recorded = runs.iter().map(recorded).collect();
        Box::pin(async { Ok(recorded) })
    }
}

impl ResultSink for Recorded {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        self.results.lock().push(result);
        Box::pin(async {})
    }
}

impl ResultReceiver for Recorded {
    fn deliver_captures(&self, _: ResultCaptures) -> BusFuture<'_, ()> {
        Box::pin(async {})
    }

    fn wait_until_committed(&self) -> BusFuture<'_, ()> {
        Box::pin(async {})
    }
}

struct Agents(Mutex<AgentsState>);

impl RemoteAgents for Agents {
    fn locations(&self) -> Vec<LocationId> {
        vec![LOCATION]
    }

    fn agents_state(&self, _: LocationId) -> AgentsState {
        *self.0.lock()
    }
}

struct Plans(Vec<(Monitor, Timestamp)>);

impl PlanSource for Plans {
    fn planned_monitors(&self, _: MonitorId, _: usize) -> PlannedMonitorPage {
        let plan = |(monitor, planned_since): &(Monitor, Timestamp)| PlannedMonitor {
            run_plan: RunPlan {
                slot_grid: SlotGrid::new(monitor.id, Duration::from_mins(1), Some(Duration::ZERO)),
                ..monitor.run_plan(&[LocationId(1), LOCATION])
            },
            monitor: monitor.clone(),
            planned_since: *planned_since,
        };
        PlannedMonitorPage { monitors: self.0.iter().map(plan).collect(), next_id: None }
    }
}

/// Returns a monitor that all locations check within 10 s.
fn monitor(id: i64) -> Monitor {
    let values = json!({"hostname": "127.0.0.1", "port": 9, "interval": 1, "timeout": 5, "retry": true,
        "locations": [{"id": 1}, {"id": 1000}], "mode": "SLA (MultiPOP)"});
    let Value::Object(values) = values else { unreachable!() };
    Monitor {
        id: MonitorId(id),
        customer: CustomerId(1),
        origin: Origin::Api,
        revision: Revision(2),
        modified_at: at(0),
        document: Arc::new(MonitorDocument::new(MonitorType::Tcp, values).unwrap()),
        metadata: Arc::default(),
    }
}

fn result(id: i64, minute: i64) -> CheckResult {
    let metadata = monitor(id).check_metadata(LOCATION);
    let missed = MissedRuns { reason: MissedReason::Overload, run_count: 1, last_planned_at: at(minute) };
    CheckResult { missed: None, ..CheckResult::from_missed_runs(metadata, at(minute), at(minute), missed) }
}

struct Fixture {
    recorded: Arc<Recorded>,
    agents: Arc<Agents>,
    clock: Arc<FakeClock>,
    sweep: MissedRunSweep,
    swept: HashMap<LocationId, SweptLocation>,
}

impl Fixture {
    fn new(planned: Vec<(Monitor, Timestamp)>) -> Self {
        let (recorded, clock) = (Arc::new(Recorded::default()), Arc::new(FakeClock::new(at(0))));
        let agents = Arc::new(Agents(Mutex::new(AgentsState::UpToDate)));
        let sweep = MissedRunSweep {
            plans: Arc::new(Plans(planned)),
            agents: agents.clone(),
            receiver: recorded.clone(),
            store: recorded.clone(),
            metrics: Arc::new(Metrics::new()),
            clock: clock.clone(),
            missed_after: Duration::from_mins(2),
        };
        Self { recorded, agents, clock, sweep, swept: HashMap::new() }
    }

    async fn sweep_at(&mut self, minute: i64) {
        self.clock.set_wall_time(at(minute));
        self.sweep.run(&mut self.swept, &TaskHeartbeat::unwatched(TaskName::MissedRuns)).await.unwrap();
    }
}

#[tokio::test]
async fn runs_that_nobody_reported_in_time_are_recorded_once() {
    let mut fixture = Fixture::new(vec![(monitor(1), at(0)), (monitor(2), at(0))]);
    fixture.sweep_at(0).await;
    for minute in [1, 2, 3, 5, 6] {
        fixture.recorded.results.lock().push(result(1, minute));
    }
    for minute in 1..=7 {
        fixture.recorded.results.lock().push(result(2, minute));
    }
    // The run of minute 4 may start until minute 5, takes 10 s, and has two minutes to be delivered.
    fixture.sweep_at(7).await;
    assert_eq!(fixture.recorded.missed(), []);
    fixture.sweep_at(8).await;
    fixture.sweep_at(9).await;
    assert_eq!(fixture.recorded.missed(), [(4, 4, MissedReason::NotRunning)]);
}

#[tokio::test]
async fn an_offline_location_has_few_series_and_a_backlog_is_waited_for() {
    let mut fixture = Fixture::new(vec![(monitor(1), at(0))]);
    fixture.sweep_at(0).await;
    *fixture.agents.0.lock() = AgentsState::Offline;
    for minute in 1..=31 {
        fixture.sweep_at(minute).await;
    }
    let offline = MissedReason::LocationOffline;
    assert_eq!(fixture.recorded.missed(), [(1, 11, offline), (12, 26, offline)]);
    *fixture.agents.0.lock() = AgentsState::Behind;
    fixture.sweep_at(40).await;
    assert_eq!(fixture.recorded.missed().len(), 2);
    for minute in 27..=33 {
        fixture.recorded.results.lock().push(result(1, minute));
    }
    *fixture.agents.0.lock() = AgentsState::UpToDate;
    fixture.sweep_at(41).await;
    assert_eq!(fixture.recorded.missed()[2..], [(34, 37, MissedReason::NotRunning)]);
}

#[tokio::test]
async fn a_server_that_was_away_goes_on_where_it_ended() {
    let mut fixture = Fixture::new(vec![(monitor(1), at(0))]);
    fixture.sweep_at(0).await;
    fixture.sweep_at(10).await;
    assert_eq!(fixture.recorded.missed().last().unwrap().1, 6);
    fixture.swept = fixture.sweep.load().await.unwrap();
    fixture.sweep_at(100).await;
    let runs: i64 = fixture.recorded.missed().iter().map(|(first, last, _)| last - first + 1).sum();
    assert_eq!((runs, fixture.recorded.missed().last().unwrap().1), (96, 96));
}

#[tokio::test]
async fn runs_before_the_last_change_are_not_missed() {
    let mut fixture = Fixture::new(vec![(monitor(1), at(5) + Duration::from_secs(30))]);
    fixture.sweep_at(0).await;
    fixture.sweep_at(14).await;
    assert_eq!(fixture.recorded.missed(), [(6, 10, MissedReason::NotRunning)]);
}
