//! Detects whether this location can reach anything at all, after a check failed (behaviour.md 5 "Own-connectivity
//! targets").

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::domain::{FailureKind, Timestamp};
use crate::net::{ConnectionTrace, Deadline, Endpoint, Net, set_reset_on_close};
use crate::sync::{Mutex, MutexGuard};

/// Connects to a few targets that should never all be unreachable at once. One round at a time; its result is shared by
/// all checks that failed before it began.
pub struct ConnectivityDetector {
    targets: Vec<Endpoint>,
    net: Arc<Net>,
    clock: Arc<dyn Clock>,
    /// Held while the targets are connected to.
    connect_lock: tokio::sync::Mutex<()>,
    state: Mutex<ConnectivityState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ConnectivityState {
    /// Start of the last connection attempts, and whether any target was reached.
    last_connect: Option<(Instant, bool)>,
    /// The last time at which no target was reached.
    last_unreachable_at: Option<Timestamp>,
}

/// Time allowed for connecting to a target.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a failed round counts. Only failing checks start another one, so without them the isolation expires.
const ISOLATION_TTL: Duration = Duration::from_mins(2);

impl ConnectivityDetector {
    /// Creates a detector with `targets`; `None` without any: isolation is then never detected.
    #[must_use]
    pub fn new(targets: Vec<Endpoint>, net: Arc<Net>, clock: Arc<dyn Clock>) -> Option<Self> {
        let (connect_lock, state) = (tokio::sync::Mutex::default(), Mutex::default());
        (!targets.is_empty()).then_some(Self { targets, net, clock, connect_lock, state })
    }

    /// Whether none of the targets could be reached at some time between `start` and now.
    pub(super) async fn was_isolated_since(&self, start: Timestamp) -> bool {
        let requested_at = Instant::now();
        let _lock = self.connect_lock.lock().await;
        let state = *self.state();
        let reached = match state.last_connect {
            Some((connect_started_at, reached)) if connect_started_at >= requested_at => reached,
            _ => self.connect_to_targets().await,
        };
        !reached || self.state().last_unreachable_at.is_some_and(|at| at >= start)
    }

    /// Whether the last round, within the last two minutes, reached none of the targets. Starts none.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        self.state().last_connect.is_some_and(|(at, reached)| !reached && at.elapsed() < ISOLATION_TTL)
    }

    /// Connects to all targets and records the round; returns whether any was reached.
    async fn connect_to_targets(&self) -> bool {
        let started_at = Instant::now();
        let deadline = Deadline { at: started_at + CONNECT_TIMEOUT, timeout: CONNECT_TIMEOUT };
        let connections = self.targets.iter().map(|target| async move {
            match self.net.connect(target, deadline, &mut ConnectionTrace::default()).await {
                Ok(stream) => {
                    set_reset_on_close(&stream);
                    true
                }
                // A target that the egress policy denies says nothing about connectivity; count it as reached.
                Err(failure) => failure.kind == FailureKind::EgressDenied,
            }
        });
        let reached = connections.collect::<FuturesUnordered<_>>().any(std::future::ready).await;
        let mut state = self.state();
        let was_reached =
            state.last_connect.replace((started_at, reached)).is_none_or(|(_, reached)| reached);
        if !reached {
            state.last_unreachable_at = Some(self.clock.now());
        }
        if was_reached != reached {
            log_reachability_change(reached);
        }
        reached
    }

    fn state(&self) -> MutexGuard<'_, ConnectivityState> {
        self.state.lock()
    }
}

fn log_reachability_change(reached: bool) {
    if reached {
        tracing::info!("connectivity targets are reachable again; failures count");
    } else {
        tracing::warn!("no connectivity target is reachable; failures count as unknown");
    }
}
