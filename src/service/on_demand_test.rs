//! On-demand tests: one check of a monitor outside of its schedule, stored apart from its history (behaviour.md 1
//! `/tests`).

use crate::sync::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::caller::{Caller, ServiceError};
use super::monitors::{changed_document_fields, created_fields};
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::v3_time_format::format_utc_time;
use crate::catalog::{AccountCache, MonitorCache};
use crate::clock::Clock;
use crate::domain::{
    CheckResult, ConfigRecord, ConfigRecordKind, CustomerId, LocationId, MonitorId, Outcome, Permission,
    Revision,
};
use crate::pipeline::{PlanError, Planner};
use crate::schema::Monitor;
use crate::schema::typed::record::TestSettings;
use crate::store::{
    AuditObject, ConfigChange, ConfigRecordFilter, ConfigStore, NewConfigRecord, Pagination, StoreError,
};
use crate::syntax::json_object::into_object;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Most concurrent tests of one account; further ones get 429.
const MAX_CONCURRENT_PER_ACCOUNT: usize = 5;
/// Seconds after which a refused test may be retried.
const RETRY_AFTER_SECONDS: u64 = 10;
/// Records that [`OnDemandTests::remove_expired`] removes in one transaction.
const REMOVAL_BATCH_SIZE: u32 = 500;

/// Dependencies of on-demand tests.
#[derive(Clone)]
pub struct OnDemandTestDependencies {
    /// Stores them.
    pub config_store: Arc<dyn ConfigStore>,
    /// The monitors.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies the locations of accounts.
    pub account_cache: Arc<AccountCache>,
    /// Runs them.
    pub planner: Arc<dyn Planner>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// How long tests are kept; the same as for details of results.
    pub retention: Duration,
}

/// On-demand tests of all accounts.
pub struct OnDemandTests {
    dependencies: OnDemandTestDependencies,
    running: Mutex<RunningTests>,
}

/// Tests that this process runs. A test stored as running that is not listed here was interrupted.
#[derive(Default)]
struct RunningTests {
    count_by_account: HashMap<CustomerId, usize>,
    test_ids: HashSet<i64>,
}

/// Progress of a test, with the numbers of behaviour.md 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestProgress {
    /// It is running.
    Running = 1,
    /// The check passed, perhaps with a warning.
    Succeeded = 2,
    /// The check failed, or could not run.
    Failed = 3,
}

/// What a test checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// A monitor as it is stored.
    Stored,
    /// A monitor that is not saved.
    Draft,
}

impl Subject {
    /// Returns `monitor` as a location checks it. A draft has an id of its own, which no monitor has: an agent runs the
    /// monitor that it knows by an id, and never two runs of it at once.
    fn checked_monitor(self, monitor: &Monitor, test: i64) -> Monitor {
        match self {
            Self::Stored => monitor.clone(),
            Self::Draft => Monitor { id: MonitorId(-test), ..monitor.clone() },
        }
    }
}

