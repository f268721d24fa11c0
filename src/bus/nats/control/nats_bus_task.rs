//! The work of the bus in the background.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;

use super::assignment_bucket::AssignmentBucket;
use super::control_parts::{ControlParts, LocationEntry};
use super::streams::Inbound;
use super::{capture_consumer, requests, result_consumer, streams};
use crate::bus::contract::BusEvent;
use crate::bus::messages::{BusMessage, ControllerStatusMessage};
use crate::bus::nats::connection::NatsError;
use crate::bus::nats::repeat::repeat;
use crate::bus::nats::subjects;
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// How often agents are looked at, and members are decided.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Locations that are compared with what is published at the same time.
const LOCATIONS_AT_ONCE: usize = 64;
/// How often the control plane tells agents about itself.
const STATUS_INTERVAL: Duration = Duration::from_secs(5);
/// What is logged when a part of the bus fails.
const PROBLEM: &str = "the bus cannot be used";
/// After a start, the members stay as they are for so long: the agents that are alive send heartbeats by then.
const SETTLE_TIME: Duration = Duration::from_secs(16);

/// Takes what agents send, tells them what to check, and decides which of them share the monitors.
pub struct NatsBusTask {
    parts: Arc<ControlParts>,
    heartbeat: TaskHeartbeat,
}

impl NatsBusTask {
    pub(super) fn new(parts: Arc<ControlParts>, heartbeat: TaskHeartbeat) -> Self {
        Self { parts, heartbeat }
    }
}

impl SupervisedTask for NatsBusTask {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        let (parts, heartbeat) = (&self.parts, &self.heartbeat);
        Box::pin(async move {
            tokio::join!(
                repeat("results", PROBLEM, || result_consumer::run(parts, Inbound::Results)),
                repeat("backlog", PROBLEM, || result_consumer::run(parts, Inbound::Backlog)),
                repeat("captures", PROBLEM, || capture_consumer::run(parts)),
                repeat("requests", PROBLEM, || requests::run(parts)),
                repeat("assignments", PROBLEM, || reconcile_locations(parts)),
                look_at_agents(parts, heartbeat),
                send_status(parts),
            );
        })
    }
}

/// Publishes what was not published, whenever it is woken.
async fn reconcile_locations(parts: &Arc<ControlParts>) -> Result<(), NatsError> {
    loop {
        renew_bucket(parts).await?;
        // Each waits for a dozen replies of NATS, one after another.
        let locations = futures::stream::iter(parts.locations().into_iter().map(Ok));
        let reconcile = |entry: Arc<LocationEntry>| async move { reconcile_location(parts, &entry).await };
        locations.try_for_each_concurrent(LOCATIONS_AT_ONCE, reconcile).await?;
        // Besides being woken, since the stream may have been lost.
        let _ = tokio::time::timeout(STATUS_INTERVAL, parts.wake_reconcile.notified()).await;
    }
}

/// Publishes what was not published for a location, and a new snapshot when much has changed.
async fn reconcile_location(parts: &Arc<ControlParts>, entry: &LocationEntry) -> Result<(), NatsError> {
    let mut assignments = entry.assignments.lock().await;
    parts.reconcile_if_needed(entry, &mut assignments).await?;
    if assignments.needs_snapshot() {
        let wanted = parts.wanted(entry.id()).await?;
        let (bucket, certificates) = (parts.bucket()?, parts.certificates());
        let cx = parts.publish_context(entry, &bucket, &certificates);
        assignments.make_snapshot(&cx, wanted).await?;
    }
    Ok(())
}

/// Opens the bucket of assignments again when its stream was lost; then everything is published again.
async fn renew_bucket(parts: &Arc<ControlParts>) -> Result<(), NatsError> {
    let bucket = streams::open_assignments(&parts.connection).await?;
    let bucket = AssignmentBucket::new(parts.connection.clone(), bucket, Arc::clone(&parts.may_publish));
    if parts.replaces_bucket(&bucket) {
        tracing::warn!("NATS has lost the assignments; they are published again");
        // Before an agent hears of the new stream: it would take it for empty.
        for entry in parts.locations() {
            entry.assignments.lock().await.invalidate();
        }
    }
    parts.set_bucket(bucket);
    Ok(())
}

