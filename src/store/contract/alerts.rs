//! Storage of alerting: alert states of monitors, episodes and notifications.

use serde_json::{Map, Value};

use super::future::StoreFuture;
use super::stored_json::StoredJsonNames;
use crate::domain::{
    CapturedFile, CheckId, CustomerId, EpisodeFilter, EpisodeId, LocationId, MonitorId, NewNotification,
    Notification, NotificationFilter, Paginated, Pagination, RecipientId, Timestamp, Verification,
};

/// Changes by alerting, written in the transaction of the results that caused them.
#[derive(Clone, Debug, Default)]
pub struct AlertChanges {
    /// Alert states of monitors, as JSON; `None` deletes.
    pub alert_states: Vec<(MonitorId, Option<String>)>,
    /// Episodes that started, continued or ended.
    pub episodes: Vec<StoredEpisode>,
    /// New notifications. One whose key exists already is dropped.
    pub notifications: Vec<NewNotification>,
    /// Verifications, to be stored with their results. Status 70 turns the result into a warning whose warning status
    /// is the status that it had.
    pub verified_checks: Vec<CheckVerification>,
    /// Failed checks whose error is suppressed, to be stored with their results.
    pub checks_suppressed_by_dependency: Vec<CheckSuppression>,
    /// Files added after their result.
    pub added_captures: Vec<AddedCapture>,
}

impl AlertChanges {
    /// Whether there is nothing to store.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.alert_states.is_empty()
            && self.episodes.is_empty()
            && self.notifications.is_empty()
            && self.verified_checks.is_empty()
            && self.checks_suppressed_by_dependency.is_empty()
            && self.added_captures.is_empty()
    }
}

/// The key of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResultKey {
    /// Id of the check, derived from the other fields.
    pub check_id: CheckId,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Planned time of the run.
    pub planned_at: Timestamp,
}

/// The verification of a failed check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckVerification {
    /// The failed result.
    pub result_key: ResultKey,
    /// The verification.
    pub verification: Verification,
}

/// A failed check whose error opens no episode.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSuppression {
    /// The failed result.
    pub result_key: ResultKey,
    /// The monitors that it depends on and that are down.
    pub suppressed_by: Vec<MonitorId>,
}

/// A file added after its result.
#[derive(Clone, Debug)]
pub struct AddedCapture {
    /// The result.
    pub result_key: ResultKey,
    /// The file.
    pub capture: CapturedFile,
}

/// A stored episode.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEpisode {
    /// Its id.
    pub id: EpisodeId,
    /// The account.
    pub customer: CustomerId,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Name of the monitor at that time.
    pub monitor_name: String,
    /// Planned time of its first failing run.
    pub started_at: Timestamp,
    /// When it ended; `None` while it is open.
    pub ended_at: Option<Timestamp>,
    /// Login of the user who acknowledged it; empty while it is not acknowledged. A commit does not change it.
    pub acknowledged_by: String,
    /// When it was acknowledged.
    pub acknowledged_at: Option<Timestamp>,
    /// The other fields of `EpisodeSnapshot`, as JSON.
    pub snapshot_fields: Map<String, Value>,
}

/// Outcome of a delivery attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryOutcome {
    /// The receiver accepted it.
    Sent,
    /// The attempt failed and is retried.
    RetryScheduled {
        /// The error.
        error: String,
        /// When it is retried.
        next_attempt_at: Timestamp,
    },
    /// All attempts failed; there is no further one.
    Dead {
        /// The error.
        error: String,
    },
    /// It is over the recipient's limit and waits for a digest.
    Held,
    /// It was held back and waits for its own delivery again, since no digest covers it.
    Released,
    /// It was sent as part of the digest with this id.
    Digested(i64),
}

/// Stores alert states and episodes.
pub trait AlertStore: StoredJsonNames {
    /// Returns the alert states of all monitors.
    fn alert_states(&self) -> StoreFuture<'_, Vec<(MonitorId, String)>>;

    /// Stores changes without a result, for example after a timer or a verification. Like [`super::Ingest::commit`].
    fn commit_alerts(&self, changes: AlertChanges) -> StoreFuture<'_, ()>;

    /// Returns episodes.
    fn episodes(&self, filter: EpisodeFilter, page: Pagination) -> StoreFuture<'_, Paginated<StoredEpisode>>;

    /// Returns an episode of an account.
    fn episode(&self, customer: CustomerId, id: EpisodeId) -> StoreFuture<'_, Option<StoredEpisode>>;

    /// Records who acknowledged an open episode; `false` when it is not open, or was acknowledged already.
    fn acknowledge(
        &self,
        customer: CustomerId,
        id: EpisodeId,
        login: String,
        acknowledged_at: Timestamp,
    ) -> StoreFuture<'_, bool>;

    /// Removes episodes that ended before `before`, and finished notifications created before it; returns how many.
    fn remove_finished_before(&self, before: Timestamp) -> StoreFuture<'_, u64>;
}

/// Stores notifications to be delivered.
pub trait Outbox: Send + Sync + 'static {
    /// Returns up to `max` pending notifications due at `now`, oldest first, `max_per_recipient` of one recipient, so
    /// that a slow receiver does not delay the others.
    fn due_notifications(
        &self,
        now: Timestamp,
        max: u32,
        max_per_recipient: u32,
    ) -> StoreFuture<'_, Vec<Notification>>;

    /// Returns when the next pending notification is due.
    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>>;

    /// Returns the held notifications of a recipient, oldest first.
    fn held_notifications(&self, recipient: RecipientId, max: u32) -> StoreFuture<'_, Vec<Notification>>;

    /// Returns the recipients with held notifications.
    fn recipients_with_held(&self) -> StoreFuture<'_, Vec<RecipientId>>;

    /// Records the outcomes of attempts. Notifications retried or removed meanwhile are not changed.
    fn record_outcomes(
        &self,
        outcomes: Vec<(i64, DeliveryOutcome)>,
        recorded_at: Timestamp,
    ) -> StoreFuture<'_, ()>;

    /// Makes pending notifications about this check due now, since the traceroute that they waited for is complete.
    fn make_due_for_check(&self, check: CheckId, now: Timestamp) -> StoreFuture<'_, ()>;

    /// Adds notifications such as a digest or a test; returns their ids, also for existing keys.
    fn enqueue(&self, notifications: Vec<NewNotification>) -> StoreFuture<'_, Vec<i64>>;

    /// Returns notifications of any state.
    fn notifications(
        &self,
        filter: NotificationFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<Notification>>;

    /// Makes a dead notification pending and due again; attempts and age (from `not_before`) start anew. `false` when
    /// it is not a dead notification of the account.
    fn retry_dead(&self, customer: CustomerId, id: i64, now: Timestamp) -> StoreFuture<'_, bool>;
}
