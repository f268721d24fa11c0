//! The planner over the bus: it assigns each monitor to the locations of its pool, and gives the locations orders.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use tokio_util::sync::CancellationToken;

use super::first_checks::{FirstCheckTask, FirstChecks};
use super::last_known_accounts::LastKnownAccounts;
use crate::bus::contract::{
    AssignedAccount, AssignedCertificate, AssignedMonitor, AssignmentUpdate, BusFuture, CheckOrder,
    ConnectedLocation, LocationBus, OrderError, PublishError, RefusedAssignment, SnapshotSource,
    TracerouteOrder,
};
use crate::catalog::{AccountCache, AccountSnapshot, MonitorCache};
use crate::clock::Clock;
use crate::domain::{CapturedFile, CheckResult, CustomerId, LocationId, MonitorId, Timestamp};
use crate::pipeline::{AgentStatus, Ingestor, PlanError, PlanFuture, Planner};
use crate::schedule::RunPlan;
use crate::schema::Monitor;
use crate::service::LastRunLookup;
use crate::store::MonitorLocationState;
use crate::sync::{Mutex, RwLock};
use crate::telemetry::TaskHeartbeat;

/// The account settings that planning depends on: default location pool, and days before a certificate expires.
type PlanningSettings = (Vec<i64>, u32);

/// Longest that a traceroute may take.
const TRACEROUTE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long an order of a check waits for admission, beside the check itself and one of the monitor before it.
const CHECK_ORDER_GRACE: Duration = Duration::from_mins(1);

/// The time up to which the slots of each monitor are recorded, by location.
pub type SlotsRecordedUntil = HashMap<LocationId, HashMap<MonitorId, Timestamp>>;

/// Dependencies of the planner.
pub struct PlannerDependencies {
    /// The locations.
    pub bus: Arc<dyn LocationBus>,
    /// Receives monitor changes; supplies monitor states.
    pub ingestor: Arc<Ingestor>,
    /// The monitors, for locations that missed changes.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies account data.
    pub account_cache: Arc<AccountCache>,
    /// Updated with the account data read.
    pub last_known_accounts: Arc<LastKnownAccounts>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// An active monitor and its runs.
pub(super) struct PlannedMonitor {
    pub(super) monitor: Monitor,
    pub(super) run_plan: RunPlan,
    /// Since when it has these runs, as far as the process knows.
    pub(super) planned_since: Timestamp,
}

/// Some of the active monitors.
pub(super) struct PlannedMonitorPage {
    pub(super) monitors: Vec<PlannedMonitor>,
    /// Where the next page begins; `None` on the last one.
    pub(super) next_id: Option<MonitorId>,
}

/// Plans each monitor at those locations of its pool that have an agent.
pub struct LocalPlanner {
    dependencies: PlannerDependencies,
    /// The settings that each account's monitors were last planned with.
    planned_settings: Mutex<HashMap<CustomerId, PlanningSettings>>,
    /// When the monitors of an account were planned again last because its settings changed.
    replanned_at: Mutex<HashMap<CustomerId, Timestamp>>,
    /// The certificates of all accounts.
    certificates: RwLock<Arc<[AssignedCertificate]>>,
    first_checks: Arc<FirstChecks>,
}

impl LocalPlanner {
    /// Creates the planner.
    #[must_use]
    pub fn new(dependencies: PlannerDependencies) -> Self {
        Self {
            dependencies,
            planned_settings: Mutex::default(),
            replanned_at: Mutex::default(),
            certificates: RwLock::new(Arc::default()),
            first_checks: Arc::default(),
        }
    }

    /// Returns the task that starts the first checks until `stop`; run one.
    #[must_use]
    pub fn first_check_task(&self, stop: CancellationToken, heartbeat: TaskHeartbeat) -> FirstCheckTask {
        FirstCheckTask {
            first_checks: Arc::clone(&self.first_checks),
            bus: Arc::clone(&self.dependencies.bus),
            clock: Arc::clone(&self.dependencies.clock),
            stop,
            heartbeat,
        }
    }

    /// Returns this planner as what supplies the snapshots of assignments.
    #[must_use]
    pub fn as_snapshot_source(self: &Arc<Self>) -> Weak<dyn SnapshotSource> {
        let source: Arc<dyn SnapshotSource> = self.clone();
        Arc::downgrade(&source)
    }

    /// Sends all locations the certificates of all accounts.
    pub(super) async fn update_certificates(&self, certificates: Arc<[AssignedCertificate]>) {
        *self.certificates.write() = Arc::clone(&certificates);
        self.publish_to_all(&AssignmentUpdate::SetCertificates(certificates)).await;
    }

