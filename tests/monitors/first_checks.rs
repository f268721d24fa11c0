//! First checks: a monitor that is new, or checks something else than before, is checked at once, once at each
//! location.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vigie::domain::{CheckResult, CheckTrigger, MonitorId, Outcome, Timestamp};
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::store::{Pagination, ResultFilter, ResultStore, SampleStore};
use vigie::syntax::node::Node;
use vigie::telemetry::{SupervisedTask, TaskHeartbeat, TaskName};

use crate::monitors::harness::{NOON, admin};
use crate::monitors::process::Process;

/// A process that starts first checks, and a port that accepts connections.
struct Checked {
    process: Process,
    port: u16,
    stop: CancellationToken,
}

impl Checked {
    async fn start(locations: i64) -> Self {
        let process = Process::hosting(locations).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { while listener.accept().await.is_ok() {} });
        let stop = CancellationToken::new();
        let heartbeat = TaskHeartbeat::unwatched(TaskName::FirstChecks);
        let mut task = process.planner.first_check_task(stop.clone(), heartbeat);
        tokio::spawn(async move { task.run().await });
        Self { process, port, stop }
    }

    async fn patch(&self, id: MonitorId, fields: Value) {
        let body = Node::from(fields);
        monitors::patch(&self.process.monitors, &admin(), id, None, InputFormat::V3, &body, None)
            .await
            .unwrap();
    }

    /// Waits until every first check that was requested so far has its result in the store.
    async fn settle(&self) {
        // One after the other: the first has its turn after all of them, the second its result.
        for _ in 0..2 {
            let last = self.process.create(self.port, rarely()).await;
            let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
            while self.results_of(last).await.len() < 2 {
                assert!(tokio::time::Instant::now() < deadline, "the last first check has no result");
                self.process.clock.advance(Duration::from_millis(10));
                tokio::task::yield_now().await;
            }
            for agent in &self.process.agents {
                while agent.runner().current_stats().await.unwrap().running_checks > 0 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    async fn results_of(&self, monitor: MonitorId) -> Vec<CheckResult> {
        self.results(ResultFilter { monitors: vec![monitor], ..ResultFilter::default() }).await
    }

    async fn results(&self, filter: ResultFilter) -> Vec<CheckResult> {
        let everything = Pagination { limit: 1000, offset: 0 };
        self.process.store.results(filter, everything).await.unwrap().results
    }

    async fn end(self) {
        self.stop.cancel();
        self.process.end().await;
    }
}

/// An interval that is not over before the test is.
fn rarely() -> Value {
    json!({"interval": 120, "locations": [{"id": 1}, {"id": 2}]})
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(NOON + seconds)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_monitor_is_checked_at_once_at_each_of_its_locations() {
    let checked = Checked::start(3).await;
    let id = checked.process.create(checked.port, rarely()).await;
    checked.settle().await;
    let results = checked.results_of(id).await;
    assert!(results.iter().all(|result| result.trigger == CheckTrigger::First), "{results:?}");
    assert!(results.iter().all(|result| result.outcome == Outcome::Ok && result.planned_at >= at(0)));
    let locations: BTreeSet<i64> = results.iter().map(|result| result.location_id.0).collect();
    assert_eq!((results.len(), locations), (2, BTreeSet::from([1, 2])));
    assert_eq!(results[0].run_id, results[1].run_id, "one run");
    assert_eq!(results[0].lateness(), None);
    let samples = checked.process.store.samples(id, at(-60), at(7200), 100).await.unwrap();
    assert_eq!(samples, [], "outside of reports");
    let states = checked.process.store.location_states_for(vec![id]).await.unwrap();
    assert!(states.len() == 2 && states.iter().all(|state| state.outcome == Outcome::Ok), "{states:?}");
    checked.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_change_of_what_is_checked_causes_another() {
    let checked = Checked::start(2).await;
    let id = checked.process.create(checked.port, json!({"interval": 120})).await;
    checked.settle().await;
    assert_eq!(checked.results_of(id).await.len(), 1);
    checked.patch(id, json!({"name": "market", "note": "n", "interval": 60, "timeout": 10})).await;
    checked.patch(id, json!({"allow_internal_testing": false})).await;
    checked.patch(id, json!({"hostname": "127.0.0.2"})).await;
    checked.patch(id, json!({"allow_internal_testing": true})).await;
    checked.settle().await;
    assert_eq!(checked.results_of(id).await.len(), 1, "none of these");
    checked.patch(id, json!({"hostname": "127.0.0.1"})).await;
    checked.settle().await;
    let results = checked.results_of(id).await;
    assert_eq!((results.len(), results[0].trigger), (2, CheckTrigger::First));
    assert_eq!((results[0].revision.0, results[1].revision.0), (6, 1));
    checked.end().await;
}

// row: 2.1 allow_internal_testing
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monitors_that_must_not_be_checked_have_none() {
    let checked = Checked::start(2).await;
    for more in [
        json!({"interval": 120, "allow_internal_testing": false}),
        json!({"interval": 120, "enabled": false}),
    ] {
        let id = checked.process.create(checked.port, more).await;
        checked.patch(id, json!({"hostname": "127.0.0.2"})).await;
        checked.settle().await;
        assert_eq!(checked.results_of(id).await, []);
    }
    let paused = checked.process.create(checked.port, json!({"interval": 120})).await;
    checked.settle().await;
    monitors::pause_monitor(&checked.process.monitors, &admin(), paused, at(3600)).await.unwrap();
    checked.patch(paused, json!({"hostname": "127.0.0.2"})).await;
    checked.settle().await;
    let revisions: Vec<_> = checked.results_of(paused).await.iter().map(|result| result.revision.0).collect();
    assert_eq!(revisions, [1]);
    checked.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_monitors_of_one_account_start_twenty_a_second() {
    let checked = Checked::start(1).await;
    for _ in 0..60 {
        checked.process.create(checked.port, json!({"interval": 120})).await;
    }
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    for count in 1..=60 {
        let mut results = Vec::new();
        while results.len() < count {
            assert!(tokio::time::Instant::now() < deadline, "{} of {count}", results.len());
            results = checked.results(ResultFilter::default()).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(results.len(), count, "one in each 50 ms");
        checked.process.clock.advance(Duration::from_millis(50));
    }
    checked.end().await;
}
