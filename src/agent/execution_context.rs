//! Where attempts are made.

use std::sync::Arc;

use super::connectivity::Connectivity;
use super::full_page_times::FullPageTimes;
use super::ports::BlackoutLookup;
use super::stall_detector::StallDetector;
use crate::clock::Clock;
use crate::domain::Timestamp;
use crate::net::Net;

/// Where attempts are made.
#[derive(Clone)]
pub struct ExecutionContext {
    /// The network of this location.
    pub net: Arc<Net>,
    /// For wall time.
    pub clock: Arc<dyn Clock>,
    /// Tells whether this process stood still; `None` where nobody beats it, as on a terminal.
    pub stall_detector: Option<Arc<StallDetector>>,
    /// Tells whether this location can reach anything; `None` where nobody named what it should reach.
    pub connectivity: Option<Arc<Connectivity>>,
    /// Tells when monitors rest; `None` where they never do.
    pub blackouts: Option<Arc<dyn BlackoutLookup>>,
    /// Whether HTTP exchanges are kept of checks that pass too.
    pub record_exchanges: bool,
    /// When the objects of pages were loaded last, by the checks that were made here.
    pub full_pages: Arc<FullPageTimes>,
    /// Whether the check was asked for out of the schedule, as to verify a failure: then a full page is due.
    pub is_on_demand: bool,
}

impl ExecutionContext {
    /// A place on `net` that knows nothing of itself.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>) -> Self {
        Self {
            net,
            clock,
            stall_detector: None,
            connectivity: None,
            blackouts: None,
            record_exchanges: false,
            full_pages: Arc::default(),
            is_on_demand: false,
        }
    }

    pub(super) fn stalled_since(&self, start: Timestamp) -> bool {
        self.stall_detector
            .as_ref()
            .is_some_and(|stall_detector| stall_detector.was_stalled_since(start, self.clock.now()))
    }
}
