//! The bus in the process: revisions and snapshots of assignments, deadlines of orders, presence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use vigie::agent::LocationAgent;
use vigie::bus::contract::{
    AssignedMonitor, AssignmentBatch, AssignmentError, AssignmentRevision, AssignmentSnapshot,
    AssignmentUpdate, BusFuture, CheckOrder, ConnectedLocation, FirstCheckOrder, LocationBus, LocationPort,
    OrderError, Presence, PublishError, RefusedAssignment, TracerouteOrder,
};
use vigie::domain::{CapturedFile, CheckResult, LocationId, MonitorId, MonitorType, Outcome};
use vigie::schema::{Monitor, MonitorDocument};

use super::process::Process;

const HERE: LocationId = LocationId(1);

type ApplyResult = Result<Vec<RefusedAssignment>, AssignmentError>;

async fn listener() -> (u16, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (listener.local_addr().unwrap().port(), listener)
}

fn unassign(monitor_id: MonitorId) -> AssignmentUpdate {
    AssignmentUpdate::Unassign { monitor_id, cancel_running: true }
}

/// A connection to an agent that loses batches.
struct LossyPort {
    agent: Arc<LocationAgent>,
    loses_batches: AtomicBool,
}

impl LocationPort for LossyPort {
    fn apply_snapshot(&self, snapshot: AssignmentSnapshot) -> BusFuture<'_, ApplyResult> {
        self.agent.apply_snapshot(snapshot)
    }

    fn apply_batch(&self, batch: AssignmentBatch) -> BusFuture<'_, ApplyResult> {
        if self.loses_batches.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Ok(Vec::new())));
        }
        self.agent.apply_batch(batch)
    }

    fn check(&self, order: CheckOrder) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        self.agent.check(order)
    }

    fn first_check(&self, order: FirstCheckOrder) -> BusFuture<'_, Result<bool, OrderError>> {
        self.agent.first_check(order)
    }

    fn traceroute(&self, order: TracerouteOrder) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        self.agent.traceroute(order)
    }

    fn presence(&self) -> Option<Presence> {
        self.agent.presence()
    }
}

