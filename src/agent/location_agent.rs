//! The agent of a location, as the bus calls it: it applies assignments, obeys orders and tells how it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::account_blackouts::AccountBlackouts;
use super::assignment::Assignment;
use super::connectivity::ConnectivityDetector;
use super::interfaces::ProbeBuilder;
use super::monitor_sharing::MonitorSharing;
use super::on_demand_run::OnDemandRunError;
use super::runner_handle::{AssignmentChange, RunnerHandle, RunnerStopped};
use crate::bus::contract::{
    AssignedCertificate, AssignedMonitor, AssignmentBatch, AssignmentError, AssignmentRevision,
    AssignmentSnapshot, AssignmentUpdate, BusFuture, CheckOrder, FirstCheckOrder, LocationPort, OrderError,
    Presence, RefusedAssignment, SpoolLoad, TracerouteOrder,
};
use crate::clock::Clock;
use crate::domain::{CapturedFile, CheckResult, Location, MonitorId};
use crate::net::{Deadline, Endpoint, Net, Pem};
use crate::sync::Mutex;
use crate::telemetry::{blocking_fault_point, panic_message};

/// The parts of an agent.
pub struct LocationAgentParts {
    /// Its location.
    pub location: Location,
    /// Runs its checks.
    pub runner: RunnerHandle,
    /// Its network.
    pub net: Arc<Net>,
    /// Detects a loss of its own connectivity, if targets for that are configured.
    pub connectivity: Option<Arc<ConnectivityDetector>>,
    /// Which monitors of its location its runner checks.
    pub sharing: Arc<MonitorSharing>,
    /// The blackouts that its runner looks up.
    pub account_blackouts: Arc<AccountBlackouts>,
    /// Builds the probes.
    pub probe_builder: Arc<dyn ProbeBuilder>,
    /// Number of browsers that it may run at once.
    pub browser_capacity: usize,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// The agent of a location.
pub struct LocationAgent {
    parts: LocationAgentParts,
    applied_revision: Mutex<AssignmentRevision>,
}

impl LocationAgent {
    /// Creates the agent, with nothing assigned.
    #[must_use]
    pub fn new(parts: LocationAgentParts) -> Self {
        Self { parts, applied_revision: Mutex::new(AssignmentRevision::EMPTY) }
    }

    /// Returns its location.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.parts.location
    }

    /// Returns what runs its checks.
    #[must_use]
    pub fn runner(&self) -> &RunnerHandle {
        &self.parts.runner
    }

    /// Returns its network.
    #[must_use]
    pub fn net(&self) -> &Arc<Net> {
        &self.parts.net
    }

    fn build_assignment(&self, assigned: &AssignedMonitor) -> Assignment {
        // A build does not use the store.
        let _ = blocking_fault_point("build_assignment");
        let probe = self.parts.probe_builder.build(&assigned.monitor, assigned.certificate_warning_days);
        Assignment::new(assigned, self.parts.location.id, probe)
    }

    /// Applies `updates`, after those of `changes` to the plan.
    async fn apply(
        &self,
        mut changes: Vec<AssignmentChange>,
        updates: Vec<AssignmentUpdate>,
    ) -> Result<Vec<RefusedAssignment>, AssignmentError> {
        let mut refused = Vec::new();
        changes.reserve(updates.len());
        for update in updates {
            match update {
                AssignmentUpdate::Assign(assigned) => {
                    // A monitor that crashes here at every start would keep the process from starting.
                    match catch_unwind(AssertUnwindSafe(|| self.build_assignment(&assigned))) {
                        Ok(assignment) => changes.push(AssignmentChange::Upsert(Arc::new(assignment))),
                        Err(payload) => {
                            let AssignedMonitor { monitor, .. } = assigned;
                            changes.push(cancel_change(monitor.id));
                            refused.push(RefusedAssignment {
                                monitor_id: monitor.id,
                                revision: monitor.revision,
                                error: format!("planning it panicked: {}", panic_message(payload.as_ref())),
                            });
                        }
                    }
                }
                AssignmentUpdate::Unassign { monitor_id, cancel_running } => {
                    changes.push(AssignmentChange::Remove { monitor_id, cancel_running });
                }
                AssignmentUpdate::SetAccount(account) => self.parts.account_blackouts.set(account),
                AssignmentUpdate::SetCertificates(certificates) => self.set_certificates(&certificates),
                AssignmentUpdate::SetMembers(members) => self.parts.sharing.set_members(members),
            }
        }
        if !changes.is_empty() {
            self.parts.runner.apply_changes(changes).await?;
        }
        Ok(refused)
    }

