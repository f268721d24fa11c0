//! An agent beside others in one process, for `vigie load`: all of `vigie agent run` but signals and browsers.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::run::{ResultObserver, RunningAgent};
use super::token_renewal::HttpsRenewal;
use crate::bus::nats::AgentCredential;
use crate::settings::Settings;

/// An agent that runs beside others; it ends when it is dropped.
pub struct AgentInProcess {
    agent: Arc<RunningAgent>,
    stop: CancellationToken,
}

impl AgentInProcess {
    /// Starts the agent whose credential and data are in `settings.data_dir`. `observer` is shown each result before it
    /// is kept and sent.
    ///
    /// # Errors
    /// Fails for a folder without a credential, and when its parts cannot start.
    pub async fn start(settings: &Settings, observer: ResultObserver) -> anyhow::Result<Self> {
        let credential = AgentCredential::read(&settings.data_dir)?;
        let (agent, stored) = RunningAgent::start(settings, credential, Some(observer)).await?;
        let (agent, stop) = (Arc::new(agent), CancellationToken::new());
        let (served, stopped) = (Arc::clone(&agent), stop.clone());
        tokio::spawn(async move {
            let stopped = async {
                stopped.cancelled().await;
                "the process ends"
            };
            if let Err(error) = served.serve(stored, over_bus_only(), stopped).await {
                tracing::error!(error = format!("{error:#}"), "an agent ended");
            }
        });
        Ok(Self { agent, stop })
    }

    /// Whether it is connected to NATS.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.agent.connection.is_connected()
    }

    /// Returns the number of its planned monitors; 0 once it finished its checks.
    pub async fn planned_monitors(&self) -> usize {
        let stats = self.agent.port.parts.agent.runner().current_stats().await;
        stats.map(|load| load.planned_monitors).unwrap_or_default()
    }

    /// Starts no more checks, and waits for those that run. What they found is still kept and sent.
    pub async fn finish_checks(&self) {
        self.agent.finish_checks().await;
    }
}

impl Drop for AgentInProcess {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The token is renewed over the bus, long before it expires.
fn over_bus_only() -> HttpsRenewal {
    Arc::new(|_, _| Box::pin(async { anyhow::bail!("this agent has no API to renew its token at") }))
}
