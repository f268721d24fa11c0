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
    turn: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// When the newest question was asked, and whether anybody answered.
    asked: Option<(Instant, bool)>,
    /// The newest time at which nobody answered.
    cut_off_at: Option<Timestamp>,
}

/// How long a target has to let us connect.
const PATIENCE: Duration = Duration::from_secs(3);
/// For how long it counts that nobody answered. Checks that fail ask again, those that pass do not.
const LATELY: Duration = Duration::from_mins(2);

impl Connectivity {
    /// Over `targets`; `None` when there are none, and failures are what they seem.
    #[must_use]
    pub fn new(targets: Vec<Endpoint>, net: Arc<Net>, clock: Arc<dyn Clock>) -> Option<Self> {
        let (turn, seen) = (tokio::sync::Mutex::default(), Mutex::default());
        (!targets.is_empty()).then_some(Self { targets, net, clock, turn, seen })
    }

    /// Whether none of the targets could be reached at some time between `start` and now.
    pub(super) async fn was_lost_since(&self, start: Timestamp) -> bool {
        let failed_at = Instant::now();
        let _turn = self.turn.lock().await;
        let seen = *self.seen();
        let reached = match seen.asked {
            Some((asked_at, reached)) if asked_at >= failed_at => reached,
            _ => self.ask().await,
        };
        !reached || self.seen().cut_off_at.is_some_and(|at| at >= start)
    }

    /// Whether none of the targets answered when they were asked last, within the last two minutes. Asks nobody.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.seen().asked.is_some_and(|(at, reached)| !reached && at.elapsed() < LATELY)
    }

    async fn ask(&self) -> bool {
        let asked_at = Instant::now();
        let deadline = Deadline { at: asked_at + PATIENCE, timeout: PATIENCE };
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
        let mut seen = self.seen();
        let before = seen.asked.replace((asked_at, reached)).is_none_or(|(_, reached)| reached);
        if !reached {
            seen.cut_off_at = Some(self.clock.now());
        }
        if before != reached {
            tell(reached);
        }
        reached
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock()
    }
}

fn tell(reached: bool) {
    if reached {
        tracing::info!("own-connectivity targets answer again; failures count");
    } else {
        tracing::warn!("no own-connectivity target answers; failures count as unknown");
    }
}
