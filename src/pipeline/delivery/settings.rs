//! How messages are delivered, and what delivery works with.

use std::sync::Arc;
use std::time::Duration;

use super::addressee::AddressBook;
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
    pub composer: Arc<MessageRenderer>,
    /// Hands messages over.
    pub courier: Arc<dyn MessageSender>,
    /// Where screenshots and answers of targets are kept; without it nothing is attached.
    pub results: Option<Arc<dyn ResultStore>>,
    /// Where messages that were given up are reported as events; without it only the log says so.
    pub ledger: Option<Arc<dyn ConfigStore>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Counts.
    pub metrics: Arc<Metrics>,
}
