//! The planner over the runners of this process, one for each location that it hosts.

use crate::sync::{Mutex, RwLock};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use tokio_util::sync::CancellationToken;

use super::first_checks::{FirstCheckTask, FirstChecks};
use super::last_known_accounts::LastKnownAccounts;
use super::location_agents::{LocationAgent, LocationAgents};
use crate::agent::{Assignment, AssignmentChange, OnDemandRunError};
use crate::catalog::{AccountCache, AccountSnapshot, MonitorCache};
use crate::clock::Clock;
use crate::domain::{CapturedFile, CheckResult, CustomerId, LocationId, MonitorId, Timestamp};
use crate::net::{Deadline, Endpoint, UpstreamProxy};
use crate::pipeline::{AgentStatus, Ingestor, PlanError, PlanFuture, Planner};
use crate::probe::{self, ProbeBuildContext};
use crate::schedule::LocationRotation;
use crate::schema::Monitor;
use crate::service::LastRunLookup;
use crate::store::MonitorLocationState;
use crate::telemetry::{TaskHeartbeat, blocking_fault_point, panic_message};

/// The account settings that planning depends on: default location pool, and days before a certificate expires.
type PlanningSettings = (Vec<i64>, u32);

/// Longest that a traceroute may take.
const TRACEROUTE_TIMEOUT: Duration = Duration::from_secs(15);

/// The time up to which the slots of each monitor are recorded, by location.
pub type SlotsRecordedUntil = HashMap<LocationId, HashMap<MonitorId, Timestamp>>;

/// Dependencies of the planner.
pub struct PlannerDependencies {
    /// The locations that this process hosts.
    pub agents: Arc<LocationAgents>,
    /// Receives monitor changes; supplies monitor states.
    pub ingestor: Arc<Ingestor>,
    /// Supplies account data.
    pub account_cache: Arc<AccountCache>,
    /// Updated with the account data read.
    pub last_known_accounts: Arc<LastKnownAccounts>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// Settings that all checks share.
    pub probe_context: ProbeBuildContext,
}

/// Plans each monitor at those locations of its pool that this process hosts.
pub struct LocalPlanner {
    agents: Arc<LocationAgents>,
    ingestor: Arc<Ingestor>,
    account_cache: Arc<AccountCache>,
    last_known_accounts: Arc<LastKnownAccounts>,
    clock: Arc<dyn Clock>,
    probe_context: RwLock<ProbeBuildContext>,
    /// The settings that each account's monitors were last planned with.
    planned_settings: Mutex<HashMap<CustomerId, PlanningSettings>>,
    first_checks: Arc<FirstChecks>,
}

impl LocalPlanner {
    /// Creates the planner.
    #[must_use]
    pub fn new(dependencies: PlannerDependencies) -> Self {
        let PlannerDependencies {
            agents,
            ingestor,
            account_cache,
            last_known_accounts,
            clock,
            probe_context,
        } = dependencies;
        let (probe_context, planned_settings) = (RwLock::new(probe_context), Mutex::default());
        Self {
            agents,
            ingestor,
            account_cache,
            last_known_accounts,
            clock,
            probe_context,
            planned_settings,
            first_checks: Arc::default(),
        }
    }

    /// Returns the task that starts the first checks until `stop`; run one.
    #[must_use]
    pub fn first_check_task(&self, stop: CancellationToken, heartbeat: TaskHeartbeat) -> FirstCheckTask {
        FirstCheckTask {
            first_checks: Arc::clone(&self.first_checks),
            agents: Arc::clone(&self.agents),
            clock: Arc::clone(&self.clock),
            stop,
            heartbeat,
        }
    }

