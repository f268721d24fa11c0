//! Whether this location can reach anything at all: asked when a check failed (behaviour.md 5 "Own-connectivity
//! targets").

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::domain::{FailureKind, Timestamp};
use crate::net::{ConnectTrace, Deadline, Endpoint, Net, set_reset_on_close};
use crate::sync::{Mutex, MutexGuard};

/// Asks a few targets that are thought never to fail together. However many checks fail, they are asked once at
/// a time; an answer counts for every failure that came before the question.
pub struct Connectivity {
    targets: Vec<Endpoint>,
    net: Arc<Net>,
    clock: Arc<dyn Clock>,
    /// Held while the targets are asked.
    probe_lock: tokio::sync::Mutex<()>,
    seen: Mutex<ProbeState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ProbeState {
    /// When the newest question was asked, and whether anybody answered.
    last_probe: Option<(Instant, bool)>,
    /// The newest time at which nobody answered.
    last_isolated_at: Option<Timestamp>,
}

/// How long a target has to let us connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// For how long it counts that nobody answered. Checks that fail ask again, those that pass do not.
const RESULT_TTL: Duration = Duration::from_mins(2);

impl Connectivity {
    /// Over `targets`; `None` when there are none, and failures are what they seem.
    #[must_use]
    pub fn new(targets: Vec<Endpoint>, net: Arc<Net>, clock: Arc<dyn Clock>) -> Option<Self> {
        let (turn, seen) = (tokio::sync::Mutex::default(), Mutex::default());
        (!targets.is_empty()).then_some(Self { targets, net, clock, probe_lock: turn, seen })
    }

    /// Whether none of the targets could be reached at some time between `start` and now.
    pub(super) async fn was_isolated_since(&self, start: Timestamp) -> bool {
        let failed_at = Instant::now();
        let _lock = self.probe_lock.lock().await;
        let seen = *self.state();
        let reached = match seen.last_probe {
            Some((asked_at, reached)) if asked_at >= failed_at => reached,
            _ => self.probe_targets().await,
        };
        !reached || self.state().last_isolated_at.is_some_and(|at| at >= start)
    }

    /// Whether none of the targets answered when they were asked last, within the last two minutes. Asks nobody.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        self.state().last_probe.is_some_and(|(at, reached)| !reached && at.elapsed() < RESULT_TTL)
    }

    async fn probe_targets(&self) -> bool {
        let asked_at = Instant::now();
        let deadline = Deadline { at: asked_at + CONNECT_TIMEOUT, timeout: CONNECT_TIMEOUT };
        let tries = self.targets.iter().map(|target| async move {
            match self.net.connect(target, deadline, &mut ConnectTrace::default()).await {
                Ok(stream) => {
                    set_reset_on_close(&stream);
                    true
                }
                // A target that nobody may ask tells nothing, and excuses nothing.
                Err(failure) => failure.kind == FailureKind::EgressDenied,
            }
        });
        let reached = tries.collect::<FuturesUnordered<_>>().any(std::future::ready).await;
        let mut seen = self.state();
        let before = seen.last_probe.replace((asked_at, reached)).is_none_or(|(_, reached)| reached);
        if !reached {
            seen.last_isolated_at = Some(self.clock.now());
        }
        if before != reached {
            log_change(reached);
        }
        reached
    }

    fn state(&self) -> MutexGuard<'_, ProbeState> {
        self.seen.lock()
    }
}

fn log_change(reached: bool) {
    if reached {
        tracing::info!("connectivity targets are reachable again; failures count");
    } else {
        tracing::warn!("no connectivity target is reachable; failures count as unknown");
    }
}
