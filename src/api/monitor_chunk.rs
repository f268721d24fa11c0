//! Reads lists of monitors in chunks, so that a list is never in memory as a whole.

use std::io;

use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::service::{MonitorContext, ServiceError};

/// Most monitors in one chunk.
pub(super) const MAX_CHUNK_MONITORS: usize = 100;
/// Most bytes of scripts and other large texts in one chunk of several monitors.
const MAX_CHUNK_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Reads at most `max` monitors that match `fits`, from the id `from` on. Returns them, and the first id of the next
/// chunk, or `None` after the last monitor.
pub(super) fn read_monitor_chunk(
    monitors: &MonitorContext,
    from: MonitorId,
    max: usize,
    fits: impl Fn(&Monitor) -> bool,
) -> (Vec<Monitor>, Option<MonitorId>) {
    let mut chunk = monitors.list_from(from, max, fits);
    let found = chunk.len();
    chunk.truncate(fitting_count(&chunk));
    let is_last = found < max && chunk.len() == found;
    let next = chunk.last().filter(|_| !is_last).map(|last| MonitorId(last.id.0.saturating_add(1)));
    (chunk, next)
}

/// Returns how many of `monitors` fit in one chunk: at least one, limited by the size of their texts.
fn fitting_count(monitors: &[Monitor]) -> usize {
    let mut bytes = 0;
    let fitting = monitors.iter().take_while(|monitor| {
        bytes += monitor.document.large_text_bytes();
        bytes <= MAX_CHUNK_TEXT_BYTES
    });
    fitting.count().max(1)
}

/// Logs why a response is cut off after its start, and returns the error that ends the stream.
pub(super) fn log_cut_off(error: &ServiceError) -> io::Error {
    tracing::warn!(error = ?error, "a list of monitors was cut short");
    io::Error::other("the list was cut short")
}
