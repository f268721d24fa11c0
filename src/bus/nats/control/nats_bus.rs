//! The bus to agents on other hosts, as the control plane calls it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::agent_registry::RegisteredAgent;
use super::control_parts::{ControlParts, LocationEntry, RemoteLocation, UPDATES_AT_ONCE};
use super::location_assignments::LocationAssignments;
use super::nats_bus_task::NatsBusTask;
use super::order_client::send_order;
use super::publish_permission::PublishPermission;
use super::timeline::Timeline;
use crate::bus::contract::{
    AssignmentUpdate, BusEventSink, BusFuture, CheckOrder, ConnectedLocation, FirstCheckOrder, LocationBus,
    OrderError, Presence, PublishError, RefusedAssignment, ReportedStateSource, ResultReceiver,
    SnapshotSource, TracerouteOrder,
};
use crate::bus::messages::{
    BusMessage, CheckOrderMessage, FirstCheckOrderMessage, OrderReply, TracerouteOrderMessage,
};
use crate::bus::nats::connection::NatsConnection;
use crate::clock::Clock;
use crate::domain::{AgentId, CapturedFile, CheckResult, LocationId, MonitorId};
use crate::schedule::LocationMembers;
use crate::sync::{Mutex, RwLock};
use crate::telemetry::TaskHeartbeat;

/// How often it is looked whether an agent that has an order is still there.
const SILENCE_LOOK: Duration = Duration::from_secs(1);

/// What the bus works with.
pub struct NatsBusDependencies {
    /// The connection of the control plane.
    pub connection: NatsConnection,
    /// Takes what agents deliver.
    pub receiver: Arc<dyn ResultReceiver>,
    /// Takes what happens.
    pub events: Arc<dyn BusEventSink>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// What changes when the database loses commits.
    pub database_timeline: String,
    /// Whether this process may still tell agents what to check.
    pub may_publish: PublishPermission,
}

/// The bus to agents on other hosts.
#[derive(Clone)]
pub struct NatsBus {
    parts: Arc<ControlParts>,
}

impl NatsBus {
    /// Creates the bus and its task, to be run. The task creates the streams and buckets that are missing.
    #[must_use]
    pub fn new(dependencies: NatsBusDependencies, heartbeat: TaskHeartbeat) -> (Self, NatsBusTask) {
        let NatsBusDependencies { connection, receiver, events, clock, database_timeline, may_publish } =
            dependencies;
        let parts = Arc::new(ControlParts {
            connection,
            receiver,
            may_publish,
            clock,
            registry: Mutex::default(),
            timeline: Timeline::new(database_timeline),
            wake_reconcile: Notify::new(),
            events,
            bucket: RwLock::default(),
            locations: RwLock::default(),
            certificates: RwLock::new(Arc::default()),
            reported_states: RwLock::default(),
            snapshot_source: RwLock::default(),
            compared_updates: Semaphore::new(UPDATES_AT_ONCE as usize),
        });
        let task = NatsBusTask::new(Arc::clone(&parts), heartbeat);
        (Self { parts }, task)
    }

    /// Sets what supplies everything that a location has to check.
    pub fn set_snapshot_source(&self, source: Weak<dyn SnapshotSource>) {
        *self.parts.snapshot_source.write() = Some(source);
        self.parts.wake_reconcile.notify_one();
    }

    /// Sets what knows the reports of hosts, which locations ask for.
    pub fn set_reported_state_source(&self, source: Arc<dyn ReportedStateSource>) {
        *self.parts.reported_states.write() = Some(source);
    }

    /// Sets the locations. What is published for those that stay is kept.
    pub fn set_locations(&self, remotes: Vec<RemoteLocation>) {
        let mut locations = self.parts.locations.write();
        let before = std::mem::take(&mut *locations);
        locations.extend(remotes.into_iter().map(|remote| {
            let location = remote.connected.location.id;
            let assignments = before.get(&location).map_or_else(
                || Arc::new(tokio::sync::Mutex::new(LocationAssignments::new(location))),
                |entry| Arc::clone(&entry.assignments),
            );
            (location, Arc::new(LocationEntry { remote, assignments }))
        }));
        drop(locations);
        self.parts.wake_reconcile.notify_one();
    }

    /// Has what another key sealed for `location` published again.
    pub async fn reseal(&self, location: LocationId) {
        if let Some(entry) = self.parts.location(location) {
            entry.assignments.lock().await.invalidate();
            self.parts.wake_reconcile.notify_one();
        }
    }

    /// Whether `location` has agents on other hosts.
    #[must_use]
    pub fn has_location(&self, location: LocationId) -> bool {
        self.parts.location(location).is_some()
    }

