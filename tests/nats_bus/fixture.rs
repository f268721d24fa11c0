//! A control plane and agents on one NATS server; what the agents apply and the control plane receives is recorded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use vigie::agent::{OutboxDependencies, ResultOutbox};
use vigie::bus::contract::{
    AgentLoad, AppliedPosition, AssignedMonitor, AssignmentBatch, AssignmentError, AssignmentRevision,
    AssignmentSnapshot, AssignmentStorage, AssignmentUpdate, BusEvent, BusEventKind, BusEventSink, BusFuture,
    CheckOrder, ConnectedLocation, FirstCheckOrder, LocationPort, OrderError, Presence, RefusedAssignment,
    ResultCaptures, ResultReceiver, ResultSink, SnapshotSource, SpoolLoad, TracerouteOrder,
};
use vigie::bus::nats::{
    AgentBus, AgentBusDependencies, AgentIdentity, NatsBus, NatsBusDependencies, NatsConnection,
    NatsResultTransport, RegisteredAgent, RemoteLocation,
};
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{
    AgentId, CapturedFile, CheckMetadata, CheckResult, CustomerId, Location, LocationId, MonitorId,
    MonitorType, Outcome, Revision, Status, Timestamp, Verdict,
};
use vigie::schedule::LocationMembers;
use vigie::schema::{Monitor, MonitorDocument, Origin};
use vigie::spool::{Spool, SpoolSettings};
use vigie::telemetry::{SupervisedTask, TaskHeartbeat, TaskName};

use crate::bus::samples::NumberedSealer;
use crate::support::nats::NatsServer;

pub const LOCATION: LocationId = LocationId(5);

/// Waits until `is_true`, at most 30 s.
pub async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_true() {
        assert!(Instant::now() < end, "not within 30 s: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What the control plane has to say and receives.
#[derive(Default)]
pub struct ControlPlane {
    /// What the locations have to check.
    pub wanted: Mutex<Vec<AssignmentUpdate>>,
    pub results: Mutex<BTreeMap<u64, CheckResult>>,
    /// The monitor and the planned time of each result, as they came.
    pub arrivals: Mutex<Vec<(i64, Timestamp)>>,
    pub captures: Mutex<Vec<ResultCaptures>>,
    pub events: Mutex<Vec<BusEvent>>,
    /// Whether nothing that arrives is committed.
    pub hangs_in_commits: AtomicBool,
}

impl ControlPlane {
    pub fn event_names(&self) -> Vec<&'static str> {
        self.events.lock().unwrap().iter().map(|event| event.kind.name()).collect()
    }

    /// Returns why messages were refused.
    pub fn refusals(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let reasons = events.iter().filter_map(|event| match &event.kind {
            BusEventKind::Refused(reason) => Some(reason.clone()),
            _ => None,
        });
        reasons.collect()
    }
}

impl SnapshotSource for ControlPlane {
    fn snapshot(&self, _: LocationId) -> BusFuture<'_, Vec<AssignmentUpdate>> {
        let wanted = self.wanted.lock().unwrap().clone();
        Box::pin(std::future::ready(wanted))
    }
}

impl ResultSink for ControlPlane {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        self.arrivals.lock().unwrap().push((result.monitor_id.0, result.planned_at));
        self.results.lock().unwrap().insert(result.check_id.0, result);
        Box::pin(std::future::ready(()))
    }
}

impl ResultReceiver for ControlPlane {
    fn deliver_captures(&self, captures: ResultCaptures) -> BusFuture<'_, ()> {
        self.captures.lock().unwrap().push(captures);
        Box::pin(std::future::ready(()))
    }

    fn wait_until_committed(&self) -> BusFuture<'_, ()> {
        if self.hangs_in_commits.load(Ordering::Relaxed) {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(()))
    }
}

impl BusEventSink for ControlPlane {
    fn record(&self, event: BusEvent) {
        self.events.lock().unwrap().push(event);
    }
}

/// The bus of a control plane, until it is dropped.
pub struct Control {
    pub bus: NatsBus,
    pub plane: Arc<ControlPlane>,
    task: JoinHandle<()>,
}

impl Control {
    pub async fn start(server: &NatsServer, plane: Arc<ControlPlane>) -> Self {
        let connection = connect(server).await;
        let dependencies = NatsBusDependencies {
            connection,
            receiver: plane.clone(),
            events: plane.clone(),
            clock: Arc::new(SystemClock),
            database_timeline: "first".to_owned(),
            may_publish: Arc::new(|| true),
        };
        let heartbeat = TaskHeartbeat::unwatched(TaskName::Bus);
        let (bus, mut task) = NatsBus::new(dependencies, heartbeat);
        let source: Arc<dyn SnapshotSource> = plane.clone();
        bus.set_snapshot_source(Arc::downgrade(&source));
        bus.set_locations(vec![location(LOCATION, 1)]);
        let task = tokio::spawn(async move { task.run().await });
        Self { bus, plane, task }
    }

