//! The bus, as an agent on another host uses it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::watch;

use super::agent_parts::{AgentIdentity, AgentParts};
use super::{assignment_follower, clock_offset, order_responder, reports};
use crate::bus::contract::{AppliedPosition, AssignmentStorage, DeliveryReports, LocationPort};
use crate::bus::messages::{BusMessage, PresenceMessage, Sealer};
use crate::bus::nats::connection::NatsConnection;
use crate::bus::nats::repeat::{RETRY_PAUSE, repeat};
use crate::bus::nats::subjects::AgentSubject;
use crate::clock::Clock;
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// How often the agent tells how it is.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
/// How often the offset of the clock is measured.
const CLOCK_INTERVAL: Duration = Duration::from_secs(30);
/// What is logged when a part of the bus fails.
const PROBLEM: &str = "the control plane cannot be reached";

/// What the bus of an agent works with.
pub struct AgentBusDependencies {
    /// The connection of the agent.
    pub connection: NatsConnection,
    /// Who it is.
    pub identity: AgentIdentity,
    /// Applies assignments and obeys orders.
    pub port: Arc<dyn LocationPort>,
    /// Takes reports about what was delivered.
    pub reports: Arc<dyn DeliveryReports>,
    /// Opens secrets.
    pub sealer: Arc<dyn Sealer>,
    /// Keeps the assignments.
    pub assignment_storage: Arc<dyn AssignmentStorage>,
    /// What the port has applied already.
    pub applied: AppliedPosition,
    /// The clock of the host, whose offset is measured.
    pub host_clock: Arc<dyn Clock>,
    /// Takes each measured offset: by how many microseconds the control plane is ahead.
    pub on_clock_offset: Box<dyn Fn(i64) + Send + Sync>,
    /// Of the task.
    pub heartbeat: TaskHeartbeat,
}

/// Follows the assignments, obeys orders, and tells how the agent is. Goes on by itself after every loss of the
/// connection.
pub struct AgentBus {
    parts: Arc<AgentParts>,
    heartbeat: TaskHeartbeat,
}

impl AgentBus {
    /// Creates the bus, to be run.
    #[must_use]
    pub fn new(dependencies: AgentBusDependencies) -> Self {
        let AgentBusDependencies {
            connection,
            identity,
            port,
            reports,
            sealer,
            assignment_storage,
            applied,
            host_clock,
            on_clock_offset,
            heartbeat,
        } = dependencies;
        let parts = AgentParts {
            connection,
            identity,
            port,
            reports,
            sealer,
            assignment_storage,
            position: watch::Sender::new(applied),
            damaged_snapshot: AtomicU64::new(0),
            host_clock,
            on_clock_offset,
        };
        Self { parts: Arc::new(parts), heartbeat }
    }
}

impl SupervisedTask for AgentBus {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        let (parts, heartbeat) = (&self.parts, &self.heartbeat);
        Box::pin(async move {
            tokio::join!(
                repeat("assignments", PROBLEM, || assignment_follower::run(parts)),
                repeat("orders", PROBLEM, || order_responder::run(parts)),
                repeat("reports", PROBLEM, || reports::run(parts)),
                send_heartbeats(parts, heartbeat),
                measure_clock(parts),
            );
        })
    }
}

async fn send_heartbeats(parts: &AgentParts, heartbeat: &TaskHeartbeat) {
    let subject = AgentSubject::Presence.of(parts.identity.location_id, parts.identity.agent_id);
    loop {
        heartbeat.mark_idle_for(HEARTBEAT_INTERVAL);
        // One that waits for a connection would come late, and then say something old.
        if parts.connection.is_connected()
            && let Some(presence) = parts.port.presence()
            && let Ok(bytes) = PresenceMessage::from_presence(&presence).to_bytes()
            && let Err(error) = parts.connection.client().publish(subject.clone(), bytes.into()).await
        {
            tracing::debug!(error = %error, "a heartbeat was not sent");
        }
        tokio::select! {
            () = tokio::time::sleep(HEARTBEAT_INTERVAL) => {}
            () = parts.port.presence_changed() => {}
        }
    }
}

async fn measure_clock(parts: &AgentParts) {
    loop {
        let measured =
            clock_offset::measure_clock_offset(&parts.connection, parts.identity, parts.host_clock.as_ref())
                .await;
        if let Some(offset_us) = measured {
            (parts.on_clock_offset)(offset_us);
        }
        let pause = if measured.is_some() { CLOCK_INTERVAL } else { RETRY_PAUSE };
        tokio::time::sleep(pause).await;
    }
}
