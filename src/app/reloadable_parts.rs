//! The parts of the process that take new settings of alerts and locations at a reload.

use std::sync::Arc;

use tokio::sync::watch;

use super::local_planner::LocalPlanner;
use super::location_agents::{AgentStarter, HostedAgent, LocationAgents};
use crate::export::otlp::OtlpHandle;
use crate::notify::NotificationChannels;
use crate::pipeline::{DeliverySettings, Ingestor};
use crate::service::MonitorReader;
use crate::settings::Settings;

/// The parts of the process that take new settings of alerts and locations.
pub(super) struct ReloadableParts {
    pub(super) agents: Arc<LocationAgents>,
    pub(super) agent_starter: Arc<AgentStarter>,
    pub(super) planner: Arc<LocalPlanner>,
    pub(super) monitor_reader: Arc<MonitorReader>,
    pub(super) ingestor: Arc<Ingestor>,
    pub(super) channels: Arc<NotificationChannels>,
    pub(super) delivery_settings: watch::Sender<DeliverySettings>,
    pub(super) heartbeat_url: watch::Sender<Option<String>>,
    pub(super) otlp: OtlpHandle,
}

impl ReloadableParts {
    /// Applies the settings of alerts, mail, SMS, the heartbeat and the export.
    pub(super) async fn apply_alert_settings(&self, settings: &Settings) {
        let alerts = &settings.alerts;
        self.ingestor.update_alert_settings(alerts.engine).await;
        self.channels.set_settings(alerts.channels.clone());
        self.delivery_settings.send_replace(alerts.delivery.clone());
        self.otlp.set_settings(settings.otlp.clone());
        self.heartbeat_url.send_if_modified(|current| {
            let is_changed = *current != alerts.heartbeat_url;
            current.clone_from(&alerts.heartbeat_url);
            is_changed
        });
    }

    /// Applies the settings of checks, from the next plan of each monitor on.
    pub(super) fn apply_probe_settings(&self, settings: &Settings) {
        self.agent_starter.probe_builder.update(settings.probe.clone());
        self.agents.update_proxies(&settings.proxies);
    }

    /// Starts the locations that are new or changed in `settings`, and stops those that are gone or changed. Checks
    /// that run at a stopped location finish. The monitors must be planned again after it.
    ///
    /// # Errors
    /// Fails when the network of a location cannot be set up; then nothing changes.
    pub(super) async fn apply_locations(&self, settings: &Settings, old: &Settings) -> anyhow::Result<()> {
        let (stopped_ids, new_locations) = settings.changed_locations(old);
        if stopped_ids.is_empty() && new_locations.is_empty() {
            return Ok(());
        }
        let started = self.agent_starter.start(settings, new_locations)?;
        let new_locations: Vec<_> = started.iter().map(|hosted| hosted.agent.location().clone()).collect();
        for HostedAgent { agent, .. } in self.agents.replace(&stopped_ids, started) {
            tracing::info!(location = agent.location().name, "location stopped");
            let drain_timeout = settings.concurrency.drain_timeout;
            tokio::spawn(async move { agent.runner().shutdown(drain_timeout).await });
        }
        for location in new_locations {
            self.planner.send_certificates(location.id).await;
            tracing::info!(location = location.name, "location started");
        }
        self.monitor_reader.set_locations(self.agents.locations());
        Ok(())
    }
}
