//! The agent as the bus calls it, with what only an agent on another host tells about itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::sync::watch;

use crate::agent::{LocationAgent, ResultOutbox};
use crate::bus::contract::{
    AgentNetwork, AssignmentBatch, AssignmentError, AssignmentSnapshot, BusFuture, CheckOrder,
    FirstCheckOrder, LocationPort, OrderError, Presence, RefusedAssignment, TracerouteOrder,
};
use crate::clock::Clock;
use crate::domain::{AgentId, CapturedFile, CheckResult};
use crate::telemetry::Metrics;

/// No offset was measured yet.
const NOT_MEASURED: i64 = i64::MIN;

/// What an agent on another host has besides its location.
pub(super) struct AgentPortParts {
    pub(super) agent_id: AgentId,
    pub(super) agent: Arc<LocationAgent>,
    pub(super) outbox: Arc<ResultOutbox>,
    pub(super) host_clock: Arc<dyn Clock>,
    /// Its share of the monitors compared with the other agents.
    pub(super) weight: u32,
    pub(super) metrics: Arc<Metrics>,
    pub(super) network: Arc<AgentNetwork>,
}

/// The agent with its outbox.
pub(super) struct AgentPort {
    pub(super) parts: AgentPortParts,
    /// Whether it is shutting down.
    is_draining: watch::Sender<bool>,
    clock_offset_us: AtomicI64,
}

impl AgentPort {
    pub(super) fn new(parts: AgentPortParts) -> Self {
        let (is_draining, clock_offset_us) = (watch::Sender::new(false), AtomicI64::new(NOT_MEASURED));
        Self { parts, is_draining, clock_offset_us }
    }

    /// Tells the control plane that the agent is shutting down.
    pub(super) fn begin_drain(&self) {
        self.is_draining.send_replace(true);
    }

    pub(super) fn set_clock_offset(&self, offset_us: i64) {
        self.clock_offset_us.store(offset_us, Ordering::Relaxed);
    }
}

type Applied<'a> = BusFuture<'a, Result<Vec<RefusedAssignment>, AssignmentError>>;

impl LocationPort for AgentPort {
    fn apply_snapshot(&self, snapshot: AssignmentSnapshot) -> Applied<'_> {
        self.parts.agent.apply_snapshot(snapshot)
    }

    fn apply_batch(&self, batch: AssignmentBatch) -> Applied<'_> {
        self.parts.agent.apply_batch(batch)
    }

    fn check(&self, order: CheckOrder) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        self.parts.agent.check(order)
    }

    fn first_check(&self, order: FirstCheckOrder) -> BusFuture<'_, Result<bool, OrderError>> {
        self.parts.agent.first_check(order)
    }

    fn traceroute(&self, order: TracerouteOrder) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        self.parts.agent.traceroute(order)
    }

    fn presence(&self) -> Option<Presence> {
        let AgentPortParts { agent_id, agent, outbox, host_clock, weight, metrics, network } = &self.parts;
        let offset_us = self.clock_offset_us.load(Ordering::Relaxed);
        Some(Presence {
            agent_id: Some(*agent_id),
            sent_at: host_clock.now(),
            clock_offset_us: (offset_us != NOT_MEASURED).then_some(offset_us),
            is_draining: *self.is_draining.borrow(),
            weight: *weight,
            lateness: metrics.take_max_lateness(),
            spool: outbox.spool_load(),
            network: Arc::clone(network),
            ..agent.presence()?
        })
    }

    fn presence_changed(&self) -> BusFuture<'_, ()> {
        let mut is_draining = self.is_draining.subscribe();
        Box::pin(async move {
            // The sender lives as long as `self`.
            let _ = is_draining.changed().await;
        })
    }
}
