//! The spool of an agent, used off the runtime.

use std::sync::Arc;

use crate::domain::CheckId;
use crate::spool::{Spool, SpoolError};
use crate::sync::Mutex;

/// What the spool of an agent holds, for its heartbeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SpoolFigures {
    pub(super) results: u64,
    pub(super) bytes: u64,
    pub(super) dropped_results: u64,
    pub(super) dropped_captures: u64,
}

/// The spool of an agent.
#[derive(Clone)]
pub(super) struct Spooled {
    spool: Arc<Mutex<Spool>>,
    figures: Arc<Mutex<SpoolFigures>>,
}

impl Spooled {
    pub(super) fn new(spool: Spool) -> Self {
        let spooled = Self { spool: Arc::new(Mutex::new(spool)), figures: Arc::default() };
        spooled.update_figures(&mut spooled.spool.lock());
        spooled
    }

    /// Returns the figures as of the last use of the spool.
    pub(super) fn figures(&self) -> SpoolFigures {
        *self.figures.lock()
    }

    /// Returns the checks whose results it holds, and whether it holds captures of each.
    pub(super) fn contents(&self) -> Vec<(CheckId, bool)> {
        let spool = self.spool.lock();
        spool.check_ids().into_iter().map(|check_id| (check_id, spool.has_captures(check_id))).collect()
    }

    /// Runs `work` off the runtime.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Spool) -> Result<T, SpoolError> + Send + 'static,
    ) -> Result<T, SpoolError> {
        let spooled = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let mut spool = spooled.spool.lock();
            let outcome = work(&mut spool);
            spooled.update_figures(&mut spool);
            outcome
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(payload) => std::panic::resume_unwind(payload),
                // The runtime shuts down.
                Err(_) => std::future::pending().await,
            },
        }
    }

    fn update_figures(&self, spool: &mut Spool) {
        let dropped = spool.take_dropped();
        let mut figures = self.figures.lock();
        figures.results = spool.len() as u64;
        figures.bytes = spool.bytes();
        figures.dropped_results += dropped.results as u64;
        figures.dropped_captures += dropped.captures as u64;
        if dropped.results > 0 {
            tracing::error!(
                results = dropped.results,
                "results lost: they were too old or too many for the spool of the agent"
            );
        }
    }
}