    /// Forgets an agent that was revoked.
    pub fn remove_agent(&self, location: LocationId, agent: AgentId) {
        self.parts.registry.lock().remove(location, agent);
    }

    /// Returns the agents that sent a heartbeat in the last day.
    #[must_use]
    pub fn agents(&self) -> Vec<((LocationId, AgentId), RegisteredAgent)> {
        self.parts.registry.lock().all()
    }

    /// Returns the agents for an order about `monitor`, that which checks it first.
    fn agents_for(&self, location: LocationId, monitor: MonitorId) -> Vec<AgentId> {
        let members = self.parts.registry.lock().ready_members(location);
        LocationMembers { effective_at: self.parts.clock.now(), members }.ranked(monitor)
    }

    /// Waits until two heartbeats of an agent are missing.
    async fn silence_of(&self, agent: (LocationId, AgentId)) {
        while !self.parts.registry.lock().is_silent(agent, Instant::now()) {
            tokio::time::sleep(SILENCE_LOOK).await;
        }
    }

    /// Sends an order about `monitor` to the agent that checks it, or to the next one where that has just gone: its last
    /// heartbeat may be seconds old. NATS does not tell that nobody listens in the account of the agents.
    async fn send_to_agent_of(
        &self,
        (location, monitor): (LocationId, MonitorId),
        order: &impl BusMessage,
        timeout: Duration,
    ) -> Result<OrderReply, OrderError> {
        for agent in self.agents_for(location, monitor) {
            let reply = tokio::select! {
                reply = send_order(&self.parts.connection, (location, agent), order, timeout) => reply,
                () = self.silence_of((location, agent)) => continue,
            };
            match reply {
                Err(OrderError::LocationOffline | OrderError::Stopped) => {}
                reply => return reply,
            }
        }
        Err(OrderError::LocationOffline)
    }

    /// Whether an agent of `location` that is online still has to send results.
    #[must_use]
    pub fn has_backlog(&self, location: LocationId) -> bool {
        let registry = self.parts.registry.lock();
        registry.online(location).any(|(_, agent)| agent.presence.spool.waiting_results > 0)
    }
}

impl LocationBus for NatsBus {
    fn locations(&self) -> Arc<[ConnectedLocation]> {
        self.parts.locations.read().values().map(|entry| entry.remote.connected.clone()).collect()
    }

    fn publish(
        &self,
        location: LocationId,
        updates: Vec<AssignmentUpdate>,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, PublishError>> {
        Box::pin(self.parts.publish(location, updates))
    }

    fn check(
        &self,
        location: LocationId,
        order: CheckOrder,
    ) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        Box::pin(async move {
            let monitor = order.monitor.monitor.id;
            let entry = self.parts.location(location).ok_or(OrderError::LocationOffline)?;
            let message = CheckOrderMessage::from_order(&order, entry.remote.sealer.as_ref());
            match self.send_to_agent_of((location, monitor), &message, order.timeout).await? {
                OrderReply::Result(result) => Ok(*result),
                _ => Err(OrderError::TimedOut),
            }
        })
    }

    fn first_check(
        &self,
        location: LocationId,
        order: FirstCheckOrder,
    ) -> BusFuture<'_, Result<bool, OrderError>> {
        Box::pin(async move {
            let message = FirstCheckOrderMessage {
                assignment_revision: self.parts.published_revision(location).await?,
                ..FirstCheckOrderMessage::from_order(&order)
            };
            match self.send_to_agent_of((location, order.monitor_id), &message, order.timeout).await? {
                OrderReply::FirstCheck(will_start) => Ok(will_start),
                _ => Err(OrderError::TimedOut),
            }
        })
    }

    fn traceroute(
        &self,
        location: LocationId,
        order: TracerouteOrder,
    ) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        Box::pin(async move {
            let monitor = order.monitor.monitor.id;
            let entry = self.parts.location(location).ok_or(OrderError::LocationOffline)?;
            let message = TracerouteOrderMessage::from_order(&order, entry.remote.sealer.as_ref());
            match self.send_to_agent_of((location, monitor), &message, order.timeout).await? {
                OrderReply::File(file) => Ok(file),
                _ => Err(OrderError::TimedOut),
            }
        })
    }

    /// Returns the heartbeat of the agent that was online longest; of a location, it matters whether there is one.
    fn presence(&self, location: LocationId) -> Option<Presence> {
        let registry = self.parts.registry.lock();
        let mut online = registry.online(location).map(|(_, agent)| &agent.presence);
        let first = online.next()?.clone();
        // It is isolated only when all of its agents are.
        let is_isolated = first.is_isolated && online.all(|presence| presence.is_isolated);
        Some(Presence { is_isolated, ..first })
    }
}
