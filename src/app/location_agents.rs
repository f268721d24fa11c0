//! The locations that this process hosts, with an agent for each; a reload starts and stops them.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;

use super::host_probe_builder::HostProbeBuilder;
use super::supervisor::Supervisor;
use crate::agent;
use crate::agent::{
    AccountBlackouts, AdmissionLimits, BlackoutLookup, ConnectivityDetector, ExecutionContext, LocationAgent,
    LocationAgentParts, MonitorSharing, RunnerHeartbeats, RunnerTasks,
};
use crate::bus::InProcessBus;
use crate::bus::contract::{ConnectedLocation, LocationPort, ResultSink};
use crate::clock::Clock;
use crate::domain::{Location, LocationId};
use crate::net::{Net, UpstreamProxy};
use crate::settings::{ConcurrencySettings, HostedLocation, Settings};
use crate::sync::RwLock;
use crate::telemetry::{Metrics, TaskName};

/// An agent of this process.
#[derive(Clone)]
pub struct HostedAgent {
    /// The agent.
    pub agent: Arc<LocationAgent>,
    /// Whether it verifies failures of monitors that do not run there.
    pub can_verify: bool,
}

/// The agents of this process, the default location of accounts first. They are connected to the bus.
#[derive(Default)]
pub struct LocationAgents {
    agents: RwLock<Arc<Vec<HostedAgent>>>,
    bus: Arc<InProcessBus>,
}

impl LocationAgents {
    /// Connects `agents` to `bus`.
    #[must_use]
    pub fn new(bus: Arc<InProcessBus>, agents: Vec<HostedAgent>) -> Self {
        let connected = Self { agents: RwLock::default(), bus };
        connected.replace(&[], agents);
        connected
    }

    /// Returns the current agents; a reload does not change the list that was returned.
    #[must_use]
    pub fn current(&self) -> Arc<Vec<HostedAgent>> {
        Arc::clone(&self.agents.read())
    }

    /// Returns the current locations.
    #[must_use]
    pub fn locations(&self) -> Vec<Location> {
        self.agents.read().iter().map(|hosted| hosted.agent.location().clone()).collect()
    }

    /// Removes the agents of `stopped`, adds `started`, and returns those that were removed.
    pub(super) fn replace(&self, stopped: &[LocationId], started: Vec<HostedAgent>) -> Vec<HostedAgent> {
        let mut current = self.agents.write();
        let (removed, mut remaining): (Vec<_>, Vec<_>) =
            current.iter().cloned().partition(|hosted| stopped.contains(&hosted.agent.location().id));
        let added = started.iter().map(|hosted| {
            let location = hosted.agent.location().clone();
            let port: Arc<dyn LocationPort> = hosted.agent.clone();
            (ConnectedLocation { location, can_verify: hosted.can_verify }, port)
        });
        self.bus.replace(stopped, added.collect());
        remaining.extend(started);
        *current = Arc::new(remaining);
        removed
    }

    /// Sets the proxies of the checks at every location.
    pub(super) fn update_proxies(&self, proxies: &BTreeMap<i64, UpstreamProxy>) {
        for hosted in self.current().iter() {
            hosted.agent.net().set_proxies(proxies.clone());
        }
    }
}

/// Starts the agents of locations.
pub(super) struct AgentStarter {
    pub(super) result_sink: Arc<dyn ResultSink>,
    pub(super) probe_builder: Arc<HostProbeBuilder>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) supervisor: Arc<Supervisor>,
    /// Which monitors of the location are checked here: all of them, except with `vigie agent run`.
    pub(super) sharing: Arc<MonitorSharing>,
}

impl AgentStarter {
    /// Starts an agent without monitors for each of the `hosted` locations of `settings`.
    ///
    /// # Errors
    /// Fails when the network of a location cannot be set up.
    pub(super) fn start(
        &self,
        settings: &Settings,
        hosted: Vec<HostedLocation>,
    ) -> anyhow::Result<Vec<HostedAgent>> {
        // All locations share the capacity for browsers.
        let location_count = settings.location_ids().len().max(1);
        self.probe_builder.set_location_count(location_count);
        let browser_capacity = (settings.probe.browser_pool.max_concurrent_checks() / location_count).max(1);
        hosted.into_iter().map(|hosted| self.start_agent(hosted, browser_capacity)).collect()
    }

    fn start_agent(&self, hosted: HostedLocation, browser_capacity: usize) -> anyhow::Result<HostedAgent> {
        let HostedLocation { location, net, proxy, proxies, concurrency, can_verify, connectivity_targets } =
            hosted;
        let error_context = || format!("the network of location `{}` cannot be set up", location.name);
        let net = Net::new(&net).with_context(error_context)?.with_default_proxy(proxy).with_proxies(proxies);
        let net = Arc::new(net);
        let connectivity =
            ConnectivityDetector::new(connectivity_targets, Arc::clone(&net), Arc::clone(&self.clock))
                .map(Arc::new);
        let account_blackouts = Arc::new(AccountBlackouts::default());
        let blackout_lookup: Arc<dyn BlackoutLookup> = account_blackouts.clone();
        let execution_context = ExecutionContext {
            connectivity_detector: connectivity.clone(),
            blackout_lookup: Some(blackout_lookup),
            sharing: Arc::clone(&self.sharing),
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
            Arc::clone(&self.result_sink),
            Arc::clone(&self.metrics),
            heartbeats,
        );
        supervisor.spawn(missed_runs);
        supervisor.spawn_essential(runner_heartbeat, runner.run());
        let parts = LocationAgentParts {
            location,
            runner: handle,
            net,
            connectivity,
            account_blackouts,
            sharing: Arc::clone(&self.sharing),
            probe_builder: self.probe_builder.clone(),
            browser_capacity,
            clock: Arc::clone(&self.clock),
        };
        Ok(HostedAgent { agent: Arc::new(LocationAgent::new(parts)), can_verify })
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
