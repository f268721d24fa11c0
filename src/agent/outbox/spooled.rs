//! The spool of an agent, used off the runtime.

use std::sync::Arc;

use crate::bus::contract::SpoolLoad;
use crate::domain::CheckId;
use crate::spool::{Spool, SpoolError};
use crate::sync::Mutex;

/// The spool of an agent.
#[derive(Clone)]
pub(super) struct Spooled {
    spool: Arc<Mutex<Spool>>,
    load: Arc<Mutex<SpoolLoad>>,
}

impl Spooled {
    pub(super) fn new(spool: Spool) -> Self {
        let spooled = Self { spool: Arc::new(Mutex::new(spool)), load: Arc::default() };
        spooled.update_load(&mut spooled.spool.lock());
        spooled
    }

    /// Returns what it held when it was used last.
    pub(super) fn load(&self) -> SpoolLoad {
        *self.load.lock()
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
            spooled.update_load(&mut spool);
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

    fn update_load(&self, spool: &mut Spool) {
        let dropped = spool.take_dropped();
        let mut load = self.load.lock();
        load.results = spool.len() as u64;
        load.bytes = spool.bytes();
        load.dropped_results += dropped.results as u64;
        load.dropped_captures += dropped.captures as u64;
        if dropped.results > 0 {
            tracing::error!(
                results = dropped.results,
                "results lost: they were too old or too many for the spool of the agent"
            );
        }
    }
}
