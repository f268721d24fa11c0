//! Tests on demand: one check of a monitor out of its schedule, kept apart from its history (behaviour.md 1
//! `/tests`).

use crate::sync::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::caller::{Caller, Refusal};
use crate::catalog::moment::utc;
use crate::catalog::object::object_of;
use crate::catalog::stored::listed;
use crate::catalog::{Directory, Roster};
use crate::clock::Clock;
use crate::domain::{CheckResult, CustomerId, LocationId, MonitorId, Outcome, Record, RecordKind, Revision};
use crate::pipeline::{PlanError, Planner};
use crate::schema::Monitor;
use crate::schema::typed::record::TestSettings;
use crate::store::{AuditObject, ConfigChange, ConfigStore, NewRecord, Pagination, RecordFilter, StoreError};
use crate::syntax::source::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Tests of one account that may run at once; one more is asked to wait (429).
const AT_ONCE: usize = 5;
/// Seconds after which a refused test is worth another try.
const AGAIN: u64 = 10;
/// Records that one step of [`Trials::purge`] removes.
const STEP: u32 = 500;

/// What tests on demand work with.
#[derive(Clone)]
pub struct TrialParts {
    /// Keeps them.
    pub ledger: Arc<dyn ConfigStore>,
    /// The monitors.
    pub roster: Arc<Roster>,
    /// The locations of accounts.
    pub directory: Arc<Directory>,
    /// Runs them.
    pub planner: Arc<dyn Planner>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// How long they are kept: as the details of results.
    pub keep: Duration,
}

/// Tests on demand of all accounts.
pub struct Trials {
    parts: TrialParts,
    running: Mutex<Running>,
}

/// What this process runs: a test that is kept as running and is not here was interrupted.
#[derive(Default)]
struct Running {
    places: HashMap<CustomerId, usize>,
    ids: HashSet<i64>,
}

/// How far a test is, as behaviour.md 1 numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It runs.
    Running = 1,
    /// The check passed, perhaps with a warning.
    Succeeded = 2,
    /// The check failed, or could not be made.
    Failed = 3,
}

impl Trials {
    /// Over `parts`.
    #[must_use]
    pub fn new(parts: TrialParts) -> Self {
        Self { parts, running: Mutex::default() }
    }

    /// Starts a test of `monitor`, at its home location when none is named, and answers its number at once.
    /// It goes on when its requester is gone.
    pub async fn start(
        self: &Arc<Self>,
        caller: &Caller,
        monitor: MonitorId,
        location: Option<LocationId>,
    ) -> Result<i64, Refusal> {
        let monitor = self.parts.roster.of(caller.customer, monitor).ok_or(Refusal::NotFound)?;
        if !monitor.document.settings().schedule.allow_internal_testing {
            let message = "The monitor permits planned runs only: its `allow_internal_testing` is false";
            return Err(Refusal::Conflict(message.to_owned()));
        }
        let location = self.location(caller, &monitor, location).await?;
        let mut seat = Seat::take(self, caller.customer)?;
        let (trials, caller) = (Arc::clone(self), caller.clone());
        let (tell, told) = tokio::sync::oneshot::channel();
        // A task of its own from here on: a requester that goes away leaves nothing half done. The seat is
        // given back even when the check panics; what is kept then shows as interrupted.
        tokio::spawn(async move {
            let kept = trials.keep(&caller, &monitor, location).await;
            if let Ok(record) = &kept {
                seat.name(record.id);
            }
            // An error means that nobody waits for the number any more.
            let _ = tell.send(kept.as_ref().map(|record| record.id).map_err(Clone::clone));
            if let Ok(record) = kept {
                let outcome = trials.parts.planner.check_once(monitor, location).await;
                trials.finish(record, outcome).await;
            }
        });
        told.await.unwrap_or_else(|_| Err(Refusal::Unavailable("The test could not be started".to_owned())))
    }

    /// One test as version 3 shows it.
    pub async fn one(&self, caller: &Caller, id: i64) -> Result<Map<String, Value>, Refusal> {
        // Looked up before the record: one that ends in between is kept before it leaves those that run.
        let runs = self.running().ids.contains(&id);
        let record = self.parts.ledger.record(RecordKind::Test, id).await?;
        let record = record.filter(|record| record.customer == caller.customer).ok_or(Refusal::NotFound)?;
        Ok(shown(record, runs))
    }

    /// Removes those that were kept long enough; answers how many.
    pub async fn purge(&self) -> Result<u64, StoreError> {
        let before = self.parts.clock.now() - self.parts.keep;
        let mut removed = 0;
        loop {
            let filter = RecordFilter { until: Some(before), ..RecordFilter::new(RecordKind::Test) };
            let old = self.parts.ledger.records(filter, Pagination { limit: STEP, offset: 0 }).await?.items;
            if old.is_empty() {
                return Ok(removed);
            }
            removed += old.len() as u64;
            let remove = |record: Record| ConfigChange::RemoveRecord {
                kind: RecordKind::Test,
                id: record.id,
                expected: record.revision,
            };
            self.parts.ledger.write_changes(old.into_iter().map(remove).collect(), Vec::new()).await?;
        }
    }

