//! Runs checks for a command through the agent, without its schedule.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::agent::{Assignment, ExecutionContext};
use crate::bus::contract::AssignedMonitor;
use crate::clock::{Clock, SystemClock};
use crate::domain::{CheckResult, CheckTrigger, CustomerId, LocationId, MonitorId, Revision};
use crate::net::{self, Net};
use crate::schema::{Monitor, MonitorDocument, Origin};
use crate::settings::{HostedLocation, Settings};
use crate::{agent, probe};

/// Time for the browsers of aborted checks to exit.
const BROWSER_EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks monitors from one location. Nothing is stored.
pub(super) struct CheckRunner<'s> {
    settings: &'s Settings,
    location: LocationId,
    execution_context: ExecutionContext,
}

impl<'s> CheckRunner<'s> {
    /// Creates a runner at `location`. With `record_exchanges`, exchanges of passing checks are recorded too.
    ///
    /// # Errors
    /// Fails when the network of the location cannot be set up.
    pub(super) fn new(
        settings: &'s Settings,
        location: &HostedLocation,
        record_exchanges: bool,
    ) -> anyhow::Result<Self> {
        // The first random number of a process takes 26 ms, which must not count in the first handshake.
        net::warm_up_crypto();
        let net = Net::new(&location.net).context("the network of this location cannot be set up")?;
        let net = net.with_default_proxy(location.proxy.clone()).with_proxies(location.proxies.clone());
        let execution_context = ExecutionContext {
            record_exchanges,
            trigger: CheckTrigger::OnDemand,
            ..ExecutionContext::new(Arc::new(net), Arc::new(SystemClock))
        };
        Ok(Self { settings, location: location.location.id, execution_context })
    }

    /// Checks `document` once, with its retry; ends at once when `cancellation` is cancelled.
    pub(super) async fn check(
        &self,
        document: &MonitorDocument,
        cancellation: &CancellationToken,
    ) -> CheckResult {
        let assignment = self.build_assignment(document);
        agent::run_check(&assignment, SystemClock.now(), &self.execution_context, cancellation).await
    }

    /// Waits until the browsers of all checks have exited, for a limited time.
    pub(super) async fn close_browsers(&self) {
        // A browser that does not exit is ended by the next check that needs one.
        let _ = self.settings.probe.browser_pool.wait_until_all_closed(BROWSER_EXIT_TIMEOUT).await;
    }

    /// Builds an assignment for `document`. The monitor id is 0, since nothing is stored.
    fn build_assignment(&self, document: &MonitorDocument) -> Assignment {
        let monitor = Monitor {
            id: MonitorId(0),
            customer: CustomerId::OPERATOR,
            origin: Origin::Api,
            revision: Revision(1),
            modified_at: SystemClock.now(),
            document: Arc::new(document.clone()),
            metadata: Arc::default(),
        };
        let probe = probe::build_probe(&monitor.document, &self.settings.probe);
        Assignment {
            schedule_offset: None,
            allows_unscheduled_checks: true,
            ..Assignment::new(&AssignedMonitor::new(monitor, None), self.location, probe)
        }
    }
}
