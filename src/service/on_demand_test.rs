//! Tests on demand: one check of a monitor out of its schedule, kept apart from its history (behaviour.md 1
//! `/tests`).

use crate::sync::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::caller::{Caller, ServiceError};
use crate::catalog::json_object::into_object;
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::timestamp_format::format_utc;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::{CheckResult, CustomerId, LocationId, MonitorId, Outcome, Record, RecordKind, Revision};
use crate::pipeline::{PlanError, Planner};
use crate::schema::Monitor;
use crate::schema::typed::record::TestSettings;
use crate::store::{AuditObject, ConfigChange, ConfigStore, NewRecord, Pagination, RecordFilter, StoreError};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Tests of one account that may run at once; one more is asked to wait (429).
const MAX_CONCURRENT_PER_ACCOUNT: usize = 5;
/// Seconds after which a refused test is worth another try.
const RETRY_AFTER_SECONDS: u64 = 10;
/// Records that one step of [`OnDemandTests::remove_expired`] removes.
const PURGE_CHUNK: u32 = 500;

/// What tests on demand work with.
#[derive(Clone)]
pub struct OnDemandTestDependencies {
    /// Keeps them.
    pub config: Arc<dyn ConfigStore>,
    /// The monitors.
    pub monitors: Arc<MonitorCache>,
    /// The locations of accounts.
    pub accounts: Arc<AccountCache>,
    /// Runs them.
    pub planner: Arc<dyn Planner>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// How long they are kept: as the details of results.
    pub retention: Duration,
}

/// Tests on demand of all accounts.
pub struct OnDemandTests {
    dependencies: OnDemandTestDependencies,
    running: Mutex<RunningTests>,
}

/// What this process runs: a test that is kept as running and is not here was interrupted.
#[derive(Default)]
struct RunningTests {
    per_account: HashMap<CustomerId, usize>,
    ids: HashSet<i64>,
}

/// How far a test is, as behaviour.md 1 numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestProgress {
    /// It runs.
    Running = 1,
    /// The check passed, perhaps with a warning.
    Succeeded = 2,
    /// The check failed, or could not be made.
    Failed = 3,
}

impl OnDemandTests {
    /// Over `parts`.
    #[must_use]
    pub fn new(dependencies: OnDemandTestDependencies) -> Self {
        Self { dependencies, running: Mutex::default() }
    }