fn revision(process: &Process) -> AssignmentRevision {
    process.bus.presence(HERE).unwrap().assignment_revision
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_location_that_missed_changes_starts_again_from_a_snapshot() {
    let (process, (port, _listener)) = (Process::start().await, listener().await);
    let kept = process.create(port, json!({})).await;
    let elsewhere = process.create(port, json!({"locations": [{"id": 2}]})).await;
    let agent = Arc::clone(&process.agents[0]);
    let connected = ConnectedLocation { location: agent.location().clone(), can_verify: false };
    let connection = Arc::new(LossyPort { agent, loses_batches: AtomicBool::new(true) });
    process.bus.replace(&[HERE], vec![(connected, connection.clone())]);
    let lost = process.create(port, json!({})).await;
    assert_eq!(process.planned().await, 1);
    // The next change finds the gap.
    connection.loses_batches.store(false, Ordering::Relaxed);
    let next = process.create(port, json!({})).await;
    assert_eq!(process.planned().await, 3, "{kept} {lost} {next}, but not {elsewhere}");
    // What the snapshot does not name is not planned any more.
    let stray = Monitor { id: MonitorId(900), ..process.monitors.monitor_cache().get(kept).unwrap() };
    let stray = vec![AssignmentUpdate::Assign(AssignedMonitor::new(stray, None))];
    assert_eq!(process.bus.publish(HERE, stray).await, Ok(Vec::new()));
    assert_eq!(process.planned().await, 4);
    connection.loses_batches.store(true, Ordering::Relaxed);
    assert_eq!(process.bus.publish(HERE, vec![unassign(kept)]).await, Ok(Vec::new()));
    assert_eq!(process.planned().await, 4);
    connection.loses_batches.store(false, Ordering::Relaxed);
    assert_eq!(process.bus.publish(HERE, Vec::new()).await, Ok(Vec::new()));
    assert_eq!(process.planned().await, 3);
    // It checks what it got from the snapshot.
    process.advance(60).await;
    for monitor in [kept, lost, next] {
        assert_eq!(process.results(monitor, 1).await[0].outcome, Outcome::Ok);
    }
    process.end().await;
}

// On one thread, so that the location does not reply while the change is sent.
#[tokio::test]
async fn a_change_whose_caller_gives_up_is_applied_whole() {
    let (process, (port, _listener)) = (Process::start().await, listener().await);
    let id = process.create(port, json!({})).await;
    let before = revision(&process);
    let mut publication = process.bus.publish(HERE, vec![unassign(id)]);
    assert!((&mut publication).now_or_never().is_none(), "it waits for the location");
    drop(publication);
    while revision(&process) == before {
        tokio::task::yield_now().await;
    }
    assert_eq!((process.planned().await, revision(&process)), (0, before.next()));
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_does_not_follow_the_applied_revision_changes_nothing() {
    let (process, (port, _listener)) = (Process::start().await, listener().await);
    let id = process.create(port, json!({})).await;
    let applied = revision(&process);
    for previous_revision in [AssignmentRevision(applied.0 - 1), applied.next()] {
        let (revision, updates) = (previous_revision.next(), vec![unassign(id)]);
        let batch = AssignmentBatch { previous_revision, revision, updates };
        let error = process.agents[0].apply_batch(batch).await.unwrap_err();
        assert_eq!(error, AssignmentError::MissedRevisions { applied, required: previous_revision });
        assert_eq!(process.planned().await, 1);
    }
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_given_up_at_its_deadline() {
    // It accepts no connection, so that the reply to a request never comes.
    let (process, (port, _listener)) = (Process::start().await, listener().await);
    let id = process.create(port, json!({"enabled": false})).await;
    let fields = json!({"url": format!("http://127.0.0.1:{port}/"), "interval": 5, "timeout": 30});
    let Value::Object(fields) = fields else { unreachable!() };
    let document = Arc::new(MonitorDocument::new(MonitorType::Website, fields).unwrap());
    let monitor = Monitor { document, ..process.monitors.monitor_cache().get(id).unwrap() };
    let timeout = Duration::from_secs(7);
    let order = CheckOrder { monitor: AssignedMonitor::new(monitor, None), timeout };
    let reply = tokio::spawn({
        let bus = Arc::clone(&process.bus);
        async move { bus.check(HERE, order).await }
    });
    while process.agents[0].runner().current_stats().await.unwrap().running_checks == 0 {
        tokio::task::yield_now().await;
    }
    process.clock.advance(timeout);
    assert_eq!(reply.await.unwrap().unwrap_err(), OrderError::TimedOut);
    process.agents[0].runner().shutdown(Duration::ZERO).await;
    process.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presence_shows_the_agent_until_it_ends() {
    let (process, (port, _listener)) = (Process::start().await, listener().await);
    process.create(port, json!({})).await;
    let presence = process.bus.presence(HERE).unwrap();
    assert_eq!((presence.location_id, presence.version.as_ref()), (HERE, env!("CARGO_PKG_VERSION")));
    assert_eq!((presence.browser_capacity, presence.is_isolated), (2, false));
    assert_eq!((presence.load.planned_monitors, presence.clock_offset_us), (1, None));
    let first_check = FirstCheckOrder {
        monitor_id: MonitorId(1),
        planned_at: presence.sent_at,
        timeout: Duration::from_secs(1),
    };
    process.agents[0].runner().shutdown(Duration::ZERO).await;
    assert_eq!(process.bus.presence(HERE), None);
    assert_eq!(process.bus.publish(HERE, Vec::new()).await, Err(PublishError::Stopped));
    assert_eq!(process.bus.first_check(HERE, first_check).await, Err(OrderError::Stopped));
    let unknown = LocationId(77);
    assert_eq!(process.bus.presence(unknown), None);
    assert_eq!(process.bus.publish(unknown, Vec::new()).await, Err(PublishError::LocationOffline));
    assert_eq!(process.bus.first_check(unknown, first_check).await, Err(OrderError::LocationOffline));
    process.end().await;
}
