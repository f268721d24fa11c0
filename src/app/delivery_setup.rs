//! Wires the delivery of notifications, with a network of its own under the same egress policy as checks, and the
//! heartbeat.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::net::Net;
use crate::notify::{MessageRenderer, NotificationChannels, WebhookClient};
use crate::pipeline::{AccountDestinations, DeliveryDependencies, DeliveryTask, DeliveryWakeup};
use crate::settings::Settings;
use crate::store::SqliteStore;
use crate::telemetry::Metrics;

/// Dependencies of the delivery.
pub(super) struct DeliveryInputs {
    pub(super) store: Arc<SqliteStore>,
    pub(super) destinations: AccountDestinations,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
}

/// Starts the delivery.
pub(super) fn start_delivery(
    settings: &Settings,
    inputs: DeliveryInputs,
    wakeup: DeliveryWakeup,
) -> anyhow::Result<DeliveryTask> {
    let DeliveryInputs { store, destinations: addresses, clock, metrics } = inputs;
    let net = Arc::new(Net::new(&settings.net)?);
    let dependencies = DeliveryDependencies {
        outbox: store.clone(),
        destination_lookup: Arc::new(addresses),
        renderer: Arc::new(MessageRenderer::default()),
        sender: Arc::new(NotificationChannels::new(
            net,
            Arc::clone(&clock),
            settings.alerts.channels.clone(),
        )),
        result_store: Some(store.clone()),
        config_store: Some(store),
        clock,
        metrics,
    };
    Ok(DeliveryTask::start(dependencies, settings.alerts.delivery.clone(), wakeup))
}

/// Time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(1);
/// Pause while some part does not work.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Longest duration of a heartbeat.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests the heartbeat URL each minute while `is_healthy_now` returns true, until `stop`. A failed request is not repeated:
/// the receiver must notice missing heartbeats.
pub(super) async fn start_heartbeat(
    settings: &Settings,
    clock: Arc<dyn Clock>,
    is_healthy_now: impl Fn() -> bool + Send + 'static,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let Some(url) = settings.alerts.heartbeat_url.clone() else { return Ok(()) };
    let client = WebhookClient::new(Arc::new(Net::new(&settings.net)?), Arc::clone(&clock));
    tokio::spawn(async move {
        let mut is_failure_logged = false;
        loop {
            let is_healthy = is_healthy_now();
            if is_healthy {
                let outcome = client.send_heartbeat(&url, HEARTBEAT_TIMEOUT).await;
                if let Err(error) = &outcome
                    && !is_failure_logged
                {
                    tracing::warn!(error = %error, "heartbeat failed");
                }
                is_failure_logged = outcome.is_err();
            }
            tokio::select! {
                () = clock.sleep(if is_healthy { HEARTBEAT_INTERVAL } else { RETRY_INTERVAL }) => {}
                () = stop.cancelled() => return,
            }
        }
    });
    Ok(())
}
