//! Messages leave the process: what is due in the outbox is written out, handed to a channel, and how that
//! ended is noted (behaviour.md 6 "Delivery").
//!
//! Each recipient has a lane of its own: one message at a time, in their order, so that a slow or broken
//! receiver holds up nobody else. A lane that fails waits, longer each time; one that had its share of a minute
//! holds the rest back, and tells of them in one digest.

mod addressee;
mod backoff;
mod digest;
mod evidence;
mod lane;
mod lanes;
mod report;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub use addressee::{AddressBook, Addressee, Addresses};

use crate::clock::Clock;
use crate::notify::{Composer, Courier};
use crate::store::{Ledger, Outbox, Results};
use crate::telemetry::Metrics;
use worker::Worker;

/// How messages are delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Messages to one recipient within a minute; the rest goes into a digest. 0 is no limit.
    pub per_minute: u32,
    /// Messages that are handed over at once, over all recipients.
    pub at_once: usize,
    /// Those among them that go to one host.
    pub per_host: usize,
    /// The pause after a first failed try; it doubles with each further one.
    pub first_pause: Duration,
    /// The longest pause between two tries.
    pub longest_pause: Duration,
    /// How old a message may become before it is given up.
    pub give_up: Duration,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            per_minute: 10,
            at_once: 64,
            per_host: 8,
            first_pause: Duration::from_secs(5),
            longest_pause: Duration::from_mins(5),
            give_up: Duration::from_hours(24),
        }
    }
}

/// What delivery works with.
#[derive(Clone)]
pub struct DeliveryParts {
    /// What is to be delivered.
    pub outbox: Arc<dyn Outbox>,
    /// Who is meant.
    pub addresses: Arc<dyn AddressBook>,
    /// Makes the words.
    pub composer: Arc<Composer>,
    /// Hands messages over.
    pub courier: Arc<dyn Courier>,
    /// Where screenshots and answers of targets are kept; without it nothing is attached.
    pub results: Option<Arc<dyn Results>>,
    /// Where messages that were given up are reported as events; without it only the log says so.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Counts.
    pub metrics: Arc<Metrics>,
}

/// Wakes the delivery: there may be something new in the outbox. Cheap to clone, and to ring too often.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<Notify>);

impl Bell {
    /// Rings.
    pub fn ring(&self) {
        self.0.notify_one();
    }

    /// Waits until it was rung since the last wait.
    async fn rung(&self) {
        self.0.notified().await;
    }
}

/// Delivery under way.
pub struct Delivery {
    end: tokio::sync::watch::Sender<Option<Duration>>,
    task: JoinHandle<()>,
}

impl Delivery {
    /// Begins to deliver. `bell` is rung by whoever puts something into the outbox.
    #[must_use]
    pub fn start(parts: DeliveryParts, settings: DeliverySettings, bell: Bell) -> Self {
        let (end, ended) = tokio::sync::watch::channel(None);
        let task = tokio::spawn(Worker::new(parts, settings, bell).run(ended));
        Self { end, task }
    }

    /// Delivers what can be delivered at once, at most for `within`, and ends. Everything else stays in the
    /// outbox for the next start.
    pub async fn drain(self, within: Duration) {
        self.end.send_replace(Some(within));
        let aborting = self.task.abort_handle();
        // Tries that hang are cut off by the worker; this holds a store that does not answer.
        if tokio::time::timeout(within * 2 + Duration::from_secs(5), self.task).await.is_err() {
            tracing::warn!("the delivery of messages did not end; it goes on at the next start");
            aborting.abort();
        }
    }
}
