//! The delivery of messages, wired: channels over a network of its own, which is held to the same egress policy
//! as checks.

use std::sync::Arc;

use super::settings::Settings;
use crate::clock::Clock;
use crate::control::{Addresses, Bell, Delivery, DeliveryParts, DeliverySettings};
use crate::net::Net;
use crate::notify::{ChannelSettings, Channels, Composer};
use crate::store::SqliteStore;
use crate::telemetry::Metrics;

/// What is beside it.
pub(super) struct Around {
    pub(super) store: Arc<SqliteStore>,
    pub(super) addresses: Addresses,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
}

/// Begins to deliver.
pub(super) fn start(settings: &Settings, around: Around, bell: Bell) -> anyhow::Result<Delivery> {
    let Around { store, addresses, clock, metrics } = around;
    let net = Arc::new(Net::new(&settings.net)?);
    let parts = DeliveryParts {
        outbox: store.clone(),
        addresses: Arc::new(addresses),
        composer: Arc::new(Composer::default()),
        courier: Arc::new(Channels::new(net, Arc::clone(&clock), ChannelSettings::default())),
        results: Some(store.clone()),
        ledger: Some(store),
        clock,
        metrics,
    };
    Ok(Delivery::start(parts, DeliverySettings::default(), bell))
}
