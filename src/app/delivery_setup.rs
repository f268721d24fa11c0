//! The delivery of messages, wired: channels over a network of its own, which is held to the same egress policy
//! as checks; and the heartbeat over the same.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::net::Net;
use crate::notify::{Channels, MessageRenderer, WebhookClient};
use crate::pipeline::{AccountDestinations, DeliveryDependencies, DeliveryTask, Wakeup};
use crate::settings::Settings;
use crate::store::SqliteStore;
use crate::telemetry::Metrics;

/// What is beside it.
pub(super) struct DeliveryInputs {
    pub(super) store: Arc<SqliteStore>,
    pub(super) addresses: AccountDestinations,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
}

/// Begins to deliver.
pub(super) fn start_delivery(
    settings: &Settings,
    inputs: DeliveryInputs,
    wakeup: Wakeup,
) -> anyhow::Result<DeliveryTask> {
    let DeliveryInputs { store, addresses, clock, metrics } = inputs;
    let net = Arc::new(Net::new(&settings.net)?);
    let dependencies = DeliveryDependencies {
        outbox: store.clone(),
        destinations: Arc::new(addresses),
        renderer: Arc::new(MessageRenderer::default()),
        sender: Arc::new(Channels::new(net, Arc::clone(&clock), settings.alerts.channels.clone())),
        results: Some(store.clone()),
        ledger: Some(store),
        clock,
        metrics,
    };
    Ok(DeliveryTask::start(dependencies, settings.alerts.delivery.clone(), wakeup))
}

/// Time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(1);
/// How soon to look again when not everything works.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How long one may take.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls the heartbeat URL each minute while `works` says so, until `stop`. A call that fails is not repeated:
/// that is for whoever waits for it to notice.
pub(super) async fn start_heartbeat(
    settings: &Settings,
    clock: Arc<dyn Clock>,
    works: impl Fn() -> bool + Send + 'static,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let Some(url) = settings.alerts.heartbeat_url.clone() else { return Ok(()) };
    let http = WebhookClient::new(Arc::new(Net::new(&settings.net)?), Arc::clone(&clock));
    tokio::spawn(async move {
        let mut told = false;
        loop {
            let well = works();
            if well {
                let beat = http.ping(&url, HEARTBEAT_TIMEOUT).await;
                if let Err(error) = &beat
                    && !told
                {
                    tracing::warn!(error = %error, "heartbeat failed");
                }
                told = beat.is_err();
            }
            tokio::select! {
                () = clock.sleep(if well { HEARTBEAT_INTERVAL } else { RETRY_INTERVAL }) => {}
                () = stop.cancelled() => return,
            }
        }
    });
    Ok(())
}
