//! Dependencies of the streams of updates.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::open_streams::OpenStreams;
use crate::web::actions::ActionsState;
use crate::web::locations_state::LocationsState;

/// Dependencies of the streams of updates.
#[derive(Clone)]
pub struct LiveState {
    /// What the pages of monitors and of checks on demand need.
    pub(super) actions: ActionsState,
    /// What the page of locations needs.
    pub(super) locations: LocationsState,
    /// Ends all streams, so that the server can stop.
    pub(super) stop: CancellationToken,
    pub(super) open_streams: Arc<OpenStreams>,
    /// Lets one page be made at a time: all streams together take one processor at most.
    pub(super) rendering: Arc<Semaphore>,
}

impl LiveState {
    /// Creates the state; `stop` ends all streams.
    #[must_use]
    pub fn new(actions: ActionsState, locations: LocationsState, stop: CancellationToken) -> Self {
        Self {
            actions,
            locations,
            stop,
            open_streams: Arc::default(),
            rendering: Arc::new(Semaphore::new(1)),
        }
    }
}
