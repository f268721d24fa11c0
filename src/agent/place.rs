//! Where attempts are made.

use std::sync::Arc;

use super::connectivity::Connectivity;
use super::contract::Silence;
use super::full_pages::FullPages;
use super::pulse::Pulse;
use crate::clock::Clock;
use crate::domain::Timestamp;
use crate::net::Net;

/// Where attempts are made.
#[derive(Clone)]
pub struct Place {
    /// The network of this location.
    pub net: Arc<Net>,
    /// For wall time.
    pub clock: Arc<dyn Clock>,
    /// Tells whether this process stood still; `None` where nobody beats it, as on a terminal.
    pub pulse: Option<Arc<Pulse>>,
    /// Tells whether this location can reach anything; `None` where nobody named what it should reach.
    pub connectivity: Option<Arc<Connectivity>>,
    /// Tells when monitors rest; `None` where they never do.
    pub silence: Option<Arc<dyn Silence>>,
    /// Whether HTTP exchanges are kept of checks that pass too.
    pub record: bool,
    /// When the objects of pages were loaded last, by the checks that were made here.
    pub full_pages: Arc<FullPages>,
    /// Whether the check was asked for out of the schedule, as to verify a failure: then a full page is due.
    pub on_order: bool,
}

impl Place {
    /// A place on `net` that knows nothing of itself.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>) -> Self {
        Self {
            net,
            clock,
            pulse: None,
            connectivity: None,
            silence: None,
            record: false,
            full_pages: Arc::default(),
            on_order: false,
        }
    }

    pub(super) fn stood_still_since(&self, start: Timestamp) -> bool {
        self.pulse.as_ref().is_some_and(|pulse| pulse.stood_still(start, self.clock.now()))
    }
}