    /// Sends the location, which is new, the certificates of all accounts.
    pub(super) async fn send_certificates(&self, location: LocationId) {
        let certificates = Arc::clone(&self.certificates.read());
        self.publish_or_log(location, AssignmentUpdate::SetCertificates(certificates)).await;
    }

    /// Plans `upserts`; the slots of each until the time in `recorded_until` are recorded.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] when an agent has stopped.
    pub async fn plan_monitors(
        &self,
        upserts: &[Monitor],
        removed_ids: &[MonitorId],
        recorded_until: &SlotsRecordedUntil,
    ) -> Result<(), PlanError> {
        let PlannerDependencies { bus, ingestor, clock, .. } = &self.dependencies;
        let (now, locations) = (clock.now(), bus.locations());
        let mut updates: Vec<Vec<AssignmentUpdate>> =
            locations.iter().map(|_| removed_ids.iter().copied().map(cancel_update).collect()).collect();
        let mut snapshot_by_customer: HashMap<CustomerId, Option<Arc<AccountSnapshot>>> = HashMap::new();
        for monitor in upserts {
            let account_snapshot = match snapshot_by_customer.entry(monitor.customer) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let account_snapshot = self.read_account_snapshot(monitor.customer).await;
                    if let Some(account_snapshot) = &account_snapshot {
                        let account = account_update(account_snapshot);
                        for updates in &mut updates {
                            updates.push(account.clone());
                        }
                    }
                    entry.insert(account_snapshot)
                }
            };
            let account_snapshot = account_snapshot.as_deref();
            let plan = run_plan(monitor, account_snapshot, now, &locations);
            for (connected, updates) in locations.iter().zip(&mut updates) {
                let location_id = connected.location.id;
                let assigned = self.assigned_monitor(monitor, plan.as_ref(), account_snapshot, location_id);
                let update = assigned.map(|assigned| {
                    let recorded_until = recorded_until.get(&location_id);
                    let last_planned_at = recorded_until.and_then(|recorded| recorded.get(&monitor.id));
                    AssignedMonitor { last_planned_at: last_planned_at.copied(), ..assigned }
                });
                updates.push(update.map_or_else(|| cancel_update(monitor.id), AssignmentUpdate::Assign));
            }
        }
        // Before the first results of the monitors.
        ingestor.update_monitors(upserts.to_vec(), removed_ids.to_vec()).await;
        let published = locations
            .iter()
            .zip(updates)
            .map(|(connected, updates)| bus.publish(connected.location.id, updates));
        let mut refused = Vec::new();
        for published in join_all(published).await {
            match published {
                Ok(refused_there) => refused.extend(refused_there),
                // It is gone since.
                Err(PublishError::LocationOffline) => {}
                Err(PublishError::Stopped | PublishError::NoSnapshot) => return Err(PlanError::Stopped),
            }
        }
        self.quarantine_refused(&refused, upserts).await;
        ingestor.remove_monitor_states(removed_ids);
        Ok(())
    }

    /// Records each monitor that a location cannot check, once.
    async fn quarantine_refused(&self, refused: &[RefusedAssignment], upserts: &[Monitor]) {
        let mut recorded = HashSet::new();
        for RefusedAssignment { monitor_id, error, .. } in refused {
            if !recorded.insert(*monitor_id) {
                continue;
            }
            let upserted = upserts.iter().find(|monitor| monitor.id == *monitor_id).cloned();
            let monitor = upserted.or_else(|| self.dependencies.monitor_cache.get(*monitor_id));
            if let Some(monitor) = monitor {
                self.dependencies.ingestor.quarantine_monitor(&monitor, error).await;
            }
        }
    }

    /// Replans the monitors of accounts whose planning settings have changed.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] when an agent has stopped.
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
            let (monitor_count, now) = (monitor_cache.len(), self.dependencies.clock.now());
            let is_affected = |monitor: &Monitor| monitor.customer == customer && monitor.is_active(now);
            let monitors = monitor_cache.list_from(MonitorId(i64::MIN), monitor_count, is_affected);
            self.plan_monitors(&monitors, &[], &SlotsRecordedUntil::new()).await?;
            self.planned_settings.lock().insert(customer, new_settings);
            self.replanned_at.lock().insert(customer, now);
        }
        Ok(())
    }

    /// Returns the next `max` active monitors from `id` on, each with its runs; those of accounts that were not read yet
    /// are left out.
    pub(super) fn planned_monitors(&self, id: MonitorId, max: usize) -> PlannedMonitorPage {
        let PlannerDependencies { monitor_cache, last_known_accounts, clock, .. } = &self.dependencies;
        let now = clock.now();
        let replanned_at = self.replanned_at.lock().clone();
        let monitors = monitor_cache.list_from(id, max, |monitor| monitor.is_active(now));
        let last = monitors.last().filter(|_| monitors.len() == max).map(|monitor| monitor.id);
        let plan = |monitor: Monitor| {
            let account_snapshot = last_known_accounts.get(monitor.customer)?;
            // The locations of the bus count only where the account is not known.
            let run_plan = run_plan(&monitor, Some(&account_snapshot), now, &[])?;
            let changes = [
                Some(monitor.modified_at),
                monitor.metadata.paused_until,
                replanned_at.get(&monitor.customer).copied(),
            ];
            Some(PlannedMonitor { planned_since: changes.into_iter().flatten().max()?, monitor, run_plan })
        };
        PlannedMonitorPage {
            monitors: monitors.into_iter().filter_map(plan).collect(),
            next_id: last.and_then(|last| last.0.checked_add(1)).map(MonitorId),
        }
    }

    /// Reads an account, and sends it to the locations when it changed; `None` when the store fails: its settings then
    /// do not apply.
    async fn read_account_snapshot(&self, customer: CustomerId) -> Option<Arc<AccountSnapshot>> {
        match self.dependencies.account_cache.account(customer).await {
            Ok(account_snapshot) => {
                // Only the first time: `replan_changed_accounts` finds later changes and replans the whole account.
                self.planned_settings
                    .lock()
                    .entry(customer)
                    .or_insert_with(|| planning_settings(&account_snapshot));
                if self.dependencies.last_known_accounts.update(&account_snapshot) {
                    self.publish_to_all(&account_update(&account_snapshot)).await;
                }
                Some(account_snapshot)
            }
            Err(error) => {
                tracing::warn!(customer_id = %customer, error = %error, "failed to read an account; its monitors are planned without its settings");
                None
            }
        }
    }

    async fn publish_to_all(&self, update: &AssignmentUpdate) {
        let locations = self.dependencies.bus.locations();
        join_all(
            locations.iter().map(|connected| self.publish_or_log(connected.location.id, update.clone())),
        )
        .await;
    }

    /// Publishes an update that a location gets with its next snapshot when it misses it now.
    async fn publish_or_log(&self, location: LocationId, update: AssignmentUpdate) {
        match self.dependencies.bus.publish(location, vec![update]).await {
            Ok(refused) => self.quarantine_refused(&refused, &[]).await,
            Err(error) => {
                tracing::debug!(location_id = location.0, error = %error, "a location missed an update");
            }
        }
    }

    /// Returns `monitor` for `location`; `None` when it has no run there under `plan`.
    fn assigned_monitor(
        &self,
        monitor: &Monitor,
        plan: Option<&RunPlan>,
        account_snapshot: Option<&AccountSnapshot>,
        location: LocationId,
    ) -> Option<AssignedMonitor> {
        let location_rotation = plan?.location_rotation(location)?;
        let state = self.dependencies.ingestor.monitor_state_at(monitor.id, location);
        let last_full_page_at = state.and_then(|state| state.last_full_page_at);
        let certificate_warning_days = account_snapshot.map(|account| account.certificate_warning_days);
        Some(AssignedMonitor {
            location_rotation,
            last_full_page_at,
            ..AssignedMonitor::new(monitor.clone(), certificate_warning_days)
        })
    }

    /// Returns `monitor` for an order outside of its schedule.
    async fn ordered_monitor(&self, monitor: Monitor) -> AssignedMonitor {
        let account_snapshot = self.read_account_snapshot(monitor.customer).await;
        let certificate_warning_days = account_snapshot.map(|account| account.certificate_warning_days);
        AssignedMonitor::new(monitor, certificate_warning_days)
    }
}

