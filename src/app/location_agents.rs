//! Starts the locations that this process hosts: a network and a runner for each.

use std::sync::Arc;

use anyhow::Context;

use super::blackout_cache::BlackoutCache;
use super::local_planner::LocationAgent;
use crate::agent;
use crate::agent::{AdmissionLimits, BlackoutLookup, ConnectivityDetector, ExecutionContext, ResultSink};
use crate::clock::Clock;
use crate::domain::CheckResult;
use crate::net::Net;
use crate::pipeline::Ingestor;
use crate::settings::{ConcurrencySettings, HostedLocation, Settings};
use crate::telemetry::Metrics;

/// Starts a runner without monitors for each location of `settings`; results go to `ingestor`.
///
/// # Errors
/// Fails when the network of a location cannot be set up.
pub(super) fn start_agents(
    settings: &Settings,
    ingestor: &Arc<Ingestor>,
    blackouts: &Arc<BlackoutCache>,
    clock: &Arc<dyn Clock>,
    metrics: &Arc<Metrics>,
) -> anyhow::Result<Vec<LocationAgent>> {
    let sink: Arc<dyn ResultSink> = Arc::new(IngestSink(Arc::clone(ingestor)));
    // All locations share the capacity for browsers.
    let hosted = settings.hosted_locations();
    let capacity = (settings.probe.browser_pool.max_concurrent_checks() / hosted.len().max(1)).max(1);
    let start = |hosted| start_agent(hosted, capacity, blackouts, clock, &sink, metrics);
    hosted.into_iter().map(start).collect()
}

fn start_agent(
    hosted: HostedLocation,
    capacity: usize,
    blackout_cache: &Arc<BlackoutCache>,
    clock: &Arc<dyn Clock>,
    sink: &Arc<dyn ResultSink>,
    metrics: &Arc<Metrics>,
) -> anyhow::Result<LocationAgent> {
    let HostedLocation {
        location,
        net,
        proxy,
        proxies,
        concurrency: engine,
        can_verify: verifies,
        connectivity_targets: connectivity,
    } = hosted;
    let unusable = || format!("the network of location `{}` cannot be set up", location.name);
    let net = Net::new(&net).with_context(unusable)?.with_default_proxy(proxy).with_proxies(proxies);
    let net = Arc::new(net);
    let connectivity =
        ConnectivityDetector::new(connectivity, Arc::clone(&net), Arc::clone(clock)).map(Arc::new);
    let blackouts: Arc<dyn BlackoutLookup> = blackout_cache.clone();
    let cx = ExecutionContext {
        connectivity_detector: connectivity.clone(),
        blackout_lookup: Some(blackouts),
        ..ExecutionContext::new(Arc::clone(&net), Arc::clone(clock))
    };
    let runner =
        agent::start_runner(admission_limits(&engine, capacity), cx, Arc::clone(sink), Arc::clone(metrics));
    Ok(LocationAgent { location, can_verify: verifies, runner, net, connectivity })
}

/// Limits heavy checks to the browser `capacity`, so that they wait before they start and their time does not run.
fn admission_limits(engine: &ConcurrencySettings, capacity: usize) -> AdmissionLimits {
    let ConcurrencySettings { total, light, heavy, per_target, queue_capacity: queue, drain_timeout: _ } =
        *engine;
    let heavy = heavy.min(capacity);
    AdmissionLimits {
        max_running: total,
        max_light: light,
        max_heavy: heavy,
        max_per_target: per_target,
        max_waiting: queue,
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
