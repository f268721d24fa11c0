//! Sends what waited on disk: the newest result of each monitor first, then the others, throttled, so that they never
//! delay the results of current runs. Then captures.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::outbox_parts::OutboxParts;
use crate::bus::contract::Urgency;
use crate::domain::{CheckId, MonitorId};
use crate::spool::{ReadOrder, SpoolRecord};

/// How often the tasks look for something to send, besides being woken.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Most results that are read and sent at once.
const CHUNK_RESULTS: usize = 256;
/// Most bytes that are read and sent at once.
const CHUNK_BYTES: usize = 512 * 1024;
/// Pause between two chunks, which limits the backlog of one agent to 2,560 results a second.
const CHUNK_PAUSE: Duration = Duration::from_millis(100);
/// No more results are sent while this many are not reported as committed.
const MAX_UNCONFIRMED: usize = 4_096;
/// Most checks whose captures are sent at once.
const CAPTURE_CHECKS: usize = 16;
/// How often results that are delivered are removed from the disk.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// Sends what waits, for ever.
pub(super) async fn send_results(parts: &Arc<OutboxParts>) {
    loop {
        let mut seen_monitors = HashSet::new();
        while send_next_chunk(parts, &mut seen_monitors).await {
            tokio::time::sleep(CHUNK_PAUSE).await;
        }
        // Woken, or after a while, since a chunk may have failed.
        let _ = tokio::time::timeout(LOOK_INTERVAL, parts.wake_backlog.notified()).await;
    }
}

/// Sends the newest results that wait; returns whether more may wait. `seen_monitors` are those whose newest result was
/// sent.
async fn send_next_chunk(parts: &Arc<OutboxParts>, seen_monitors: &mut HashSet<MonitorId>) -> bool {
    let (waiting, unconfirmed) = parts.states.lock().waiting_and_unconfirmed();
    if waiting == 0 || unconfirmed >= MAX_UNCONFIRMED || !parts.transport.is_connected() {
        return false;
    }
    let reading = Arc::clone(parts);
    let records = parts
        .spooled
        .run(move |spool| {
            let states = reading.states.lock();
            let is_waiting = |check_id| states.is_waiting(check_id);
            let records =
                spool.read_results(ReadOrder::NewestFirst, is_waiting, CHUNK_RESULTS, CHUNK_BYTES)?;
            drop(states);
            if records.is_empty() {
                // What waits is not on disk any more: it was dropped, or could not be kept.
                reading.states.lock().retain(|check_id| spool.contains(check_id));
            }
            Ok(records)
        })
        .await;
    let records = match records {
        Ok(records) => records,
        Err(error) => {
            tracing::error!(error = %error, "the spool of the agent cannot be read");
            return false;
        }
    };
    if records.is_empty() {
        return false;
    }
    let is_newest = |record: &SpoolRecord| {
        parts.transport.monitor_of(&record.content).is_some_and(|monitor| seen_monitors.insert(monitor))
    };
    let (newest, older): (Vec<_>, Vec<_>) = records.into_iter().partition(is_newest);
    send(parts, newest, Urgency::Live).await && send(parts, older, Urgency::Backlog).await
}

async fn send(parts: &OutboxParts, records: Vec<SpoolRecord>, urgency: Urgency) -> bool {
    if records.is_empty() {
        return true;
    }
    let check_ids: Vec<CheckId> = records.iter().map(|record| record.check_id).collect();
    let encoded = records.into_iter().map(|record| record.content).collect();
    match parts.transport.send_results(encoded, urgency).await {
        Ok(()) => {
            parts.states.lock().mark_sent(&check_ids, Instant::now());
            true
        }
        Err(error) => {
            tracing::debug!(error = %error, "results that wait were not sent");
            false
        }
    }
}

/// Sends the captures of committed results, for ever.
pub(super) async fn send_captures(parts: &Arc<OutboxParts>) {
    loop {
        let due = if parts.transport.is_connected() {
            parts.states.lock().due_captures(CAPTURE_CHECKS)
        } else {
            Vec::new()
        };
        let mut has_sent = !due.is_empty();
        for check_id in due {
            has_sent &= send_captures_of(parts, check_id).await;
        }
        if !has_sent {
            let _ = tokio::time::timeout(LOOK_INTERVAL, parts.wake_captures.notified()).await;
        }
    }
}

async fn send_captures_of(parts: &Arc<OutboxParts>, check_id: CheckId) -> bool {
    let pieces = match parts.spooled.run(move |spool| spool.read_captures(check_id)).await {
        Ok(pieces) => pieces,
        Err(error) => {
            tracing::error!(error = %error, "captures in the spool of the agent cannot be read");
            return false;
        }
    };
    if pieces.is_empty() {
        parts.states.lock().mark_captures_gone(check_id);
        return true;
    }
    let encoded = pieces.into_iter().map(|piece| piece.content).collect();
    match parts.transport.send_captures(encoded).await {
        Ok(()) => {
            parts.states.lock().mark_captures_sent(check_id, Instant::now());
            true
        }
        Err(error) => {
            tracing::debug!(error = %error, %check_id, "captures were not sent");
            false
        }
    }
}

/// Removes from the disk what was committed long enough ago, for ever.
pub(super) async fn sweep(parts: &Arc<OutboxParts>) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let done = parts.states.lock().take_done(Instant::now());
        if done.is_empty() {
            continue;
        }
        if let Err(error) = parts.spooled.run(move |spool| spool.acknowledge(&done)).await {
            tracing::warn!(error = %error, "delivered results stay in the spool of the agent until the next start");
        }
    }
}