    pub fn agent(&self, agent: i64) -> Option<RegisteredAgent> {
        let agents = self.bus.agents();
        agents.into_iter().find(|((_, id), _)| *id == AgentId(agent)).map(|(_, agent)| agent)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns a location whose assignments the key with this number seals.
pub fn location(id: LocationId, key: u8) -> RemoteLocation {
    let location = Location { id, name: format!("location {id}"), region_code: 0 };
    RemoteLocation {
        connected: ConnectedLocation { location, can_verify: false },
        sealer: Arc::new(NumberedSealer(key)),
    }
}

pub async fn connect(server: &NatsServer) -> NatsConnection {
    let options = async_nats::ConnectOptions::new();
    NatsConnection::open(&[server.url()], options).await.unwrap()
}

/// What an agent applied, in place of its runner.
#[derive(Default)]
pub struct AppliedAssignments {
    pub identity: Mutex<Option<AgentIdentity>>,
    pub monitors: Mutex<BTreeMap<i64, AssignedMonitor>>,
    /// The monitors in the order in which they were assigned.
    pub assigned: Mutex<Vec<i64>>,
    pub members: Mutex<Vec<LocationMembers>>,
    pub snapshots: Mutex<usize>,
    pub revision: Mutex<u64>,
    pub is_draining: Mutex<bool>,
    pub clock_offset_us: Mutex<i64>,
    /// How long changes take.
    pub delay: Mutex<Duration>,
    pub journal: Mutex<Vec<String>>,
}

impl AppliedAssignments {
    pub fn monitor_ids(&self) -> Vec<i64> {
        self.monitors.lock().unwrap().keys().copied().collect()
    }

    fn apply(&self, updates: Vec<AssignmentUpdate>) {
        for update in updates {
            match update {
                AssignmentUpdate::Assign(assigned) => {
                    self.assigned.lock().unwrap().push(assigned.monitor.id.0);
                    self.monitors.lock().unwrap().insert(assigned.monitor.id.0, assigned);
                }
                AssignmentUpdate::Unassign { monitor_id, .. } => {
                    self.monitors.lock().unwrap().remove(&monitor_id.0);
                }
                AssignmentUpdate::SetMembers(members) => self.members.lock().unwrap().push(members),
                AssignmentUpdate::SetAccount(_) | AssignmentUpdate::SetCertificates(_) => {}
            }
        }
    }
}

type Applied = Result<Vec<RefusedAssignment>, AssignmentError>;

impl LocationPort for AppliedAssignments {
    fn apply_snapshot(&self, snapshot: AssignmentSnapshot) -> BusFuture<'_, Applied> {
        self.monitors.lock().unwrap().clear();
        self.apply(snapshot.updates);
        *self.snapshots.lock().unwrap() += 1;
        *self.revision.lock().unwrap() = snapshot.revision.0;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn apply_batch(&self, batch: AssignmentBatch) -> BusFuture<'_, Applied> {
        let applied = AssignmentRevision(*self.revision.lock().unwrap());
        if applied != batch.previous_revision {
            let error = AssignmentError::MissedRevisions { applied, required: batch.previous_revision };
            return Box::pin(std::future::ready(Err(error)));
        }
        Box::pin(async move {
            let delay = *self.delay.lock().unwrap();
            tokio::time::sleep(delay).await;
            self.apply(batch.updates);
            *self.revision.lock().unwrap() = batch.revision.0;
            Ok(Vec::new())
        })
    }

    fn check(&self, order: CheckOrder) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        let monitor = order.monitor.monitor;
        Box::pin(std::future::ready(Ok(result(monitor.id.0, monitor.revision.0, 1))))
    }

    fn first_check(&self, order: FirstCheckOrder) -> BusFuture<'_, Result<bool, OrderError>> {
        let is_planned = self.monitors.lock().unwrap().contains_key(&order.monitor_id.0);
        Box::pin(std::future::ready(Ok(is_planned)))
    }

    fn traceroute(&self, _: TracerouteOrder) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        Box::pin(std::future::ready(Err(OrderError::NoTarget)))
    }

    fn presence(&self) -> Option<Presence> {
        let AgentIdentity { location_id, agent_id } = (*self.identity.lock().unwrap())?;
        let revision = *self.revision.lock().unwrap();
        Some(Presence {
            location_id,
            agent_id: Some(agent_id),
            version: "1.0.0".into(),
            sent_at: SystemClock.now(),
            clock_offset_us: Some(*self.clock_offset_us.lock().unwrap()),
            load: AgentLoad::default(),
            browser_capacity: 1,
            is_isolated: false,
            assignment_revision: AssignmentRevision(revision),
            is_draining: *self.is_draining.lock().unwrap(),
            weight: 1,
            lateness: Duration::ZERO,
            spool: SpoolLoad::default(),
            network: Arc::default(),
        })
    }
}