/// Finds agents that went offline, and decides which agents share the monitors of each location.
async fn look_at_agents(parts: &Arc<ControlParts>, heartbeat: &TaskHeartbeat) {
    let started = tokio::time::Instant::now();
    loop {
        heartbeat.mark_idle_for(LOOK_INTERVAL);
        tokio::time::sleep(LOOK_INTERVAL).await;
        let now = tokio::time::Instant::now();
        let offline = parts.registry.lock().expire(now);
        for BusEvent { location_id, agent_id, kind } in offline {
            parts.record_event((location_id, agent_id), kind);
        }
        for entry in parts.locations() {
            // A busy location is looked at again in a second.
            let Ok(mut assignments) = entry.assignments.try_lock() else { continue };
            let may_remove = now.duration_since(started) >= SETTLE_TIME;
            if let Err(error) = update_members(parts, &entry, &mut assignments, may_remove).await {
                tracing::debug!(error = %error, location_id = entry.id().0, "the members of a location were not published");
                parts.wake_reconcile.notify_one();
            }
        }
    }
}

/// Publishes the members of a location when they changed. Before `may_remove`, only additions count.
async fn update_members(
    parts: &Arc<ControlParts>,
    entry: &LocationEntry,
    assignments: &mut super::location_assignments::LocationAssignments,
    may_remove: bool,
) -> Result<(), NatsError> {
    if !assignments.is_reconciled() || !parts.connection.is_connected() {
        return Ok(());
    }
    let current = assignments.members().cloned();
    let changed = parts.registry.lock().changed_members(entry.id(), current.as_ref(), parts.clock.now());
    let Some(changed) = changed else { return Ok(()) };
    let is_removal = current.is_some_and(|current| {
        current.members.iter().any(|old| changed.members.iter().all(|new| new.agent_id != old.agent_id))
    });
    if is_removal && !may_remove {
        return Ok(());
    }
    tracing::info!(
        location_id = entry.id().0,
        agents = changed.members.len(),
        "the agents of a location changed; they share its monitors anew"
    );
    let (bucket, certificates) = (parts.bucket()?, parts.certificates());
    let cx = parts.publish_context(entry, &bucket, &certificates);
    assignments.set_members(&cx, changed).await
}

/// Tells agents that the control plane is alive, and whether it has taken everything.
async fn send_status(parts: &Arc<ControlParts>) {
    let mut skipping = [false; 3];
    loop {
        tokio::time::sleep(STATUS_INTERVAL).await;
        let Some(timeline) = parts.timeline.text() else { continue };
        let is_caught_up = is_caught_up(parts, &mut skipping).await;
        let sent_at_us = parts.clock.now().as_micros();
        let status = ControllerStatusMessage { timeline, is_caught_up, sent_at_us };
        let Ok(bytes) = status.to_bytes() else { continue };
        for entry in parts.locations() {
            let subject = subjects::location(entry.id());
            // The next one follows in a few seconds.
            let _ = parts.connection.client().publish(subject, bytes.clone().into()).await;
        }
    }
}

/// Whether nothing that agents delivered waits in the bus. `skipping` holds whether the consumer of each stream passed over
/// messages at the last look: once may be an acknowledgement on its way.
async fn is_caught_up(parts: &Arc<ControlParts>, skipping: &mut [bool; 3]) -> bool {
    let inbounds = [Inbound::Results, Inbound::Backlog, Inbound::Captures];
    for (inbound, was_skipping) in inbounds.into_iter().zip(skipping) {
        let Ok(open) = inbound.open(&parts.connection).await else { return false };
        // What reads the stream goes on with a new one of the same name, without noticing.
        parts.timeline.set_stream(inbound, open.created);
        if std::mem::replace(was_skipping, open.skips_messages) && open.skips_messages {
            tracing::warn!("NATS has lost the end of a stream of results or captures; it is read again");
            *was_skipping = false;
            // What reads it opens it again; a failure is repeated by the next look.
            let _ = inbound.delete_consumer(&parts.connection).await;
            return false;
        }
        let info = open.consumer.cached_info();
        if info.num_pending > 0 || info.num_ack_pending > 0 {
            return false;
        }
    }
    true
}
