//! Wires the delivery of notifications, with a network of its own under the same egress policy as checks, and the
//! heartbeat.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::net::Net;
use crate::notify::{MessageRenderer, NotificationChannels, WebhookClient};
use crate::pipeline::{
    AccountDestinations, DeliveryDependencies, DeliveryHandle, DeliveryWakeup, DeliveryWorker,
};
use crate::settings::Settings;
use crate::store::Store;
use crate::telemetry::{Metrics, TaskHeartbeat};

/// Dependencies of the delivery.
pub(super) struct DeliveryInputs {
    pub(super) store: Arc<dyn Store>,
    pub(super) destinations: AccountDestinations,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
    /// Shows the supervisor that the delivery makes progress; it has nothing to do with the heartbeat URL.
    pub(super) heartbeat: TaskHeartbeat,
}

/// Creates the handle of the delivery, the worker (the caller runs it) and the channels.
pub(super) fn new_delivery(
    settings: &Settings,
    inputs: DeliveryInputs,
    wakeup: DeliveryWakeup,
) -> anyhow::Result<(DeliveryHandle, DeliveryWorker, Arc<NotificationChannels>)> {
    let DeliveryInputs { store, destinations, clock, metrics, heartbeat } = inputs;
    let net = Arc::new(Net::new(&settings.net)?);
    let channels =
        Arc::new(NotificationChannels::new(net, Arc::clone(&clock), settings.alerts.channels.clone()));
    let dependencies = DeliveryDependencies {
        outbox: store.clone(),
        destination_lookup: Arc::new(destinations),
        renderer: Arc::new(MessageRenderer::default()),
        sender: channels.clone(),
        result_store: Some(store.clone()),
        config_store: Some(store),
        clock,
        metrics,
    };
    let (task, worker) =
        DeliveryHandle::new(dependencies, settings.alerts.delivery.clone(), wakeup, heartbeat);
    Ok((task, worker, channels))
}

/// Time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(1);
/// Pause while some part does not work.
const UNHEALTHY_PAUSE: Duration = Duration::from_secs(1);
/// Longest duration of a heartbeat.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests to the heartbeat URL.
pub(super) struct HeartbeatRequests {
    /// The URL of the settings; `None` while none is set.
    url: watch::Receiver<Option<String>>,
    client: WebhookClient,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
}

impl HeartbeatRequests {
    /// Creates the requests; `url` follows the settings.
    ///
    /// # Errors
    /// Fails when the network cannot be set up.
    pub(super) fn new(
        settings: &Settings,
        url: watch::Receiver<Option<String>>,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let client = WebhookClient::new(Arc::new(Net::new(&settings.net)?), Arc::clone(&clock));
        Ok(Self { url, client, clock, stop })
    }

    /// Requests the URL each minute while `is_healthy_now` returns true, until the stop. A failed request is not
    /// repeated: the receiver must notice missing heartbeats.
    pub(super) async fn run(&self, is_healthy_now: impl Fn() -> bool, task_heartbeat: TaskHeartbeat) {
        let mut is_failure_logged = false;
        let mut url_changes = self.url.clone();
        loop {
            let url = url_changes.borrow_and_update().clone();
            let is_healthy = is_healthy_now();
            if let Some(url) = url.as_ref().filter(|_| is_healthy) {
                task_heartbeat.mark_idle_for(HEARTBEAT_TIMEOUT);
                let outcome = self.client.send_heartbeat(url, HEARTBEAT_TIMEOUT).await;
                if let Err(error) = &outcome
                    && !is_failure_logged
                {
                    tracing::warn!(error = %error, "heartbeat failed");
                }
                is_failure_logged = outcome.is_err();
            }
            let pause = if is_healthy || url.is_none() { HEARTBEAT_INTERVAL } else { UNHEALTHY_PAUSE };
            task_heartbeat.mark_idle_for(pause);
            tokio::select! {
                () = self.clock.sleep(pause) => {}
                Ok(()) = url_changes.changed() => {}
                () = self.stop.cancelled() => return,
            }
        }
    }
}