impl AssignmentStorage for AppliedAssignments {
    fn replace(&self, position: &AppliedPosition, snapshot: Vec<u8>) {
        let line = format!("snapshot of {} at {}", snapshot.len().min(1), position.revision);
        self.journal.lock().unwrap().push(line);
    }

    fn restart(&self, position: &AppliedPosition, messages: Vec<Vec<u8>>) {
        let line = format!("{} up to {}", messages.len(), position.revision);
        self.journal.lock().unwrap().push(line);
    }

    fn append(&self, revision: u64, messages: Vec<Vec<u8>>) {
        self.journal.lock().unwrap().push(format!("{} to {revision}", messages.len()));
    }
}

/// An agent, until it is dropped.
pub struct Agent {
    pub applied: Arc<AppliedAssignments>,
    pub outbox: Arc<ResultOutbox>,
    tasks: Vec<JoinHandle<()>>,
    pub folder: Arc<tempfile::TempDir>,
}

impl Agent {
    pub async fn start(server: &NatsServer, agent: i64) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::start_in(server, agent, folder).await
    }

    /// Starts an agent with the spool in `folder`.
    pub async fn start_in(server: &NatsServer, agent: i64, folder: Arc<tempfile::TempDir>) -> Self {
        let connection = connect(server).await;
        let identity = AgentIdentity { location_id: LOCATION, agent_id: AgentId(agent) };
        let applied = Arc::new(AppliedAssignments::default());
        *applied.identity.lock().unwrap() = Some(identity);
        let mut spool = Spool::open(folder.path(), SpoolSettings::default());
        let end = Instant::now() + Duration::from_secs(10);
        // A write of the agent before may still go on in its thread.
        while spool.is_err() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
            spool = Spool::open(folder.path(), SpoolSettings::default());
        }
        let spool = spool.unwrap();
        let (outbox, mut outbox_tasks) = ResultOutbox::new(OutboxDependencies {
            spool,
            transport: Arc::new(NatsResultTransport::new(connection.clone(), identity)),
            clock: Arc::new(SystemClock),
            heartbeat: TaskHeartbeat::unwatched(TaskName::Outbox),
        });
        let mut bus = AgentBus::new(AgentBusDependencies {
            connection,
            identity,
            port: applied.clone(),
            reports: outbox.clone(),
            sealer: Arc::new(NumberedSealer(1)),
            assignment_storage: applied.clone(),
            applied: AppliedPosition::default(),
            host_clock: Arc::new(SystemClock),
            on_clock_offset: Box::new(|_| {}),
            heartbeat: TaskHeartbeat::unwatched(TaskName::Bus),
        });
        let tasks = vec![
            tokio::spawn(async move { outbox_tasks.run().await }),
            tokio::spawn(async move { bus.run().await }),
        ];
        Self { applied, outbox, tasks, folder }
    }
}

impl Agent {
    /// Ends it at once, and returns the folder of its spool.
    pub async fn stop(mut self) -> Arc<tempfile::TempDir> {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            let _ = task.await;
        }
        Arc::clone(&self.folder)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

pub fn assign(id: i64, revision: i64) -> AssignmentUpdate {
    let fields =
        json!({"hostname": "192.0.2.1", "port": 443, "interval": 1, "name": format!("monitor {id}")});
    let Value::Object(fields) = fields else { unreachable!() };
    let monitor = Monitor {
        id: MonitorId(id),
        customer: CustomerId(12),
        origin: Origin::Api,
        revision: Revision(revision),
        modified_at: Timestamp::from_seconds(1_800_000_000 + revision),
        document: Arc::new(MonitorDocument::new(MonitorType::Tcp, fields).unwrap()),
        metadata: Arc::default(),
    };
    AssignmentUpdate::Assign(AssignedMonitor::new(monitor, Some(14)))
}

/// Returns a passed check of a monitor in its minute `minute`.
pub fn result(monitor: i64, revision: i64, minute: i64) -> CheckResult {
    let metadata = CheckMetadata {
        monitor_id: MonitorId(monitor),
        monitor_name: "monitor".into(),
        revision: Revision(revision),
        monitor_type: MonitorType::Tcp,
        location_id: LOCATION,
    };
    let verdict =
        Verdict { outcome: Outcome::Ok, status: Status::OK, warning_status: None, reasons: Vec::new() };
    let planned_at = Timestamp::from_seconds(1_800_000_000 + 60 * minute);
    CheckResult::without_attempts(metadata, planned_at, planned_at, verdict)
}
