//! Starts the locations that this process hosts: a network and a runner for each.

use std::sync::Arc;

use anyhow::Context;

use super::blackout_cache::BlackoutCache;
use super::local_planner::LocationAgent;
use super::supervisor::Supervisor;
use crate::agent;
use crate::agent::{
    AdmissionLimits, BlackoutLookup, ConnectivityDetector, ExecutionContext, ResultSink, RunnerHeartbeats,
    RunnerTasks,
};
use crate::clock::Clock;
use crate::domain::CheckResult;
use crate::net::Net;
use crate::pipeline::Ingestor;
use crate::settings::{ConcurrencySettings, HostedLocation, Settings};
use crate::telemetry::{Metrics, TaskName};

/// Starts a runner without monitors for each location of `settings`; results go to `ingestor`.
///
/// # Errors
/// Fails when the network of a location cannot be set up.
pub(super) fn start_agents(
    settings: &Settings,
    ingestor: &Arc<Ingestor>,
    blackout_cache: &Arc<BlackoutCache>,
    clock: &Arc<dyn Clock>,
    metrics: &Arc<Metrics>,
    supervisor: &Supervisor,
) -> anyhow::Result<Vec<LocationAgent>> {
    let sink: Arc<dyn ResultSink> = Arc::new(IngestSink(Arc::clone(ingestor)));
    // All locations share the capacity for browsers.
    let hosted = settings.hosted_locations();
    let browser_capacity = (settings.probe.browser_pool.max_concurrent_checks() / hosted.len().max(1)).max(1);
    let start_one =
        |hosted| start_agent(hosted, browser_capacity, blackout_cache, clock, &sink, metrics, supervisor);
    hosted.into_iter().map(start_one).collect()
}

fn start_agent(
    hosted: HostedLocation,
    browser_capacity: usize,
    blackout_cache: &Arc<BlackoutCache>,
    clock: &Arc<dyn Clock>,
    sink: &Arc<dyn ResultSink>,
    metrics: &Arc<Metrics>,
    supervisor: &Supervisor,
) -> anyhow::Result<LocationAgent> {
    let HostedLocation {
        location,
        net,
        proxy,
        proxies,
        concurrency,
        can_verify,
        connectivity_targets: connectivity,
    } = hosted;
    let error_context = || format!("the network of location `{}` cannot be set up", location.name);
    let net = Net::new(&net).with_context(error_context)?.with_default_proxy(proxy).with_proxies(proxies);
    let net = Arc::new(net);
    let connectivity =
        ConnectivityDetector::new(connectivity, Arc::clone(&net), Arc::clone(clock)).map(Arc::new);
    let blackout_lookup: Arc<dyn BlackoutLookup> = blackout_cache.clone();
    let execution_context = ExecutionContext {
        connectivity_detector: connectivity.clone(),
        blackout_lookup: Some(blackout_lookup),
        ..ExecutionContext::new(Arc::clone(&net), Arc::clone(clock))
    };
    let heartbeats = RunnerHeartbeats {
        runner: supervisor.heartbeat(TaskName::Runner),
        missed_runs: supervisor.heartbeat(TaskName::MissedRuns),
        checks: supervisor.heartbeat(TaskName::Check),
    };
    let runner_heartbeat = heartbeats.runner.clone();
    let RunnerTasks { handle, runner, missed_runs } = agent::new_runner(
        admission_limits(&concurrency, browser_capacity),
        execution_context,
        Arc::clone(sink),
        Arc::clone(metrics),
        heartbeats,
    );
    supervisor.spawn(missed_runs);
    supervisor.spawn_essential(runner_heartbeat, runner.run());
    Ok(LocationAgent { location, can_verify, runner: handle, net, connectivity })
}

/// Limits heavy checks to the browser `browser_capacity`, so that they wait before they start and their time does not run.
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
        let engine = ConcurrencySettings {
            total: 9,
            light: 8,
            heavy: 4,
            per_target: 3,
            queue_capacity: 2,
            drain_timeout: Duration::ZERO,
        };
        for (capacity, heavy) in [(1, 1), (4, 4), (usize::MAX, 4)] {
            assert_eq!(
                admission_limits(&engine, capacity),
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