    /// Sets the settings for checks planned from now on. The keys stay the same.
    pub(super) fn update_probe_context(&self, probe_context: ProbeBuildContext) {
        let mut current = self.probe_context.write();
        // Probes that were built before share it.
        current.settings_redactor.replace_by(&probe_context.settings_redactor);
        *current = ProbeBuildContext {
            keyring: current.keyring.take(),
            pattern_caches: Arc::clone(&current.pattern_caches),
            settings_redactor: Arc::clone(&current.settings_redactor),
            ..probe_context
        };
    }

    /// Sets the proxies of the checks at every location.
    pub(super) fn update_proxies(&self, proxies: &BTreeMap<i64, UpstreamProxy>) {
        for agent in self.agents.current().iter() {
            agent.net.set_proxies(proxies.clone());
        }
    }

    /// Plans `upserts`; the slots of each until the time in `recorded_until` are recorded.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] when a runner has stopped.
    pub async fn plan_monitors(
        &self,
        upserts: &[Monitor],
        removed_ids: &[MonitorId],
        recorded_until: &SlotsRecordedUntil,
    ) -> Result<(), PlanError> {
        let (now, agents) = (self.clock.now(), self.agents.current());
        let mut changes: Vec<Vec<AssignmentChange>> =
            agents.iter().map(|_| removed_ids.iter().copied().map(remove_change).collect()).collect();
        let mut snapshot_by_customer: HashMap<CustomerId, Option<Arc<AccountSnapshot>>> = HashMap::new();
        for monitor in upserts {
            let account_snapshot = match snapshot_by_customer.entry(monitor.customer) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(self.read_account_snapshot(monitor.customer).await),
            };
            let account_snapshot = account_snapshot.as_deref();
            let plan = monitor
                .is_active(now)
                .then(|| monitor.run_plan(&self.location_pool(monitor, account_snapshot)));
            // Built once, and only for a monitor that runs at a location of this process.
            let mut base_assignment: Option<Assignment> = None;
            let mut panic = None;
            for (agent, changes) in agents.iter().zip(&mut changes) {
                let location_id = agent.location.id;
                let Some(rotation) = plan.as_ref().and_then(|plan| plan.location_rotation(location_id))
                else {
                    changes.push(remove_change(monitor.id));
                    continue;
                };
                if base_assignment.is_none() {
                    // A monitor that crashes here at every start would keep the process from starting.
                    let build = || self.build_assignment(monitor, account_snapshot, location_id);
                    match catch_unwind(AssertUnwindSafe(build)) {
                        Ok(assignment) => base_assignment = Some(assignment),
                        Err(payload) => {
                            changes.push(remove_change(monitor.id));
                            panic = Some(panic_message(payload.as_ref()).to_owned());
                            continue;
                        }
                    }
                }
                let Some(base_assignment) = &base_assignment else { continue };
                let last_planned_at = recorded_until
                    .get(&location_id)
                    .and_then(|recorded_until| recorded_until.get(&monitor.id))
                    .copied();
                let state = self.ingestor.monitor_state_at(monitor.id, location_id);
                let last_full_page_at = state.and_then(|state| state.last_full_page_at);
                let assignment = Assignment {
                    location_id,
                    location_rotation: rotation,
                    last_planned_at,
                    last_full_page_at,
                    ..base_assignment.clone()
                };
                changes.push(AssignmentChange::Upsert(Arc::new(assignment)));
            }
            if let Some(panic) = panic {
                self.ingestor.quarantine_monitor(monitor, &format!("planning it panicked: {panic}")).await;
            }
        }
        // Before the first results of the monitors.
        self.ingestor.update_monitors(upserts.to_vec(), removed_ids.to_vec()).await;
        let pending_changes =
            agents.iter().zip(changes).map(|(agent, changes)| agent.runner.apply_changes(changes));
        try_join_all(pending_changes).await.map_err(|_| PlanError::Stopped)?;
        self.ingestor.remove_monitor_states(removed_ids);
        Ok(())
    }

    /// Replans the monitors of accounts whose planning settings have changed.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] when a runner has stopped.
    pub async fn replan_changed_accounts(&self, monitor_cache: &MonitorCache) -> Result<(), PlanError> {
        let planned_settings = self.planned_settings.lock().clone();
        for (customer, old_settings) in planned_settings {
            let Some(account_snapshot) = self.read_account_snapshot(customer).await else { continue };
            let new_settings = planning_settings(&account_snapshot);
            if new_settings == old_settings {
                continue;
            }
            // Otherwise newer revisions planned meanwhile would be replaced by older ones.
            let _lock = monitor_cache.lock_exclusive().await;
            // Inactive monitors have no runs to replan; a replan would cancel their on-demand tests.
            let (monitor_count, now) = (monitor_cache.len(), self.clock.now());
            let is_affected = |monitor: &Monitor| monitor.customer == customer && monitor.is_active(now);
            let monitors = monitor_cache.list_from(MonitorId(i64::MIN), monitor_count, is_affected);
            self.plan_monitors(&monitors, &[], &SlotsRecordedUntil::new()).await?;
            self.planned_settings.lock().insert(customer, new_settings);
        }
        Ok(())
    }

    /// Reads an account, also into `last_known_accounts`; `None` when the store fails: its settings then do not apply.
    async fn read_account_snapshot(&self, customer: CustomerId) -> Option<Arc<AccountSnapshot>> {
        match self.account_cache.account(customer).await {
            Ok(account_snapshot) => {
                self.last_known_accounts.update(&account_snapshot);
                let mut planned_settings = self.planned_settings.lock();
                // Only the first time: `replan_changed_accounts` finds later changes and replans the whole account.
                planned_settings.entry(customer).or_insert_with(|| planning_settings(&account_snapshot));
                Some(account_snapshot)
            }
            Err(error) => {
                tracing::warn!(customer_id = %customer, error = %error, "failed to read an account; its monitors are planned without its settings");
                None
            }
        }
    }

    /// Returns the locations of `monitor`: its own, those of its account, or the first one of this process.
    fn location_pool(
        &self,
        monitor: &Monitor,
        account_snapshot: Option<&AccountSnapshot>,
    ) -> Vec<LocationId> {
        if let Some(account_snapshot) = account_snapshot {
            return account_snapshot.location_pool_ids(monitor).into_iter().map(LocationId).collect();
        }
        let own_locations = monitor.document.location_ids();
        let first_location =
            || self.agents.current().first().map(|agent| agent.location.id).into_iter().collect();
        if own_locations.is_empty() { first_location() } else { own_locations }
    }

    fn agent_at(&self, location: LocationId) -> Result<LocationAgent, PlanError> {
        let agents = self.agents.current();
        agents.iter().find(|agent| agent.location.id == location).cloned().ok_or(PlanError::LocationOffline)
    }

    /// Builds the assignment of `monitor` at `location`, with the rotation that runs every time.
    fn build_assignment(
        &self,
        monitor: &Monitor,
        account_snapshot: Option<&AccountSnapshot>,
        location: LocationId,
    ) -> Assignment {
        // Planning does not use the store.
        let _ = blocking_fault_point("build_assignment");
        let document = &monitor.document;
        let build_context = {
            let probe_context = self.probe_context.read();
            let certificate_days = account_snapshot
                .map_or(probe_context.certificate_warning_days, |account_snapshot| {
                    account_snapshot.certificate_warning_days
                });
            ProbeBuildContext {
                certificate_warning_days: certificate_days,
                monitor_id: monitor.id,
                customer_id: monitor.customer,
                ..probe_context.clone()
            }
        };
        let (probe, concurrency_class) = probe::build_probe(document, &build_context);
        Assignment {
            monitor_id: monitor.id,
            customer_id: monitor.customer,
            egress_principal: monitor.egress_principal(),
            revision: monitor.revision,
            monitor_name: monitor.name().into(),
            billing_plancode: document.billing_plancode().into(),
            monitor_type: monitor.monitor_type(),
            interval: monitor.interval(),
            schedule_offset: monitor.schedule_offset(),
            location_rotation: LocationRotation::default(),
            attempt_timeout: probe.time_limit(monitor.timeout()),
            retries_failure: document.settings().schedule.retry_on_failure,
            location_id: location,
            probe,
            concurrency_class,
            allows_unscheduled_checks: document.settings().schedule.allow_on_demand_tests,
            last_planned_at: None,
            last_full_page_at: None,
        }
    }
}

