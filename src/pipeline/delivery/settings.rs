//! How messages are delivered, and what delivery works with.

use std::sync::Arc;
use std::time::Duration;

use super::destination::DestinationLookup;
use crate::clock::Clock;
use crate::notify::{MessageRenderer, MessageSender};
use crate::store::{ConfigStore, Outbox, ResultStore};
use crate::telemetry::Metrics;

/// How messages are delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Messages to one recipient within a minute; the rest goes into a digest. 0 is no limit.
    pub per_minute: u32,
    /// Messages that are handed over at once, over all recipients.
    pub max_concurrent: usize,
    /// Those among them that go to one host.
    pub max_per_host: usize,
    /// The pause after a first failed try; it doubles with each further one.
    pub initial_retry_delay: Duration,
    /// The longest pause between two tries.
    pub max_retry_delay: Duration,
    /// How old a message may become before it is given up.
    pub max_age: Duration,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            per_minute: 10,
            max_concurrent: 64,
            max_per_host: 8,
            initial_retry_delay: Duration::from_secs(5),
            max_retry_delay: Duration::from_mins(5),
            max_age: Duration::from_hours(24),
        }
    }
}

/// What delivery works with.
#[derive(Clone)]
pub struct DeliveryDependencies {
    /// What is to be delivered.
    pub outbox: Arc<dyn Outbox>,
    /// Who is meant.
    pub destinations: Arc<dyn DestinationLookup>,
    /// Makes the words.
    pub renderer: Arc<MessageRenderer>,
    /// Hands messages over.
    pub sender: Arc<dyn MessageSender>,
    /// Where screenshots and answers of targets are kept; without it nothing is attached.
    pub results: Option<Arc<dyn ResultStore>>,
    /// Where messages that were given up are reported as events; without it only the log says so.
    pub ledger: Option<Arc<dyn ConfigStore>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Counts.
    pub metrics: Arc<Metrics>,
}
