//! Settings and dependencies of the delivery.

use std::sync::Arc;
use std::time::Duration;

use super::destination::DestinationLookup;
use crate::clock::Clock;
use crate::notify::{MessageRenderer, MessageSender};
use crate::store::{ConfigStore, Outbox, ResultStore};
use crate::telemetry::Metrics;

/// Settings of the delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Most messages to one recipient within a minute; the rest goes into a digest. 0 is no limit.
    pub max_per_minute: u32,
    /// Most messages sent at once, over all recipients.
    pub max_concurrent: usize,
    /// Most messages sent at once to one host.
    pub max_per_host: usize,
    /// Delay after a first failed attempt; it doubles with each further one.
    pub initial_retry_delay: Duration,
    /// Longest delay between two attempts.
    pub max_retry_delay: Duration,
    /// Age at which a message is given up.
    pub max_age: Duration,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            max_per_minute: 10,
            max_concurrent: 64,
            max_per_host: 8,
            initial_retry_delay: Duration::from_secs(5),
            max_retry_delay: Duration::from_mins(5),
            max_age: Duration::from_hours(24),
        }
    }
}

/// Dependencies of the delivery.
#[derive(Clone)]
pub struct DeliveryDependencies {
    /// Notifications to deliver.
    pub outbox: Arc<dyn Outbox>,
    /// Looks up destinations.
    pub destination_lookup: Arc<dyn DestinationLookup>,
    /// Renders messages.
    pub renderer: Arc<MessageRenderer>,
    /// Sends messages.
    pub sender: Arc<dyn MessageSender>,
    /// Stores screenshots and responses of targets; without it, nothing is attached.
    pub result_store: Option<Arc<dyn ResultStore>>,
    /// Records events about messages given up; without it, they are only logged.
    pub config_store: Option<Arc<dyn ConfigStore>>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// Metrics.
    pub metrics: Arc<Metrics>,
}
