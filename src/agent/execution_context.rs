//! The environment of attempts.

use std::sync::Arc;

use super::connectivity::ConnectivityDetector;
use super::full_page_times::FullPageTimes;
use super::interfaces::BlackoutLookup;
use super::monitor_sharing::MonitorSharing;
use super::stall_detector::StallDetector;
use crate::clock::Clock;
use crate::domain::{CheckTrigger, Timestamp};
use crate::net::Net;

/// The environment of attempts at this location.
#[derive(Clone)]
pub struct ExecutionContext {
    /// The network of this location.
    pub net: Arc<Net>,
    /// Source of wall-clock time.
    pub clock: Arc<dyn Clock>,
    /// Detects stalls of this process; `None` where it gets no heartbeats, as on the command line.
    pub stall_detector: Option<Arc<StallDetector>>,
    /// Detects whether this location is isolated; `None` without own-connectivity targets.
    pub connectivity_detector: Option<Arc<ConnectivityDetector>>,
    /// Looks up blackouts of monitors; `None` where they have none.
    pub blackout_lookup: Option<Arc<dyn BlackoutLookup>>,
    /// Whether HTTP exchanges of passing checks are recorded too.
    pub record_exchanges: bool,
    /// When the checks of this process last loaded the objects of each page.
    pub full_page_times: Arc<FullPageTimes>,
    /// Which monitors of the location are checked here.
    pub sharing: Arc<MonitorSharing>,
    /// What caused the check. Outside of the schedule, for example to confirm a failure, a full page is due.
    pub trigger: CheckTrigger,
}

impl ExecutionContext {
    /// Creates a context on `net` without stall detection, connectivity detection and blackouts.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>) -> Self {
        Self {
            net,
            clock,
            stall_detector: None,
            connectivity_detector: None,
            blackout_lookup: None,
            record_exchanges: false,
            full_page_times: Arc::default(),
            sharing: Arc::default(),
            trigger: CheckTrigger::Schedule,
        }
    }

    pub(super) fn was_stalled_since(&self, start: Timestamp) -> bool {
        self.stall_detector
            .as_ref()
            .is_some_and(|stall_detector| stall_detector.was_stalled_since(start, self.clock.now()))
    }
}