    /// Where it runs: at the location that was asked for, at home, or at the account's default.
    async fn location(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        asked: Option<LocationId>,
    ) -> Result<LocationId, Refusal> {
        let facts = self.parts.directory.facts(caller.customer).await?;
        if let Some(asked) = asked {
            if facts.locations.contains_key(&asked.0) {
                return Ok(asked);
            }
            let message = format!("`location_id` must be a location of the account, not `{asked}`");
            let fault = ValidationError::new(
                ValidationErrorKind::Conflict,
                "location_id",
                Position::default(),
                message,
            );
            return Err(Refusal::Faults(vec![fault]));
        }
        let home = monitor.document.settings().schedule.home_location;
        let fallback = || facts.default_locations.first().copied().map(LocationId);
        home.or_else(fallback).ok_or_else(|| Refusal::Conflict("The account has no location".to_owned()))
    }

    async fn keep(
        &self,
        caller: &Caller,
        monitor: &Monitor,
        location: LocationId,
    ) -> Result<Record, Refusal> {
        let now = self.parts.clock.now();
        let fields = object_of(json!({
            "monitor_id": monitor.id,
            "location_id": location,
            "progress": Progress::Running as u8,
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
        let entry = caller.entry(now, "create", name, AuditObject::Created(0), monitor.name());
        let entry = crate::store::NewAuditEntry { after: fields.clone(), ..entry };
        let made =
            self.parts.ledger.write_changes(vec![ConfigChange::CreateRecord(new)], vec![entry]).await?;
        let gone = || Refusal::Unavailable("The test was not kept".to_owned());
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

    async fn finish(&self, mut record: Record, outcome: Result<CheckResult, PlanError>) {
        let now = self.parts.clock.now();
        let (progress, name, value) = told(outcome);
        record.fields.insert("progress".to_owned(), Value::from(progress as u8));
        record.fields.insert("ended_at".to_owned(), Value::from(utc(now)));
        record.fields.insert(name.to_owned(), value);
        let (id, expected) = (record.id, record.revision);
        record.revision = Revision(expected.0 + 1);
        record.modified_at = now;
        let put = ConfigChange::UpdateRecord { record: Box::new(record), expected };
        match self.parts.ledger.write_changes(vec![put], Vec::new()).await {
            Ok(_) => {}
            // It was removed meanwhile, with its monitor.
            Err(StoreError::Stale) => tracing::debug!(test = id, "a test ended after it was removed"),
            Err(error) => {
                tracing::warn!(error_kind = error.kind(), test = id, "a test cannot be kept: {error}");
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock()
    }
}

/// A test as version 3 shows it; `runs` says whether this process is at it.
fn shown(record: Record, runs: bool) -> Map<String, Value> {
    let began = listed(&record).is_some_and(|test: TestSettings| test.progress == Progress::Running as u8);
    let interrupted = began && !runs;
    let mut shown = object_of(json!({
        "id": record.id,
        "monitor_id": null,
        "location_id": null,
        "progress": null,
        "result_url": result_url(record.id),
        "login": record.created_by,
        "ordered_at": utc(record.created_at),
        "ended_at": null,
        "error": null,
        "result": null,
    }));
    shown.extend(record.fields);
    if interrupted {
        shown.insert("progress".to_owned(), Value::from(Progress::Failed as u8));
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
fn told(outcome: Result<CheckResult, PlanError>) -> (Progress, &'static str, Value) {
    let result = match outcome {
        // The content of files is kept with results alone: a test names none that nobody can fetch.
        Ok(result) => CheckResult { captures: Vec::new(), ..result },
        Err(error) => return (Progress::Failed, "error", Value::from(error.to_string())),
    };
    let passed = matches!(result.outcome, Outcome::Ok | Outcome::Warning);
    let progress = if passed { Progress::Succeeded } else { Progress::Failed };
    match serde_json::to_value(&result) {
        Ok(result) => (progress, "result", result),
        Err(error) => (Progress::Failed, "error", Value::from(format!("the result is unreadable: {error}"))),
    }
}

/// One of the places of an account, given back when it is dropped.
struct Seat {
    trials: Arc<Trials>,
    customer: CustomerId,
    id: Option<i64>,
}

impl Seat {
    fn take(trials: &Arc<Trials>, customer: CustomerId) -> Result<Self, Refusal> {
        let mut running = trials.running();
        let taken = running.places.entry(customer).or_default();
        if *taken >= AT_ONCE {
            return Err(Refusal::Throttled(AGAIN));
        }
        *taken += 1;
        drop(running);
        Ok(Self { trials: Arc::clone(trials), customer, id: None })
    }

    fn name(&mut self, id: i64) {
        self.id = Some(id);
        self.trials.running().ids.insert(id);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut running = self.trials.running();
        if let Some(id) = self.id {
            running.ids.remove(&id);
        }
        let left = running.places.get(&self.customer).map_or(0, |taken| taken.saturating_sub(1));
        if left == 0 {
            running.places.remove(&self.customer);
        } else {
            running.places.insert(self.customer, left);
        }
    }
}
