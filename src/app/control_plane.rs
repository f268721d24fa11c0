//! The control plane of a server without its pages and APIs, as `vigie load` measures it with agents.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::reload::RunningConfig;
use super::running_server::RunningServer;
use crate::bus::nats::NewCredential;
use crate::domain::{ConfigRecordKind, CustomerId, LocationId, Timestamp};
use crate::schema::typed::request::AgentEnrolmentRequest;
use crate::service::{AccountService, Caller, EntryPoint, ServiceError};
use crate::settings::Settings;
use crate::store::{ConfigChange, NewMonitor, Pagination, ResultFilter};
use crate::syntax::node::Node;

/// Name of the metric with the number of stored results.
const STORED_RESULTS: &str = "vigie_store_commit_results_sum ";
/// How long background tasks may take to end.
const TASK_END_TIMEOUT: Duration = Duration::from_secs(10);

/// A running control plane.
pub struct ControlPlane {
    server: RunningServer,
    _running_config: RunningConfig,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl ControlPlane {
    /// Starts a control plane with `settings`, as `vigie serve` does; returns once its monitors are loaded.
    ///
    /// # Errors
    /// Fails for settings, a data folder or keys of NATS that cannot be used.
    pub async fn start(settings: Settings) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let server = RunningServer::start(&settings, &stop).await?;
        let tasks = server.spawn_background_jobs(&stop).into();
        let (heartbeat_url, _) = watch::channel(None);
        let bus_settings = settings.bus.clone();
        let running_config = server.start_running_config(settings, heartbeat_url).await?;
        server.start_remote_bus(&bus_settings, Arc::new(|| true), stop.clone()).await?;
        server.liveness.set_loaded();
        Ok(Self { server, _running_config: running_config, stop, tasks })
    }

    /// Creates a location; returns its id, and the secret with which its first agent enrols.
    ///
    /// # Errors
    /// Fails as `POST /locations` does.
    pub async fn create_location(&self, name: &str) -> anyhow::Result<(LocationId, String)> {
        let body = Node::from_yaml(&serde_json::json!({ "name": name }).to_string())?;
        let records = &self.server.services.api_state.record_service;
        let created = records.create(&host_caller(), ConfigRecordKind::Location, &body).await;
        let created = created.map_err(|error| failure("a location cannot be created", &error))?;
        let secret = created.create_response_fields.get("enrolment_secret").and_then(Value::as_str);
        let secret = secret.context("the location has no enrolment secret")?;
        Ok((LocationId(created.id), secret.to_owned()))
    }

    /// Enrols an agent with `secret`; its credential is written into `data_dir`, which exists.
    ///
    /// # Errors
    /// Fails as `POST /agents/enrol` does, and when the credential cannot be written.
    pub async fn enrol_agent(&self, data_dir: &Path, name: &str, secret: &str) -> anyhow::Result<()> {
        let keys = NewCredential::create(data_dir)?;
        let (public_key, exchange_key) = (keys.public_key(), keys.exchange_public_key());
        let request = AgentEnrolmentRequest {
            secret,
            name,
            public_key: &public_key,
            exchange_key: &exchange_key,
            version: env!("CARGO_PKG_VERSION"),
        };
        let agents = &self.server.services.api_state.agent_service;
        let grant = agents.enrol(request, IpAddr::V4(Ipv4Addr::LOCALHOST)).await;
        let grant = grant.map_err(|error| failure("an agent cannot enrol", &error))?;
        // There is no API to renew the token at.
        keys.save(data_dir, (String::new(), String::new()), grant)?;
        Ok(())
    }

    /// Returns how many agents are online.
    #[must_use]
    pub fn online_agents(&self) -> usize {
        let remote = self.server.bus.remote();
        remote.map_or(0, |bus| bus.agents().iter().filter(|(_, agent)| agent.is_online).count())
    }

    /// Stores monitors, which the next start plans.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn store_monitors(&self, monitors: Vec<NewMonitor>) -> anyhow::Result<()> {
        let changes = monitors.into_iter().map(ConfigChange::CreateMonitor).collect();
        self.server.store.write_changes(changes, Vec::new()).await?;
        Ok(())
    }

    /// Returns how many results were stored since the start.
    #[must_use]
    pub fn stored_results(&self) -> u64 {
        let metrics = self.server.metrics.encode();
        let sum = metrics.lines().find_map(|line| line.strip_prefix(STORED_RESULTS));
        // It counts whole results, and is written with a fraction.
        sum.and_then(|sum| sum.split('.').next()?.parse().ok()).unwrap_or_default()
    }

    /// Returns how many results of runs planned within `window` the store has.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn results_planned_in(&self, window: &Range<Timestamp>) -> anyhow::Result<u64> {
        let filter =
            ResultFilter { from: Some(window.start), until: Some(window.end), ..ResultFilter::default() };
        Ok(self.server.store.results(filter, Pagination { limit: 1, offset: 0 }).await?.total)
    }

    /// Stores what was taken and ends everything; returns how many results were lost.
    pub async fn shut_down(self, drain_timeout: Duration) -> usize {
        let lost = self.server.shut_down(drain_timeout).await;
        self.stop.cancel();
        let ended = futures::future::join_all(self.tasks);
        if tokio::time::timeout(TASK_END_TIMEOUT, ended).await.is_err() {
            tracing::error!("a task did not end in time");
        }
        self.server.store.close().await;
        lost
    }
}

fn host_caller() -> Caller {
    AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Cli)
}

fn failure(what: &str, error: &ServiceError) -> anyhow::Error {
    anyhow::anyhow!("{what}: {error:?}")
}
