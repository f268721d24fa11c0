//! Reads lists of monitors in chunks, so that a list is never in memory as a whole.

use std::io;

use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::service::{MonitorService, ServiceError};

/// Most monitors in one chunk.
pub(super) const MAX_CHUNK_MONITORS: usize = 100;
/// Most bytes of scripts and other large texts in one chunk of several monitors.
const MAX_CHUNK_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Reads at most `max_monitors` monitors that match `matches_filter`, from the id `first_id` on. Returns them, and
/// the first id of the next chunk, or `None` after the last monitor.
pub(super) fn read_monitor_chunk(
    monitors: &MonitorService,
    first_id: MonitorId,
    max_monitors: usize,
    matches_filter: impl Fn(&Monitor) -> bool,
) -> (Vec<Monitor>, Option<MonitorId>) {
    let mut chunk = monitors.list_from(first_id, max_monitors, matches_filter);
    let found_count = chunk.len();
    chunk.truncate(fitting_count(&chunk));
    let is_last = found_count < max_monitors && chunk.len() == found_count;
    let next_id = chunk.last().filter(|_| !is_last).map(|last| MonitorId(last.id.0.saturating_add(1)));
    (chunk, next_id)
}

/// Returns how many of `monitors` fit in one chunk: at least one, limited by the size of their texts.
fn fitting_count(monitors: &[Monitor]) -> usize {
    let mut text_bytes = 0;
    let fitting = monitors.iter().take_while(|monitor| {
        text_bytes += monitor.document.large_text_bytes();
        text_bytes <= MAX_CHUNK_TEXT_BYTES
    });
    fitting.count().max(1)
}

/// Logs why a response is cut off after its start, and returns the error that ends the stream.
pub(super) fn logged_cut_off_error(error: &ServiceError) -> io::Error {
    tracing::warn!(error = ?error, "a list of monitors was cut short");
    io::Error::other("the list was cut short")
}
