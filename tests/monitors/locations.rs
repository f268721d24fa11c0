//! Several locations in one process: each checks its part of every run, over its own network.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;
use vigie::domain::{
    CheckResult, ConfigRecordKind, CustomerId, LocationId, MonitorId, Outcome, RunId, Timestamp,
};
use vigie::pipeline::{PlanError, Planner};
use vigie::schedule::RunPlan;
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::store::{ConfigChange, ConfigStore, NewConfigRecord};
use vigie::syntax::node::Node;

use crate::monitors::harness::{NOON, admin};
use crate::monitors::process::{Process, address};

/// Accepts connections and records their source addresses.
struct Target {
    port: u16,
    peers: Arc<Mutex<Vec<IpAddr>>>,
}

impl Target {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, peers) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<IpAddr>>>::default());
        let recorded = Arc::clone(&peers);
        tokio::spawn(async move {
            while let Ok((_, peer)) = listener.accept().await {
                recorded.lock().unwrap().push(peer.ip());
            }
        });
        Self { port, peers }
    }

    /// Returns the source addresses once they are `expected`, or after ten seconds: the kernel completes a connection
    /// before the target accepts it.
    async fn peers(&self, expected: &BTreeSet<IpAddr>) -> BTreeSet<IpAddr> {
        let started = std::time::Instant::now();
        loop {
            let recorded: BTreeSet<IpAddr> = self.peers.lock().unwrap().iter().copied().collect();
            if recorded == *expected || started.elapsed() > std::time::Duration::from_secs(10) {
                return recorded;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn addresses(ids: impl IntoIterator<Item = i64>) -> BTreeSet<IpAddr> {
    ids.into_iter().map(|id| IpAddr::V4(address(id))).collect()
}

/// Returns the locations that checked each run.
fn by_run(results: &[CheckResult]) -> BTreeMap<Timestamp, Vec<LocationId>> {
    let mut runs: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for result in results {
        assert_eq!(result.run_id, RunId::new(result.monitor_id, result.planned_at));
        runs.entry(result.planned_at).or_default().push(result.location_id);
    }
    for locations in runs.values_mut() {
        locations.sort_unstable();
    }
    runs
}

/// Returns the run plan of `monitor` at locations 1 to `pool`.
fn plan(process: &Process, monitor: MonitorId, pool: i64) -> RunPlan {
    let pool: Vec<_> = (1..=pool).map(LocationId).collect();
    process.monitors.monitor_cache().get(monitor).unwrap().run_plan(&pool)
}

fn locations(number: i64) -> serde_json::Value {
    (1..=number).map(|id| json!({"id": id})).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_location_of_the_pool_checks_each_run_over_its_own_network() {
    let (process, target) = (Process::hosting(3).await, Target::start().await);
    let id = process.create(target.port, json!({"locations": locations(3)})).await;
    assert_eq!(process.planned().await, 3);
    process.advance(180).await;
    let runs = by_run(&process.results(id, 9).await);
    let all = [1, 2, 3].map(LocationId).to_vec();
    assert_eq!(runs.len(), 3, "each run is one run, wherever it is checked: {runs:?}");
    assert!(runs.values().all(|locations| *locations == all), "{runs:?}");
    let expected = addresses(1..=3);
    assert_eq!(target.peers(&expected).await, expected);
    // The metric is updated at most four times a second.
    let shown = || process.metrics.encode().contains("\nvigie_monitors_planned 3\n");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !shown() {
        assert!(Instant::now() < deadline, "runners do not add up: {}", process.metrics.encode());
        tokio::time::sleep(Duration::from_millis(50)).await;
        process.advance(1).await;
    }
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_rotation_each_run_is_checked_at_the_next_locations_and_none_is_missed() {
    let (process, target) = (Process::hosting(4).await, Target::start().await);
    let more = json!({
        "locations": locations(4), "rotate_locations": true, "mode": "SLA (MultiPOP)",
    });
    let id = process.create(target.port, more).await;
    process.advance(6 * 60).await;
    let results = process.results(id, 12).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Ok), "{results:?}");
    let (runs, plan) = (by_run(&results), plan(&process, id, 4));
    assert_eq!((runs.len(), results.len()), (6, 12), "two of four check each run");
    for (planned, locations) in &runs {
        let mut expected = plan.locations_of_run(*planned);
        expected.sort_unstable();
        assert_eq!(locations, &expected);
    }
    let expected = addresses(1..=4);
    assert_eq!(target.peers(&expected).await, expected, "all had their turn");
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn round_robin_locations_start_one_after_another_within_the_interval() {
    let (process, target) = (Process::hosting(3).await, Target::start().await);
    let more = json!({"locations": locations(3), "home_location": 2, "mode": "Round Robin"});
    let id = process.create(target.port, more).await;
    process.advance(4 * 60).await;
    let plan = plan(&process, id, 3);
    let results = process.results(id, 9).await;
    for result in &results {
        let start = plan.location_start_at(result.planned_at, result.location_id).unwrap();
        let late = result.started_at.since(start);
        assert!(result.started_at >= start && late < Duration::from_secs(1), "{late:?}");
    }
    let delays: BTreeMap<_, _> =
        results.iter().map(|r| (r.location_id.0, r.started_at.since(r.planned_at).as_secs() / 20)).collect();
    assert_eq!(delays, BTreeMap::from([(2, 0), (1, 1), (3, 2)]), "the home location goes first");
    let text = process.metrics.encode();
    let late = text.lines().find(|line| line.starts_with("vigie_check_lateness_seconds_sum"));
    let sum: f64 = late.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(sum < 12.0, "what a location waits for its turn is no lateness: {sum}");
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_monitor_is_removed_from_locations_that_its_new_revision_omits() {
    let (process, target) = (Process::hosting(3).await, Target::start().await);
    let id = process.create(target.port, json!({"locations": locations(3)})).await;
    process.advance(60).await;
    process.results(id, 3).await;
    let body = Node::from(json!({"locations": [{"id": 3}]}));
    monitors::patch(&process.monitors, &admin(), id, None, InputFormat::V3, &body, None).await.unwrap();
    assert_eq!(process.planned().await, 1);
    process.advance(120).await;
    let results = process.results(id, 5).await;
    assert_eq!(results.len(), 5);
    assert!(results[..2].iter().all(|result| result.location_id == LocationId(3)));
    monitors::delete(&process.monitors, &admin(), id, None).await.unwrap();
    assert_eq!(process.planned().await, 0);
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_on_demand_check_runs_at_the_requested_location() {
    let (process, target) = (Process::hosting(3).await, Target::start().await);
    let id = process.create(target.port, json!({"locations": [{"id": 1}]})).await;
    let monitor = process.monitors.monitor_cache().get(id).unwrap();
    // Location 3 is not in the pool; it is the location that verifies.
    let result = process.planner.run_check_now(monitor.clone(), LocationId(3)).await.unwrap();
    assert_eq!((result.location_id, result.outcome), (LocationId(3), Outcome::Ok));
    let expected = addresses([3]);
    assert_eq!(target.peers(&expected).await, expected);
    let not_hosted = process.planner.run_check_now(monitor, LocationId(9)).await.unwrap_err();
    assert_eq!((not_hosted, process.planned().await), (PlanError::LocationOffline, 1));
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_traceroute_runs_only_at_a_hosted_location() {
    let (process, target) = (Process::hosting(2).await, Target::start().await);
    let id = process.create(target.port, json!({})).await;
    let monitor = process.monitors.monitor_cache().get(id).unwrap();
    for address in [None, Some("127.0.0.1".parse().unwrap())] {
        let file = process.planner.run_traceroute(monitor.clone(), LocationId(2), address).await.unwrap();
        let text = String::from_utf8(file.content.unwrap().to_vec()).unwrap();
        assert!(file.name == "traceroute.txt" && text.contains("127.0.0.1"), "{}: {text}", file.name);
    }
    assert_eq!(
        process.planner.run_traceroute(monitor, LocationId(9), None).await,
        Err(PlanError::LocationOffline)
    );
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_agents_of_this_process_are_alive() {
    let (process, target) = (Process::hosting(3).await, Target::start().await);
    let other_location = NewConfigRecord {
        fields: json!({"name": "branch", "region": 5, "private": false}).as_object().unwrap().clone(),
        ..record(ConfigRecordKind::Location, None)
    };
    let branch =
        process.store.write_changes(vec![ConfigChange::CreateRecord(other_location)], vec![]).await.unwrap()
            [0];
    process.create(target.port, json!({})).await;
    let agents = process.planner.agent_statuses();
    let recorded: Vec<_> = agents.iter().map(|a| (a.location.id.0, a.is_alive, a.can_verify)).collect();
    assert_eq!(recorded, [(1, true, false), (2, true, false), (3, true, true), (branch, false, false)]);
    process.agents[1].runner().shutdown(Duration::ZERO).await;
    assert!(!process.planner.agent_statuses()[1].is_alive, "one whose runner has ended is away");
    process.end().await;
}

// row: 2.4 type
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_monitor_blackout_no_location_contacts_the_target_and_runs_are_recorded() {
    let (process, target) = (Process::hosting(2).await, Target::start().await);
    let id = process.create(target.port, json!({"locations": locations(2)})).await;
    let other = process.create(target.port, json!({"locations": [{"id": 1}]})).await;
    // From noon for three minutes; the account has no time zone.
    let fields = json!({
        "type": "Monitor", "persistent": false,
        "from_date": "2026-01-01 12:00:00", "thru_date": "2026-01-01 12:03:00",
    });
    let fields = fields.as_object().unwrap().clone();
    let blackout = NewConfigRecord { fields, ..record(ConfigRecordKind::Blackout, Some(id.0)) };
    let number =
        process.store.write_changes(vec![ConfigChange::CreateRecord(blackout)], vec![]).await.unwrap()[0];
    process.monitors.account_cache().invalidate_all();
    process.planner.replan_changed_accounts(process.monitors.monitor_cache()).await.unwrap();
    process.advance(180).await;
    let results = process.results(id, 6).await;
    let reason = format!("blackout {number} of the monitor");
    assert!(
        results.iter().all(|r| r.outcome == Outcome::Blackout && r.reasons == [reason.clone()]),
        "{results:?}"
    );
    assert!(results.iter().all(|r| r.attempts.is_empty() && r.address.is_none()));
    let others = process.results(other, 3).await;
    assert!(others.iter().all(|result| result.outcome == Outcome::Ok));
    let expected = addresses([1]);
    assert_eq!(target.peers(&expected).await, expected, "by the other monitor alone");
    // A user may still request a check.
    let monitor = process.monitors.monitor_cache().get(id).unwrap();
    let requested = process.planner.run_check_now(monitor, LocationId(2)).await.unwrap();
    assert_eq!(requested.outcome, Outcome::Ok);
    process.advance(60).await;
    let after = process.results(id, 8).await;
    assert!(after[..2].iter().all(|result| result.outcome == Outcome::Ok), "{after:?}");
    process.end().await;
}

fn record(kind: ConfigRecordKind, assoc: Option<i64>) -> NewConfigRecord {
    NewConfigRecord {
        kind,
        customer: Some(CustomerId(1)),
        parent_id: assoc,
        unique_key: None,
        created_at: Timestamp::from_seconds(NOON),
        created_by: "test".to_owned(),
        fields: serde_json::Map::new(),
        private_data: None,
    }
}