    fn set_certificates(&self, certificates: &[AssignedCertificate]) {
        let (mut authorities, mut clients) = (BTreeMap::new(), BTreeMap::new());
        for certificate in certificates {
            let pem = Pem { label: certificate.name.clone(), text: certificate.pem.to_vec() };
            let pems = if certificate.is_client { &mut clients } else { &mut authorities };
            pems.insert(certificate.id, pem);
        }
        let location = self.parts.location.name.as_str();
        for (certificate_id, error) in self.parts.net.set_certificates(authorities, clients) {
            tracing::error!(certificate_id, location, error = %error, "failed to load a certificate");
        }
    }

    /// Returns the reply of `order`, unless its deadline passes before.
    async fn within<T>(
        &self,
        timeout: Duration,
        order: impl Future<Output = Result<T, OrderError>> + Send,
    ) -> Result<T, OrderError> {
        tokio::select! {
            reply = order => reply,
            () = self.parts.clock.sleep(timeout) => Err(OrderError::TimedOut),
        }
    }

    async fn run_check(&self, assigned: &AssignedMonitor) -> Result<CheckResult, OrderError> {
        let assignment = Arc::new(self.build_assignment(assigned));
        self.parts.runner.run_assignment_now(assignment).await.map_err(|error| match error {
            OnDemandRunError::NotPlanned => OrderError::LocationOffline,
            OnDemandRunError::QueueFull => OrderError::QueueFull,
            OnDemandRunError::Stopped => OrderError::Stopped,
        })
    }

    async fn run_traceroute(&self, order: TracerouteOrder) -> Result<CapturedFile, OrderError> {
        let TracerouteOrder { monitor: assigned, address, timeout } = order;
        let probe = self.build_assignment(&assigned).probe;
        let endpoint = Endpoint {
            pinned_address: address,
            ..Endpoint::new(probe.target_host().ok_or(OrderError::NoTarget)?, 0)
        };
        let net = self.parts.net.with_egress_principal(assigned.monitor.egress_principal());
        Ok(net.traceroute_to_capture(&endpoint, Deadline::within(timeout)).await)
    }
}

impl LocationPort for LocationAgent {
    fn apply_snapshot(
        &self,
        snapshot: AssignmentSnapshot,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, AssignmentError>> {
        Box::pin(async move {
            let AssignmentSnapshot { revision, updates } = snapshot;
            let assigned: HashSet<MonitorId> = updates.iter().filter_map(assigned_id).collect();
            let planned = self.parts.runner.planned_monitors().await?;
            let removed = planned.into_iter().filter(|id| !assigned.contains(id)).map(cancel_change);
            let refused = self.apply(removed.collect(), updates).await?;
            *self.applied_revision.lock() = revision;
            Ok(refused)
        })
    }

    fn apply_batch(
        &self,
        batch: AssignmentBatch,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, AssignmentError>> {
        Box::pin(async move {
            let AssignmentBatch { previous_revision, revision, updates } = batch;
            let applied = *self.applied_revision.lock();
            if applied != previous_revision {
                return Err(AssignmentError::MissedRevisions { applied, required: previous_revision });
            }
            let refused = self.apply(Vec::new(), updates).await?;
            *self.applied_revision.lock() = revision;
            Ok(refused)
        })
    }

    fn check(&self, order: CheckOrder) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        Box::pin(async move { self.within(order.timeout, self.run_check(&order.monitor)).await })
    }

    fn first_check(&self, order: FirstCheckOrder) -> BusFuture<'_, Result<bool, OrderError>> {
        Box::pin(async move {
            let request = self.parts.runner.request_first_check(order.monitor_id, order.planned_at);
            self.within(order.timeout, async { request.await.map_err(|RunnerStopped| OrderError::Stopped) })
                .await
        })
    }

    fn traceroute(&self, order: TracerouteOrder) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        Box::pin(self.run_traceroute(order))
    }

    fn presence(&self) -> Option<Presence> {
        let LocationAgentParts { location, runner, connectivity, browser_capacity, clock, .. } = &self.parts;
        runner.is_alive().then(|| Presence {
            location_id: location.id,
            agent_id: None,
            version: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            sent_at: clock.now(),
            clock_offset_us: None,
            load: runner.last_load(),
            browser_capacity: *browser_capacity,
            is_isolated: connectivity.as_ref().is_some_and(|connectivity| connectivity.is_isolated()),
            assignment_revision: *self.applied_revision.lock(),
            is_draining: false,
            weight: 1,
            lateness: Duration::ZERO,
            spool: SpoolLoad::default(),
            network: Arc::default(),
        })
    }
}

impl From<RunnerStopped> for AssignmentError {
    fn from(RunnerStopped: RunnerStopped) -> Self {
        Self::Stopped
    }
}

fn assigned_id(update: &AssignmentUpdate) -> Option<MonitorId> {
    match update {
        AssignmentUpdate::Assign(assigned) => Some(assigned.monitor.id),
        _ => None,
    }
}

fn cancel_change(monitor_id: MonitorId) -> AssignmentChange {
    AssignmentChange::Remove { monitor_id, cancel_running: true }
}
