//! What tells agents that results which were reported as committed may be lost.

use crate::bus::nats::control::streams::Inbound;
use crate::sync::Mutex;

/// The timeline of the control plane: of its database, and of the streams of results.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    parts: Mutex<TimelineParts>,
}

#[derive(Debug, Default)]
struct TimelineParts {
    database: String,
    /// When the streams of current results, of the backlog and of captures were created; empty before they are open.
    streams: [String; 3],
}

impl Timeline {
    /// Creates the timeline of a database, whose own changes when it loses commits.
    pub(super) fn new(database: String) -> Self {
        Self { parts: Mutex::new(TimelineParts { database, streams: Default::default() }) }
    }

    /// Sets when a stream was created.
    pub(super) fn set_stream(&self, inbound: Inbound, created: String) {
        let index = match inbound {
            Inbound::Results => 0,
            Inbound::Backlog => 1,
            Inbound::Captures => 2,
        };
        self.parts.lock().streams[index] = created;
    }

    /// Returns its text; `None` while a stream is not open yet.
    pub(super) fn text(&self) -> Option<String> {
        let parts = self.parts.lock();
        let is_complete = parts.streams.iter().all(|created| !created.is_empty());
        is_complete.then(|| format!("{} {}", parts.database, parts.streams.join(" ")))
    }
}
