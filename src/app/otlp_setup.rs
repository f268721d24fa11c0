//! Wires the export by OTLP: what was stored goes to the exporter, which connects under the same egress policy as checks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::catalog::MonitorCache;
use crate::clock::Clock;
use crate::domain::{CheckResult, LocationId};
use crate::export::otlp::{CheckContext, ExportedCheck, OtlpExporter, OtlpHandle};
use crate::net::Net;
use crate::pipeline::{CommitObserver, Planner};
use crate::settings::Settings;
use crate::sync::Mutex;
use crate::telemetry::{Metrics, TaskHeartbeat};

/// Time after which the names of locations are read again.
const LOCATIONS_REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// Creates the exporter, to be run, and its handle.
///
/// # Errors
/// Fails when the network cannot be set up.
pub(super) fn new_otlp_exporter(
    settings: &Settings,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    heartbeat: TaskHeartbeat,
) -> anyhow::Result<(OtlpHandle, OtlpExporter)> {
    let net = Net::new(&settings.net)?;
    Ok(OtlpExporter::new(settings.otlp.clone(), &net, clock, metrics, heartbeat))
}

/// Hands stored results to the exporter, with what the process knows of their monitors.
pub(super) struct OtlpCommitObserver {
    pub(super) handle: OtlpHandle,
    pub(super) monitor_cache: Arc<MonitorCache>,
    pub(super) planner: Arc<dyn Planner>,
    pub(super) location_names: Mutex<LocationNames>,
}

/// Names of locations, read again every few seconds.
#[derive(Default)]
pub(super) struct LocationNames {
    names: HashMap<LocationId, Arc<str>>,
    read_at: Option<Instant>,
}

impl LocationNames {
    /// Returns the name of `location`; empty when it is unknown.
    fn get(&mut self, location: LocationId, planner: &dyn Planner) -> Arc<str> {
        if self.read_at.is_none_or(|at| at.elapsed() >= LOCATIONS_REFRESH_INTERVAL) {
            self.read_at = Some(Instant::now());
            let statuses = planner.agent_statuses();
            self.names = statuses
                .into_iter()
                .map(|status| (status.location.id, status.location.name.into()))
                .collect();
        }
        self.names.get(&location).cloned().unwrap_or_default()
    }
}

impl CommitObserver for OtlpCommitObserver {
    fn on_committed(&self, results: &[CheckResult]) {
        let Some(settings) = self.handle.settings() else { return };
        let with_failures = settings.signals.describes_failures();
        for result in results {
            // One that was deleted meanwhile has no account any more.
            let Some(monitor) = self.monitor_cache.get(result.monitor_id) else { continue };
            if !settings.exports_account(monitor.customer) {
                continue;
            }
            let context = CheckContext {
                account: monitor.customer,
                monitor_key: monitor.origin.key().map(Arc::from),
                location_name: self.location_names.lock().get(result.location_id, self.planner.as_ref()),
            };
            self.handle.submit(ExportedCheck::from_result(result, context, with_failures));
        }
    }
}
