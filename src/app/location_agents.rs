//! The locations that this process hosts, with a network and a runner for each; a reload starts and stops them.

use std::sync::Arc;

use anyhow::Context;

use super::last_known_accounts::LastKnownAccounts;
use super::supervisor::Supervisor;
use crate::agent;
use crate::agent::{
    AdmissionLimits, BlackoutLookup, ConnectivityDetector, ExecutionContext, ResultSink, RunnerHandle,
    RunnerHeartbeats, RunnerTasks,
};
use crate::clock::Clock;
use crate::domain::{CheckResult, Location, LocationId};
use crate::net::Net;
use crate::pipeline::Ingestor;
use crate::settings::{ConcurrencySettings, HostedLocation, Settings};
use crate::sync::RwLock;
use crate::telemetry::{Metrics, TaskName};

/// A location that this process hosts, with its runner.
#[derive(Clone)]
pub struct LocationAgent {
    /// The location.
    pub location: Location,
    /// Whether it verifies failures of monitors that do not run there.
    pub can_verify: bool,
    /// Runs its checks.
    pub runner: RunnerHandle,
    /// Its network.
    pub net: Arc<Net>,
    /// Detects a loss of its own connectivity, if targets for that are configured.
    pub connectivity: Option<Arc<ConnectivityDetector>>,
}

/// The locations that this process hosts now, the default of accounts first.
#[derive(Default)]
pub struct LocationAgents(RwLock<Arc<Vec<LocationAgent>>>);

impl LocationAgents {
    /// Hosts `agents`.
    #[must_use]
    pub fn new(agents: Vec<LocationAgent>) -> Self {
        Self(RwLock::new(Arc::new(agents)))
    }

    /// Returns the current agents; a reload does not change the list that was returned.
    #[must_use]
    pub fn current(&self) -> Arc<Vec<LocationAgent>> {
        Arc::clone(&self.0.read())
    }

    /// Removes the agents of `stopped`, adds `started`, and returns those that were removed.
    pub(super) fn replace(&self, stopped: &[LocationId], started: Vec<LocationAgent>) -> Vec<LocationAgent> {
        let mut current = self.0.write();
        let (removed, mut remaining): (Vec<_>, Vec<_>) =
            current.iter().cloned().partition(|agent| stopped.contains(&agent.location.id));
        remaining.extend(started);
        *current = Arc::new(remaining);
        removed
    }
}

/// Starts the agents of locations.
pub(super) struct AgentStarter {
    pub(super) ingestor: Arc<Ingestor>,
    pub(super) last_known_accounts: Arc<LastKnownAccounts>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) supervisor: Arc<Supervisor>,
}

impl AgentStarter {
    /// Starts a runner without monitors for each of the `hosted` locations of `settings`.
    ///
    /// # Errors
    /// Fails when the network of a location cannot be set up.
    pub(super) fn start(
        &self,
        settings: &Settings,
        hosted: Vec<HostedLocation>,
    ) -> anyhow::Result<Vec<LocationAgent>> {
        // All locations share the capacity for browsers.
        let location_count = settings.location_ids().len().max(1);
        let browser_capacity = (settings.probe.browser_pool.max_concurrent_checks() / location_count).max(1);
        hosted.into_iter().map(|hosted| self.start_agent(hosted, browser_capacity)).collect()
    }

    fn start_agent(&self, hosted: HostedLocation, browser_capacity: usize) -> anyhow::Result<LocationAgent> {
        let HostedLocation { location, net, proxy, proxies, concurrency, can_verify, connectivity_targets } =
            hosted;
        let error_context = || format!("the network of location `{}` cannot be set up", location.name);
        let net = Net::new(&net).with_context(error_context)?.with_default_proxy(proxy).with_proxies(proxies);
        let net = Arc::new(net);
        let connectivity =
            ConnectivityDetector::new(connectivity_targets, Arc::clone(&net), Arc::clone(&self.clock))
                .map(Arc::new);
        let blackout_lookup: Arc<dyn BlackoutLookup> = self.last_known_accounts.clone();
        let execution_context = ExecutionContext {
            connectivity_detector: connectivity.clone(),
            blackout_lookup: Some(blackout_lookup),
            ..ExecutionContext::new(Arc::clone(&net), Arc::clone(&self.clock))
        };
        let supervisor = &self.supervisor;
        let heartbeats = RunnerHeartbeats {
            runner: supervisor.heartbeat(TaskName::Runner),
            missed_runs: supervisor.heartbeat(TaskName::MissedRuns),
            checks: supervisor.heartbeat(TaskName::Check),
        };
        let runner_heartbeat = heartbeats.runner.clone();
        let RunnerTasks { handle, runner, missed_runs } = agent::new_runner(
            admission_limits(&concurrency, browser_capacity),
            execution_context,
            Arc::new(IngestSink(Arc::clone(&self.ingestor))),
            Arc::clone(&self.metrics),
            heartbeats,
        );
        supervisor.spawn(missed_runs);
        supervisor.spawn_essential(runner_heartbeat, runner.run());
        Ok(LocationAgent { location, can_verify, runner: handle, net, connectivity })
    }
}

/// Limits heavy checks to `browser_capacity`, so that they wait before they start and their time does not run.
fn admission_limits(concurrency: &ConcurrencySettings, browser_capacity: usize) -> AdmissionLimits {
    let ConcurrencySettings { total, light, heavy, per_target, queue_capacity, drain_timeout: _ } =
        *concurrency;
    let heavy = heavy.min(browser_capacity);
    AdmissionLimits {
        max_running: total,
        max_light: light,
        max_heavy: heavy,
        max_per_target: per_target,
        max_waiting: queue_capacity,
    }
}

/// Passes results to the ingest.
struct IngestSink(Arc<Ingestor>);

impl ResultSink for IngestSink {
    fn deliver(&self, result: CheckResult) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.submit(result))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn heavy_checks_are_limited_to_the_capacity_for_browsers() {
        let concurrency = ConcurrencySettings {
            total: 9,
            light: 8,
            heavy: 4,
            per_target: 3,
            queue_capacity: 2,
            drain_timeout: Duration::ZERO,
        };
        for (capacity, heavy) in [(1, 1), (4, 4), (usize::MAX, 4)] {
            assert_eq!(
                admission_limits(&concurrency, capacity),
                AdmissionLimits {
                    max_running: 9,
                    max_light: 8,
                    max_heavy: heavy,
                    max_per_target: 3,
                    max_waiting: 2
                }
            );
        }
    }
}