impl OnDemandTests {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: OnDemandTestDependencies) -> Self {
        Self { dependencies, running: Mutex::default() }
    }

    /// Starts a test of `monitor`, by default at its home location, and returns its id at once. The test continues when
    /// the client disconnects.
    pub async fn start(
        self: &Arc<Self>,
        caller: &Caller,
        monitor: MonitorId,
        location: Option<LocationId>,
    ) -> Result<i64, ServiceError> {
        let monitor = self
            .dependencies
            .monitor_cache
            .get_for_customer(caller.customer, monitor)
            .ok_or(ServiceError::NotFound)?;
        self.start_check(caller, monitor, Subject::Stored, location).await
    }

    /// Like [`OnDemandTests::start`], for a monitor that is not saved: checks it as `monitor` is. The result belongs to no
    /// monitor.
    pub async fn start_draft(
        self: &Arc<Self>,
        caller: &Caller,
        monitor: Monitor,
        location: Option<LocationId>,
    ) -> Result<i64, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        self.start_check(caller, monitor, Subject::Draft, location).await
    }

    async fn start_check(
        self: &Arc<Self>,
        caller: &Caller,
        monitor: Monitor,
        subject: Subject,
        location: Option<LocationId>,
    ) -> Result<i64, ServiceError> {
        if !monitor.document.settings().schedule.allow_on_demand_tests {
            let message = "The monitor permits planned runs only: its `allow_internal_testing` is false";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
        let location = self.resolve_location(caller, &monitor, location).await?;
        let mut permit = TestPermit::acquire(self, caller.customer)?;
        let (tests, caller) = (Arc::clone(self), caller.clone());
        let (id_sender, id_receiver) = tokio::sync::oneshot::channel();
        // A separate task: a client that disconnects leaves nothing half done. The permit is released even when the
        // check panics; the stored test then shows as interrupted.
        tokio::spawn(async move {
            let inserted = tests.insert_record(&caller, &monitor, subject, location).await;
            if let Ok(record) = &inserted {
                permit.set_test_id(record.id);
            }
            // An error means that the caller no longer waits for the id.
            let _ = id_sender.send(inserted.as_ref().map(|record| record.id).map_err(Clone::clone));
            if let Ok(record) = inserted {
                let checked = subject.checked_monitor(&monitor, record.id);
                let check_result = tests.dependencies.planner.run_check_now(checked, location).await;
                let own = check_result.map(|result| CheckResult { monitor_id: monitor.id, ..result });
                tests.store_check_result(record, own).await;
            }
        });
        id_receiver
            .await
            .unwrap_or_else(|_| Err(ServiceError::Unavailable("The test could not be started".to_owned())))
    }

    /// Returns a test as a version 3 object.
    pub async fn get(&self, caller: &Caller, id: i64) -> Result<Map<String, Value>, ServiceError> {
        // Read before the record: a test stores its outcome before it is removed from the running ones.
        let is_running = self.running().test_ids.contains(&id);
        let record = self.dependencies.config_store.record(ConfigRecordKind::Test, id).await?;
        let record =
            record.filter(|record| record.customer == caller.customer).ok_or(ServiceError::NotFound)?;
        Ok(test_to_json(record, is_running))
    }

    /// Removes tests older than the retention; returns how many.
    pub async fn remove_expired(&self) -> Result<u64, StoreError> {
        let cutoff = self.dependencies.clock.now() - self.dependencies.retention;
        let mut removed = 0;
        loop {
            let filter =
                ConfigRecordFilter { until: Some(cutoff), ..ConfigRecordFilter::new(ConfigRecordKind::Test) };
            let expired = self
                .dependencies
                .config_store
                .records(filter, Pagination { limit: REMOVAL_BATCH_SIZE, offset: 0 })
                .await?
                .items;
            if expired.is_empty() {
                return Ok(removed);
            }
            removed += expired.len() as u64;
            let to_removal = |record: ConfigRecord| ConfigChange::RemoveRecord {
                kind: ConfigRecordKind::Test,
                id: record.id,
                expected: record.revision,
            };
            self.dependencies
                .config_store
                .write_changes(expired.into_iter().map(to_removal).collect(), Vec::new())
                .await?;
        }
    }

    /// Returns the location of a test: the requested one, the home location, or the account's default.
    async fn resolve_location(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        requested: Option<LocationId>,
    ) -> Result<LocationId, ServiceError> {
        let account = self.dependencies.account_cache.account(caller.customer).await?;
        if let Some(requested) = requested {
            if account.locations.contains_key(&requested.0) {
                return Ok(requested);
            }
            let message = format!("`location_id` must be a location of the account, not `{requested}`");
            let error = ValidationError::new(
                ValidationErrorKind::Conflict,
                "location_id",
                Position::default(),
                message,
            );
            return Err(ServiceError::Invalid(vec![error]));
        }
        let home = monitor.document.settings().schedule.home_location;
        let fallback = || account.default_location_ids.first().copied().map(LocationId);
        home.or_else(fallback).ok_or_else(|| ServiceError::Conflict("The account has no location".to_owned()))
    }

    async fn insert_record(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        subject: Subject,
        location: LocationId,
    ) -> Result<ConfigRecord, ServiceError> {
        let now = self.dependencies.clock.now();
        // A new monitor has no id yet.
        let monitor_id = Some(monitor.id.0).filter(|id| *id > 0);
        let fields = into_object(json!({
            "monitor_id": monitor_id,
            "draft": subject == Subject::Draft,
            "location_id": location,
            "progress": TestProgress::Running as u8,
        }));
        let new_record = NewConfigRecord {
            kind: ConfigRecordKind::Test,
            customer: Some(caller.customer),
            parent_id: monitor_id,
            unique_key: None,
            created_at: now,
            created_by: caller.login.to_string(),
            fields: fields.clone(),
            private_data: None,
        };
        let object_kind = ConfigRecordKind::Test.name();
        let entry =
            caller.audit_entry(now, "create", object_kind, AuditObject::CreatedInThisCall(0), monitor.name());
        let (before, mut after) = match subject {
            Subject::Stored => Default::default(),
            Subject::Draft => self.draft_fields(monitor),
        };
        after.extend(fields.clone());
        let entry = crate::store::NewAuditEntry { before, after, ..entry };
        let ids = self
            .dependencies
            .config_store
            .write_changes(vec![ConfigChange::CreateRecord(new_record)], vec![entry])
            .await?;
        let not_stored = || ServiceError::Unavailable("The test could not be stored".to_owned());
        Ok(ConfigRecord {
            id: ids.first().copied().ok_or_else(not_stored)?,
            kind: ConfigRecordKind::Test,
            customer: caller.customer,
            parent_id: monitor_id,
            unique_key: None,
            revision: Revision(1),
            created_at: now,
            created_by: caller.login.to_string(),
            modified_at: now,
            fields,
            private_data: None,
        })
    }

    /// Returns the fields of a draft that differ from what is stored, before and after, for the audit trail: a check sends
    /// what is stored to where the draft says.
    fn draft_fields(&self, draft: &Monitor) -> (Map<String, Value>, Map<String, Value>) {
        let stored = self.dependencies.monitor_cache.get_for_customer(draft.customer, draft.id);
        match stored {
            Some(stored) => changed_document_fields(&stored.document, &draft.document),
            None => (Map::new(), created_fields(&draft.document)),
        }
    }

    async fn store_check_result(
        &self,
        mut record: ConfigRecord,
        check_result: Result<CheckResult, PlanError>,
    ) {
        let now = self.dependencies.clock.now();
        let (progress, result_field, result_value) = progress_and_result_field(check_result);
        record.fields.insert("progress".to_owned(), Value::from(progress as u8));
        record.fields.insert("ended_at".to_owned(), Value::from(format_utc_time(now)));
        record.fields.insert(result_field.to_owned(), result_value);
        let (id, expected) = (record.id, record.revision);
        record.revision = Revision(expected.0 + 1);
        record.modified_at = now;
        let update = ConfigChange::UpdateRecord { record: Box::new(record), expected };
        match self.dependencies.config_store.write_changes(vec![update], Vec::new()).await {
            Ok(_) => {}
            // It was removed meanwhile, together with its monitor.
            Err(StoreError::Stale) => {
                tracing::debug!(test = id, "a test on demand ended after it was removed");
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

/// Converts a test to a version 3 object; `is_running` says whether this process runs it.
fn test_to_json(record: ConfigRecord, is_running: bool) -> Map<String, Value> {
    let is_unfinished = settings_or_skip(&record)
        .is_some_and(|test: TestSettings| test.progress == TestProgress::Running as u8);
    let is_interrupted = is_unfinished && !is_running;
    let mut object = into_object(json!({
        "id": record.id,
        "monitor_id": null,
        "draft": false,
        "location_id": null,
        "progress": null,
        "result_url": on_demand_test_url(record.id),
        "login": record.created_by,
        "ordered_at": format_utc_time(record.created_at),
        "ended_at": null,
        "error": null,
        "result": null,
    }));
    object.extend(record.fields);
    if is_interrupted {
        object.insert("progress".to_owned(), Value::from(TestProgress::Failed as u8));
        object.insert("error".to_owned(), Value::from("the server stopped before the check ended"));
    }
    object
}

/// Returns the path of a test on the same server.
#[must_use]
pub fn on_demand_test_url(id: i64) -> String {
    format!("/api/v3/tests/{id}")
}

/// Returns the progress after a check, and the name and value of the field with its outcome.
fn progress_and_result_field(
    check_result: Result<CheckResult, PlanError>,
) -> (TestProgress, &'static str, Value) {
    let result = match check_result {
        // Captures are stored with regular results only, so a test lists none.
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

/// The permit for one of the tests that an account may run at once; released on drop.
struct TestPermit {
    tests: Arc<OnDemandTests>,
    customer: CustomerId,
    /// Id of the test, once its record is stored.
    test_id: Option<i64>,
}

impl TestPermit {
    fn acquire(tests: &Arc<OnDemandTests>, customer: CustomerId) -> Result<Self, ServiceError> {
        let mut running = tests.running();
        let in_use = running.count_by_account.entry(customer).or_default();
        if *in_use >= MAX_CONCURRENT_PER_ACCOUNT {
            return Err(ServiceError::RateLimited(RETRY_AFTER_SECONDS));
        }
        *in_use += 1;
        drop(running);
        Ok(Self { tests: Arc::clone(tests), customer, test_id: None })
    }

    fn set_test_id(&mut self, id: i64) {
        self.test_id = Some(id);
        self.tests.running().test_ids.insert(id);
    }
}

impl Drop for TestPermit {
    fn drop(&mut self) {
        let mut running = self.tests.running();
        if let Some(id) = self.test_id {
            running.test_ids.remove(&id);
        }
        let remaining =
            running.count_by_account.get(&self.customer).map_or(0, |count| count.saturating_sub(1));
        if remaining == 0 {
            running.count_by_account.remove(&self.customer);
        } else {
            running.count_by_account.insert(self.customer, remaining);
        }
    }
}
