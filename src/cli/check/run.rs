//! Runs the checks of the command line through the agent, without its schedule.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::subject::CheckSubject;
use crate::agent::{Assignment, ExecutionContext};
use crate::bus::contract::AssignedMonitor;
use crate::clock::{Clock, SystemClock};
use crate::domain::{CheckResult, CheckTrigger, CustomerId, LocationId, MonitorId, Revision};
use crate::net::{self, Net};
use crate::schema::{Monitor, Origin};
use crate::settings::{HostedLocation, Settings};
use crate::{agent, probe};

/// Monitors of a file that are checked concurrently.
const MAX_CONCURRENT_CHECKS: usize = 8;
/// Time for the browsers of aborted checks to exit.
const BROWSER_EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks `subjects` from `location`; returns the results in the same order. With `record_exchanges`, exchanges of
/// passing checks are recorded too.
pub(super) async fn run_checks(
    subjects: &[CheckSubject],
    settings: &Settings,
    location: &HostedLocation,
    record_exchanges: bool,
) -> anyhow::Result<Vec<CheckResult>> {
    // The first random number of a process takes 26 ms, which must not count in the first handshake.
    net::warm_up_crypto();
    let net = Net::new(&location.net).context("the network of this location cannot be set up")?;
    let net = net.with_default_proxy(location.proxy.clone()).with_proxies(location.proxies.clone());
    let execution_context = ExecutionContext {
        record_exchanges,
        trigger: CheckTrigger::OnDemand,
        ..ExecutionContext::new(Arc::new(net), Arc::new(SystemClock))
    };
    let cancellation = CancellationToken::new();
    let checks = subjects.iter().map(|subject| async {
        let assignment = build_assignment(subject, settings, location.location.id);
        agent::run_check(&assignment, SystemClock.now(), &execution_context, &cancellation).await
    });
    let results = stream::iter(checks).buffered(MAX_CONCURRENT_CHECKS).collect().await;
    // A browser that does not exit is ended by the next check that needs one.
    let _ = settings.probe.browser_pool.wait_until_all_closed(BROWSER_EXIT_TIMEOUT).await;
    Ok(results)
}

/// Builds an assignment for `subject`. The monitor id is 0, since nothing is stored.
fn build_assignment(subject: &CheckSubject, settings: &Settings, location: LocationId) -> Assignment {
    let monitor = Monitor {
        id: MonitorId(0),
        customer: CustomerId::OPERATOR,
        origin: Origin::Api,
        revision: Revision(1),
        modified_at: SystemClock.now(),
        document: Arc::new(subject.document.clone()),
        metadata: Arc::default(),
    };
    let probe = probe::build_probe(&monitor.document, &settings.probe);
    Assignment {
        schedule_offset: None,
        allows_unscheduled_checks: true,
        ..Assignment::new(&AssignedMonitor::new(monitor, None), location, probe)
    }
}