/// Returns when and where `monitor` runs; `None` when it is not active at `now`.
fn run_plan(
    monitor: &Monitor,
    account_snapshot: Option<&AccountSnapshot>,
    now: Timestamp,
    locations: &[ConnectedLocation],
) -> Option<RunPlan> {
    monitor.is_active(now).then(|| monitor.run_plan(&location_pool(monitor, account_snapshot, locations)))
}

/// Returns the locations of `monitor`: its own, those of its account, or the first one with an agent.
fn location_pool(
    monitor: &Monitor,
    account_snapshot: Option<&AccountSnapshot>,
    locations: &[ConnectedLocation],
) -> Vec<LocationId> {
    if let Some(account_snapshot) = account_snapshot {
        return account_snapshot.location_pool_ids(monitor).into_iter().map(LocationId).collect();
    }
    let own_locations = monitor.document.location_ids();
    let first_location = || locations.first().map(|first| first.location.id).into_iter().collect();
    if own_locations.is_empty() { first_location() } else { own_locations }
}

fn cancel_update(monitor_id: MonitorId) -> AssignmentUpdate {
    AssignmentUpdate::Unassign { monitor_id, cancel_running: true }
}

fn account_update(account_snapshot: &AccountSnapshot) -> AssignmentUpdate {
    AssignmentUpdate::SetAccount(AssignedAccount {
        customer_id: account_snapshot.customer_id,
        blackout_calendar: Arc::clone(&account_snapshot.blackout_calendar),
    })
}