    /// Starts a test of `monitor`, at its home location when none is named, and answers its number at once.
    /// It goes on when its requester is gone.
    pub async fn start(
        self: &Arc<Self>,
        caller: &Caller,
        monitor: MonitorId,
        location: Option<LocationId>,
    ) -> Result<i64, ServiceError> {
        let monitor = self
            .dependencies
            .monitors
            .get_for_customer(caller.customer, monitor)
            .ok_or(ServiceError::NotFound)?;
        if !monitor.document.settings().schedule.allow_internal_testing {
            let message = "The monitor permits planned runs only: its `allow_internal_testing` is false";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
        let location = self.resolve_location(caller, &monitor, location).await?;
        let mut permit = Permit::acquire(self, caller.customer)?;
        let (trials, caller) = (Arc::clone(self), caller.clone());
        let (tell, told) = tokio::sync::oneshot::channel();
        // A task of its own from here on: a requester that goes away leaves nothing half done. The seat is
        // given back even when the check panics; what is kept then shows as interrupted.
        tokio::spawn(async move {
            let kept = trials.insert_record(&caller, &monitor, location).await;
            if let Ok(record) = &kept {
                permit.set_test_id(record.id);
            }
            // An error means that nobody waits for the number any more.
            let _ = tell.send(kept.as_ref().map(|record| record.id).map_err(Clone::clone));
            if let Ok(record) = kept {
                let outcome = trials.dependencies.planner.run_once(monitor, location).await;
                trials.store_outcome(record, outcome).await;
            }
        });
        told.await
            .unwrap_or_else(|_| Err(ServiceError::Unavailable("The test could not be started".to_owned())))
    }

    /// One test as version 3 shows it.
    pub async fn get(&self, caller: &Caller, id: i64) -> Result<Map<String, Value>, ServiceError> {
        // Looked up before the record: one that ends in between is kept before it leaves those that run.
        let runs = self.running().ids.contains(&id);
        let record = self.dependencies.config.record(RecordKind::Test, id).await?;
        let record =
            record.filter(|record| record.customer == caller.customer).ok_or(ServiceError::NotFound)?;
        Ok(to_json(record, runs))
    }

    /// Removes those that were kept long enough; answers how many.
    pub async fn remove_expired(&self) -> Result<u64, StoreError> {
        let before = self.dependencies.clock.now() - self.dependencies.retention;
        let mut removed = 0;
        loop {
            let filter = RecordFilter { until: Some(before), ..RecordFilter::new(RecordKind::Test) };
            let old = self
                .dependencies
                .config
                .records(filter, Pagination { limit: PURGE_CHUNK, offset: 0 })
                .await?
                .items;
            if old.is_empty() {
                return Ok(removed);
            }
            removed += old.len() as u64;
            let remove = |record: Record| ConfigChange::RemoveRecord {
                kind: RecordKind::Test,
                id: record.id,
                expected: record.revision,
            };
            self.dependencies.config.write_changes(old.into_iter().map(remove).collect(), Vec::new()).await?;
        }
    }

    /// Where it runs: at the location that was asked for, at home, or at the account's default.
    async fn resolve_location(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        asked: Option<LocationId>,
    ) -> Result<LocationId, ServiceError> {
        let facts = self.dependencies.accounts.facts(caller.customer).await?;
        if let Some(asked) = asked {
            if facts.locations.contains_key(&asked.0) {
                return Ok(asked);
            }
            let message = format!("`location_id` must be a location of the account, not `{asked}`");
            let error = ValidationError::new(
                ValidationErrorKind::Conflict,
                "location_id",
                Position::default(),
                message,
            );
            return Err(ServiceError::Invalid(vec![error]));
        }
        let home = monitor.document.settings().schedule.home_location;
        let fallback = || facts.default_locations.first().copied().map(LocationId);
        home.or_else(fallback).ok_or_else(|| ServiceError::Conflict("The account has no location".to_owned()))
    }

    async fn insert_record(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        location: LocationId,
    ) -> Result<Record, ServiceError> {
        let now = self.dependencies.clock.now();
        let fields = into_object(json!({
            "monitor_id": monitor.id,
            "location_id": location,
            "progress": TestProgress::Running as u8,
        }));
        let new = NewRecord {
            kind: RecordKind::Test,
            customer: Some(caller.customer),
            parent_id: Some(monitor.id.0),
            unique_key: None,
            created_at: now,
            created_by: caller.login.to_string(),
            fields: fields.clone(),
            sealed: None,
        };
        let name = RecordKind::Test.name();
        let entry = caller.audit_entry(now, "create", name, AuditObject::Created(0), monitor.name());
        let entry = crate::store::NewAuditEntry { after: fields.clone(), ..entry };
        let made = self
            .dependencies
            .config
            .write_changes(vec![ConfigChange::CreateRecord(new)], vec![entry])
            .await?;
        let gone = || ServiceError::Unavailable("The test was not kept".to_owned());
        Ok(Record {
            id: made.first().copied().ok_or_else(gone)?,
            kind: RecordKind::Test,
            customer: caller.customer,
            parent_id: Some(monitor.id.0),
            unique_key: None,
            revision: Revision(1),
            created_at: now,
            created_by: caller.login.to_string(),
            modified_at: now,
            fields,
            private_data: None,
        })
    }

    async fn store_outcome(&self, mut record: Record, outcome: Result<CheckResult, PlanError>) {
        let now = self.dependencies.clock.now();
        let (progress, name, value) = progress_from_outcome(outcome);
        record.fields.insert("progress".to_owned(), Value::from(progress as u8));
        record.fields.insert("ended_at".to_owned(), Value::from(format_utc(now)));
        record.fields.insert(name.to_owned(), value);
        let (id, expected) = (record.id, record.revision);
        record.revision = Revision(expected.0 + 1);
        record.modified_at = now;
        let put = ConfigChange::UpdateRecord { record: Box::new(record), expected };
        match self.dependencies.config.write_changes(vec![put], Vec::new()).await {
            Ok(_) => {}
            // It was removed meanwhile, with its monitor.
            Err(StoreError::Stale) => {
                tracing::debug!(test = id, "a test on demand ended after it was removed")
            }
            Err(error) => {
                tracing::warn!(
                    error_kind = error.kind(),
                    test = id,
                    "failed to store a test on demand: {error}"
                );
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, RunningTests> {
        self.running.lock()
    }
}

/// A test as version 3 shows it; `runs` says whether this process is at it.
fn to_json(record: Record, runs: bool) -> Map<String, Value> {
    let began = settings_or_skip(&record)
        .is_some_and(|test: TestSettings| test.progress == TestProgress::Running as u8);
    let interrupted = began && !runs;
    let mut shown = into_object(json!({
        "id": record.id,
        "monitor_id": null,
        "location_id": null,
        "progress": null,
        "result_url": result_url(record.id),
        "login": record.created_by,
        "ordered_at": format_utc(record.created_at),
        "ended_at": null,
        "error": null,
        "result": null,
    }));
    shown.extend(record.fields);
    if interrupted {
        shown.insert("progress".to_owned(), Value::from(TestProgress::Failed as u8));
        shown.insert("error".to_owned(), Value::from("the server ended before the check did"));
    }
    shown
}

/// Where version 3 shows a test, on the same server.
#[must_use]
pub fn result_url(id: i64) -> String {
    format!("/api/v3/tests/{id}")
}

/// What a check came to, and the field that tells of it.
fn progress_from_outcome(outcome: Result<CheckResult, PlanError>) -> (TestProgress, &'static str, Value) {
    let result = match outcome {
        // The content of files is kept with results alone: a test names none that nobody can fetch.
        Ok(result) => CheckResult { captures: Vec::new(), ..result },
        Err(error) => return (TestProgress::Failed, "error", Value::from(error.to_string())),
    };
    let passed = matches!(result.outcome, Outcome::Ok | Outcome::Warning);
    let progress = if passed { TestProgress::Succeeded } else { TestProgress::Failed };
    match serde_json::to_value(&result) {
        Ok(result) => (progress, "result", result),
        Err(error) => {
            (TestProgress::Failed, "error", Value::from(format!("the result is unreadable: {error}")))
        }
    }
}

/// One of the places of an account, given back when it is dropped.
struct Permit {
    trials: Arc<OnDemandTests>,
    customer: CustomerId,
    id: Option<i64>,
}

impl Permit {
    fn acquire(trials: &Arc<OnDemandTests>, customer: CustomerId) -> Result<Self, ServiceError> {
        let mut running = trials.running();
        let taken = running.per_account.entry(customer).or_default();
        if *taken >= MAX_CONCURRENT_PER_ACCOUNT {
            return Err(ServiceError::RateLimited(RETRY_AFTER_SECONDS));
        }
        *taken += 1;
        drop(running);
        Ok(Self { trials: Arc::clone(trials), customer, id: None })
    }

    fn set_test_id(&mut self, id: i64) {
        self.id = Some(id);
        self.trials.running().ids.insert(id);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut running = self.trials.running();
        if let Some(id) = self.id {
            running.ids.remove(&id);
        }
        let left = running.per_account.get(&self.customer).map_or(0, |taken| taken.saturating_sub(1));
        if left == 0 {
            running.per_account.remove(&self.customer);
        } else {
            running.per_account.insert(self.customer, left);
        }
    }
}
