//! The runner of this process as what plans monitors.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use crate::clock::Clock;
use crate::control::{
    AccountFacts, Agent, Directory, Fleet, Ingestor, LastRuns, PlanError, Planned, Planner,
};
use crate::engine::{Assignment, Change, OrderError, RunnerHandle};
use crate::model::{Capture, CheckResult, CustomerId, Location, LocationId, Monitor, MonitorId, Timestamp};
use crate::probe::{self, ProbeSettings};
use crate::store::MonitorState;

/// What of an account decides how its monitors run: its default pool and days before a certificate's end.
type Terms = (Vec<i64>, u32);

/// Plans the monitors whose pool has the location of this process.
pub struct LocalPlanner {
    runner: RunnerHandle,
    ingestor: Arc<Ingestor>,
    directory: Arc<Directory>,
    clock: Arc<dyn Clock>,
    location: LocationId,
    probes: RwLock<ProbeSettings>,
    /// The terms that monitors were planned by last.
    terms: Mutex<HashMap<CustomerId, Terms>>,
}

impl LocalPlanner {
    /// A planner for `location` over `runner`.
    #[must_use]
    pub fn new(
        runner: RunnerHandle,
        ingestor: Arc<Ingestor>,
        directory: Arc<Directory>,
        clock: Arc<dyn Clock>,
        location: &Location,
        probes: ProbeSettings,
    ) -> Self {
        Self {
            runner,
            ingestor,
            directory,
            clock,
            location: location.id,
            probes: RwLock::new(probes),
            terms: Mutex::default(),
        }
    }

    /// Takes new settings for what is planned from now on.
    pub(super) fn settle(&self, probes: ProbeSettings) {
        *self.probes.write().unwrap_or_else(PoisonError::into_inner) = probes;
    }

    /// Plans `puts`; the slots of each since the time in `last` are accounted for.
    pub(super) async fn resume(
        &self,
        puts: &[Monitor],
        removed: &[MonitorId],
        last: &HashMap<MonitorId, Timestamp>,
    ) -> Result<(), PlanError> {
        let now = self.clock.now();
        let remove = |monitor_id| Change::Remove { monitor_id, cancel: true };
        let mut changes: Vec<_> = removed.iter().copied().map(remove).collect();
        let mut known: HashMap<CustomerId, Option<Arc<AccountFacts>>> = HashMap::new();
        for monitor in puts {
            let facts = match known.entry(monitor.customer) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.facts(monitor.customer).await),
            };
            let facts = facts.as_deref();
            changes.push(if monitor.is_planned(now) && self.is_here(monitor, facts) {
                Change::Put(self.assignment(monitor, facts, last.get(&monitor.id).copied()))
            } else {
                remove(monitor.id)
            });
        }
        self.runner.apply(changes).await.map_err(|_| PlanError::Stopped)?;
        self.ingestor.forget(removed);
        Ok(())
    }

    /// Plans the monitors of accounts anew whose terms changed since.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] when the runner has ended.
    pub async fn follow(&self, fleet: &Fleet) -> Result<(), PlanError> {
        let before = self.terms.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (customer, terms) in before {
            let Some(facts) = self.facts(customer).await else { continue };
            let now = terms_of(&facts);
            if now == terms {
                continue;
            }
            // So that no newer version is planned meanwhile, which this would put back.
            let _turn = fleet.alone().await;
            let every = fleet.roster().len();
            let monitors = fleet.roster().from(MonitorId(i64::MIN), every, |m| m.customer == customer);
            self.resume(&monitors, &[], &HashMap::new()).await?;
            self.terms.lock().unwrap_or_else(PoisonError::into_inner).insert(customer, now);
        }
        Ok(())
    }

    /// `None` when the store cannot be read: then monitors run by what is known of all accounts.
    async fn facts(&self, customer: CustomerId) -> Option<Arc<AccountFacts>> {
        match self.directory.facts(customer).await {
            Ok(facts) => {
                let mut terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
                // Only the first: what changes later is found by `follow`, which plans all of the account.
                terms.entry(customer).or_insert_with(|| terms_of(&facts));
                Some(facts)
            }
            Err(error) => {
                tracing::warn!(customer_id = %customer, error = %error, "monitors are planned without what their account says");
                None
            }
        }
    }

    /// Whether the pool of `monitor` has the location of this process.
    fn is_here(&self, monitor: &Monitor, facts: Option<&AccountFacts>) -> bool {
        let own = monitor.document.list("locations");
        let id = |location: &serde_json::Value| location.get("id").and_then(serde_json::Value::as_i64);
        match facts {
            _ if !own.is_empty() => own.iter().any(|location| id(location) == Some(self.location.0)),
            Some(facts) => facts.default_locations.contains(&self.location.0),
            None => true,
        }
    }

    fn assignment(
        &self,
        monitor: &Monitor,
        facts: Option<&AccountFacts>,
        last_planned_at: Option<Timestamp>,
    ) -> Arc<Assignment> {
        let document = &monitor.document;
        let (probe, weight) = {
            let probes = self.probes.read().unwrap_or_else(PoisonError::into_inner);
            match facts.map(|facts| facts.certificate_days) {
                Some(days) if days != probes.certificate_days => {
                    let own = ProbeSettings { certificate_days: days, ..probes.clone() };
                    probe::build(document, &own)
                }
                _ => probe::build(document, &probes),
            }
        };
        Arc::new(Assignment {
            monitor_id: monitor.id,
            revision: monitor.revision,
            name: monitor.name().into(),
            kind: monitor.kind(),
            interval: monitor.interval(),
            offset: document.is_set("monitor_offset").then(|| minutes(document.number("monitor_offset"))),
            timeout: monitor.timeout(),
            retry: document.flag("retry_on_failure"),
            location: self.location,
            probe,
            weight,
            last_planned_at,
        })
    }
}

fn terms_of(facts: &AccountFacts) -> Terms {
    (facts.default_locations.clone(), facts.certificate_days)
}

fn minutes(number: i64) -> Duration {
    Duration::from_secs(60 * number.unsigned_abs())
}

impl Planner for LocalPlanner {
    fn plan(&self, puts: Vec<Monitor>, removed: Vec<MonitorId>) -> Planned<'_, ()> {
        Box::pin(async move { self.resume(&puts, &removed, &HashMap::new()).await })
    }

    fn check_once(&self, monitor: Monitor, location: LocationId) -> Planned<'_, CheckResult> {
        Box::pin(async move {
            if location != self.location {
                return Err(PlanError::Away);
            }
            let facts = self.facts(monitor.customer).await;
            let assignment = self.assignment(&monitor, facts.as_deref(), None);
            self.runner.run_once(assignment).await.map_err(|error| match error {
                OrderError::Unknown => PlanError::Away,
                OrderError::Busy => PlanError::Busy,
                OrderError::Stopped => PlanError::Stopped,
            })
        })
    }

    fn trace(&self, monitor: Monitor, location: LocationId, address: Option<IpAddr>) -> Planned<'_, Capture> {
        let _ = (monitor, location, address);
        todo!("h-places")
    }

    fn agents(&self) -> Vec<Agent> {
        todo!("h-places")
    }
}

impl LastRuns for LocalPlanner {
    fn last_run(&self, monitor: &Monitor) -> Option<MonitorState> {
        self.ingestor.state(monitor.id, self.location)
    }
}