fn remove_change(monitor_id: MonitorId) -> AssignmentChange {
    AssignmentChange::Remove { monitor_id, cancel_running: true }
}

fn planning_settings(account_snapshot: &AccountSnapshot) -> PlanningSettings {
    (account_snapshot.default_location_ids.clone(), account_snapshot.certificate_warning_days)
}

impl Planner for LocalPlanner {
    fn apply_monitor_changes(
        &self,
        upserts: Vec<Monitor>,
        removed_ids: Vec<MonitorId>,
    ) -> PlanFuture<'_, ()> {
        Box::pin(async move { self.plan_monitors(&upserts, &removed_ids, &SlotsRecordedUntil::new()).await })
    }

    fn request_first_checks(&self, monitors: &[Monitor]) {
        let locations = self.agents.current().iter().map(|agent| agent.location.id).collect();
        self.first_checks.request(monitors, &locations, self.clock.now());
    }

    fn run_check_now(&self, monitor: Monitor, location: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(async move {
            let agent = self.agent_at(location)?;
            let account_snapshot = self.read_account_snapshot(monitor.customer).await;
            let assignment = Arc::new(self.build_assignment(&monitor, account_snapshot.as_deref(), location));
            agent.runner.run_assignment_now(assignment).await.map_err(|error| match error {
                OnDemandRunError::NotPlanned => PlanError::LocationOffline,
                OnDemandRunError::QueueFull => PlanError::QueueFull,
                OnDemandRunError::Stopped => PlanError::Stopped,
            })
        })
    }

    fn run_traceroute(
        &self,
        monitor: Monitor,
        location: LocationId,
        address: Option<IpAddr>,
    ) -> PlanFuture<'_, CapturedFile> {
        Box::pin(async move {
            let net = self.agent_at(location)?.net.with_egress_principal(monitor.egress_principal());
            let account_snapshot = self.read_account_snapshot(monitor.customer).await;
            let probe = self.build_assignment(&monitor, account_snapshot.as_deref(), location).probe;
            let endpoint = Endpoint {
                pinned_address: address,
                ..Endpoint::new(probe.target_host().ok_or(PlanError::LocationOffline)?, 0)
            };
            Ok(net.traceroute_to_capture(&endpoint, Deadline::within(TRACEROUTE_TIMEOUT)).await)
        })
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        let agents = self.agents.current();
        let hosted_statuses = agents.iter().map(|agent| AgentStatus {
            location: agent.location.clone(),
            is_alive: agent.runner.is_alive(),
            is_isolated: agent.connectivity.as_ref().is_some_and(|connectivity| connectivity.is_isolated()),
            can_verify: agent.can_verify,
        });
        let other_locations = self.last_known_accounts.locations().into_values();
        let other_locations = other_locations.filter(|location| self.agent_at(location.id).is_err());
        let to_offline_status =
            |location| AgentStatus { location, is_alive: false, is_isolated: false, can_verify: false };
        hosted_statuses.chain(other_locations.map(to_offline_status)).collect()
    }
}

impl LastRunLookup for LocalPlanner {
    fn last_run(&self, monitor: &Monitor) -> Option<MonitorLocationState> {
        let agents = self.agents.current();
        let states =
            agents.iter().filter_map(|agent| self.ingestor.monitor_state_at(monitor.id, agent.location.id));
        states.max_by_key(|state| state.planned_at)
    }
}
