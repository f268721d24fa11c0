//! Samples of the resident memory of this process.

use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::domain::Timestamp;

/// Time between two samples of the memory usage.
const MEMORY_SAMPLE_INTERVAL: Duration = Duration::from_millis(200);

/// Waits until `end`, and returns the highest resident memory measured meanwhile, in bytes.
pub(super) async fn wait_and_sample_peak_memory(end: Timestamp) -> u64 {
    let mut peak_bytes = 0;
    loop {
        peak_bytes = peak_bytes.max(super::process_usage::resident_bytes());
        let remaining = end.since(SystemClock.now());
        if remaining.is_zero() {
            return peak_bytes;
        }
        SystemClock.sleep(remaining.min(MEMORY_SAMPLE_INTERVAL)).await;
    }
}