fn planning_settings(account_snapshot: &AccountSnapshot) -> PlanningSettings {
    (account_snapshot.default_location_ids.clone(), account_snapshot.certificate_warning_days)
}

fn to_plan_error(error: OrderError) -> PlanError {
    match error {
        OrderError::LocationOffline => PlanError::LocationOffline,
        OrderError::QueueFull => PlanError::QueueFull,
        OrderError::Stopped => PlanError::Stopped,
        OrderError::TimedOut => PlanError::TimedOut,
        OrderError::NoTarget => PlanError::NoTarget,
    }
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
        let locations = self.dependencies.bus.locations().iter().map(|one| one.location.id).collect();
        self.first_checks.request(monitors, &locations, self.dependencies.clock.now());
    }

    fn run_check_now(&self, monitor: Monitor, location: LocationId) -> PlanFuture<'_, CheckResult> {
        Box::pin(async move {
            let monitor = self.ordered_monitor(monitor).await;
            let timeout = 2 * monitor.max_check_duration() + CHECK_ORDER_GRACE;
            let order = CheckOrder { monitor, timeout };
            self.dependencies.bus.check(location, order).await.map_err(to_plan_error)
        })
    }

    fn run_traceroute(
        &self,
        monitor: Monitor,
        location: LocationId,
        address: Option<IpAddr>,
    ) -> PlanFuture<'_, CapturedFile> {
        Box::pin(async move {
            let monitor = self.ordered_monitor(monitor).await;
            let order = TracerouteOrder { monitor, address, timeout: TRACEROUTE_TIMEOUT };
            self.dependencies.bus.traceroute(location, order).await.map_err(to_plan_error)
        })
    }

    fn agent_statuses(&self) -> Vec<AgentStatus> {
        let bus = &self.dependencies.bus;
        let connected = bus.locations();
        let connected_statuses = connected.iter().map(|connected| {
            let presence = bus.presence(connected.location.id);
            AgentStatus {
                location: connected.location.clone(),
                is_alive: presence.is_some(),
                is_isolated: presence.is_some_and(|presence| presence.is_isolated),
                can_verify: connected.can_verify,
            }
        });
        let other_locations = self.dependencies.last_known_accounts.locations().into_values();
        let is_connected = |id| connected.iter().any(|connected| connected.location.id == id);
        let other_locations = other_locations.filter(|location| !is_connected(location.id));
        let to_offline_status =
            |location| AgentStatus { location, is_alive: false, is_isolated: false, can_verify: false };
        connected_statuses.chain(other_locations.map(to_offline_status)).collect()
    }
}

impl SnapshotSource for LocalPlanner {
    fn snapshot(&self, location: LocationId) -> BusFuture<'_, Vec<AssignmentUpdate>> {
        Box::pin(async move {
            let PlannerDependencies { bus, monitor_cache, last_known_accounts, clock, .. } =
                &self.dependencies;
            let (now, locations) = (clock.now(), bus.locations());
            let certificates = AssignmentUpdate::SetCertificates(Arc::clone(&self.certificates.read()));
            let accounts = last_known_accounts.all();
            let mut updates: Vec<_> = accounts.iter().map(|account| account_update(account)).collect();
            updates.push(certificates);
            let accounts: HashMap<_, _> =
                accounts.into_iter().map(|account| (account.customer_id, account)).collect();
            let is_first = locations.first().is_some_and(|first| first.location.id == location);
            let uses_by_default = |customer| match accounts.get(&customer) {
                Some(account) => account.default_location_ids.contains(&location.0),
                None => is_first,
            };
            // With many locations, most monitors run elsewhere.
            for monitor in monitor_cache.list_for_location(location, uses_by_default) {
                let account_snapshot = accounts.get(&monitor.customer).map(Arc::as_ref);
                let plan = run_plan(&monitor, account_snapshot, now, &locations);
                let assigned = self.assigned_monitor(&monitor, plan.as_ref(), account_snapshot, location);
                updates.extend(assigned.map(AssignmentUpdate::Assign));
            }
            updates
        })
    }
}

impl LastRunLookup for LocalPlanner {
    fn last_run(&self, monitor: &Monitor) -> Option<MonitorLocationState> {
        let locations = self.dependencies.bus.locations();
        let states = locations.iter().filter_map(|connected| {
            self.dependencies.ingestor.monitor_state_at(monitor.id, connected.location.id)
        });
        states.max_by_key(|state| state.planned_at)
    }
}
