//! Takes results from the runner, keeps them on disk, and sends them at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::delivery_state::Progress;
use super::outbox_parts::OutboxParts;
use crate::bus::contract::Urgency;
use crate::domain::{CheckId, CheckResult};
use crate::spool::SpoolRecord;
use crate::telemetry::panic_message;

/// Most results of one message and one write.
const MAX_BATCH: usize = 256;
/// Time from the start of one write to that of the next, unless a whole batch waits: a write waits for the disk and a
/// message for its acknowledgement, whether they have one result or a hundred. A result that comes alone goes at once.
const FLUSH_INTERVAL: Duration = Duration::from_millis(20);
/// Longest that the first attempt to send results may hold up the next ones.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after an attempt that could neither keep nor send results.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Results in the forms of the spool and of the bus.
struct EncodedBatch {
    check_ids: Vec<CheckId>,
    results: Vec<SpoolRecord>,
    captures: Vec<SpoolRecord>,
}

/// Takes results until the sender is closed.
///
/// `taken` holds the results that were taken and are not kept yet, so that none is lost when this panics and runs again.
pub(super) async fn run(
    parts: &Arc<OutboxParts>,
    receiver: &mut mpsc::Receiver<CheckResult>,
    taken: &mut Vec<CheckResult>,
) {
    let mut next_flush_at = Instant::now();
    while !taken.is_empty() || receiver.recv_many(taken, MAX_BATCH).await > 0 {
        fill_until(next_flush_at, receiver, taken).await;
        next_flush_at = Instant::now() + FLUSH_INTERVAL;
        deliver(parts, encode(parts, taken)).await;
        taken.clear();
    }
}

/// Takes further results until `end`, until a whole batch was taken, or until the sender is closed.
async fn fill_until(end: Instant, receiver: &mut mpsc::Receiver<CheckResult>, taken: &mut Vec<CheckResult>) {
    while taken.len() < MAX_BATCH {
        let missing = MAX_BATCH - taken.len();
        match tokio::time::timeout_at(end, receiver.recv_many(taken, missing)).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

fn encode(parts: &OutboxParts, results: &[CheckResult]) -> EncodedBatch {
    let mut batch = EncodedBatch { check_ids: Vec::new(), results: Vec::new(), captures: Vec::new() };
    for result in results {
        let check_id = result.check_id;
        match encode_result(parts, result) {
            Ok(content) => batch.results.push(SpoolRecord { check_id, content }),
            Err(error) => {
                tracing::error!(%check_id, error, "result lost: it cannot be encoded for the bus");
                continue;
            }
        }
        batch.check_ids.push(check_id);
        let pieces = parts.transport.encode_captures(result).into_iter();
        batch.captures.extend(pieces.map(|content| SpoolRecord { check_id, content }));
    }
    batch
}

/// Encodes a result. One at which that panics would hold up all others for ever.
fn encode_result(parts: &OutboxParts, result: &CheckResult) -> Result<Vec<u8>, String> {
    let encode = || parts.transport.encode_result(result);
    catch_unwind(AssertUnwindSafe(encode))
        .unwrap_or_else(|payload| Err(format!("encoding it panicked: {}", panic_message(payload.as_ref()))))
}

/// Keeps and sends a batch. Goes on until it did one of both: until then, the runner records missed runs.
async fn deliver(parts: &Arc<OutboxParts>, batch: EncodedBatch) {
    let EncodedBatch { check_ids, results, captures } = batch;
    if check_ids.is_empty() {
        return;
    }
    let (results, captures) = (Arc::new(results), Arc::new(captures));
    let mut is_first = true;
    loop {
        let now = parts.clock.now();
        let (spool_results, spool_captures) = (Arc::clone(&results), Arc::clone(&captures));
        let outbox = Arc::clone(parts);
        let keep = parts.spooled.run(move |spool| {
            // What the control plane has goes before the spool drops what it may not have.
            if spool.is_nearly_full() {
                spool.acknowledge(&outbox.states.lock().take_all_committed())?;
            }
            spool.append(&spool_results, &spool_captures, now)?;
            Ok(spool_results.iter().map(|record| spool.has_captures(record.check_id)).collect::<Vec<_>>())
        });
        let encoded = results.iter().map(|record| record.content.clone()).collect();
        let send = async {
            let send = parts.transport.send_results(encoded, Urgency::Live);
            matches!(tokio::time::timeout(SEND_TIMEOUT, send).await, Ok(Ok(())))
        };
        // A report may come before the disk is done, so the states are there first.
        if is_first {
            let mut states = parts.states.lock();
            for check_id in &check_ids {
                states.insert(*check_id, Progress::Sending, false);
            }
            is_first = false;
        }
        let (kept, sent) = tokio::join!(keep, send);
        if sent {
            parts.states.lock().mark_sent(&check_ids, Instant::now());
        }
        match kept {
            Ok(has_captures) => {
                parts.states.lock().set_captures(check_ids.iter().copied().zip(has_captures));
                if !sent {
                    parts.states.lock().mark_unsent(&check_ids);
                    parts.wake_backlog.notify_one();
                }
                parts.wake_captures.notify_one();
                return;
            }
            Err(error) if sent => {
                tracing::error!(error = %error, results = check_ids.len(), "results were sent, but the spool cannot keep them until they are committed");
                return;
            }
            Err(error) => {
                tracing::error!(error = %error, results = check_ids.len(), "results can neither be kept nor sent; trying again");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}
