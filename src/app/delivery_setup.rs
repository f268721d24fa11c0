//! Wires the delivery of notifications, with a network of its own under the same egress policy as checks, and the
//! heartbeat.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::net::Net;
use crate::notify::{MessageRenderer, NotificationChannels, WebhookClient};
use crate::pipeline::{
    AccountDestinations, DeliveryDependencies, DeliveryTask, DeliveryWakeup, DeliveryWorker,
};
use crate::settings::Settings;
use crate::store::SqliteStore;
use crate::telemetry::{Metrics, TaskHeartbeat};

/// Dependencies of the delivery.
pub(super) struct DeliveryInputs {
    pub(super) store: Arc<SqliteStore>,
    pub(super) destinations: AccountDestinations,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) heartbeat: TaskHeartbeat,
}

/// Creates the delivery and its worker, to be run.
pub(super) fn new_delivery(
    settings: &Settings,
    inputs: DeliveryInputs,
    wakeup: DeliveryWakeup,
) -> anyhow::Result<(DeliveryTask, DeliveryWorker)> {
    let DeliveryInputs { store, destinations: addresses, clock, metrics, heartbeat } = inputs;
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
    Ok(DeliveryTask::new(dependencies, settings.alerts.delivery.clone(), wakeup, heartbeat))
}

/// Time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(1);
/// Pause while some part does not work.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Longest duration of a heartbeat.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests to the heartbeat URL.
pub(super) struct HeartbeatRequests {
    url: String,
    client: WebhookClient,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
}

impl HeartbeatRequests {
    /// Returns `None` when no URL is set.
    ///
    /// # Errors
    /// Fails when the network cannot be set up.
    pub(super) fn new(
        settings: &Settings,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> anyhow::Result<Option<Self>> {
        let Some(url) = settings.alerts.heartbeat_url.clone() else { return Ok(None) };
        let client = WebhookClient::new(Arc::new(Net::new(&settings.net)?), Arc::clone(&clock));
        Ok(Some(Self { url, client, clock, stop }))
    }

    /// Requests the URL each minute while `is_healthy_now` returns true, until the stop. A failed request is not
    /// repeated: the receiver must notice missing heartbeats.
    pub(super) async fn run(&self, is_healthy_now: impl Fn() -> bool, heartbeat: TaskHeartbeat) {
        let mut is_failure_logged = false;
        loop {
            let is_healthy = is_healthy_now();
            if is_healthy {
                heartbeat.rest_at_most(HEARTBEAT_TIMEOUT);
                let outcome = self.client.send_heartbeat(&self.url, HEARTBEAT_TIMEOUT).await;
                if let Err(error) = &outcome
                    && !is_failure_logged
                {
                    tracing::warn!(error = %error, "heartbeat failed");
                }
                is_failure_logged = outcome.is_err();
            }
            let pause = if is_healthy { HEARTBEAT_INTERVAL } else { RETRY_INTERVAL };
            heartbeat.rest_at_most(pause);
            tokio::select! {
                () = self.clock.sleep(pause) => {}
                () = self.stop.cancelled() => return,
            }
        }
    }
}
