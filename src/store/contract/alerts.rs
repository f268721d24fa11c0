//! What alerting keeps: watches of monitors, outages, and the messages that somebody is owed.

use serde_json::{Map, Value};

use super::future::StoreFuture;
use crate::domain::{
    Capture, CheckId, CustomerId, EpisodeFilter, EpisodeId, LocationId, MonitorId, NewNotification,
    Notification, NotificationFilter, Paginated, Pagination, RecipientId, Timestamp, Verification,
};

/// What alerting adds to the transaction of the results that it follows from.
#[derive(Clone, Debug, Default)]
pub struct AlertChanges {
    /// What is remembered of monitors, as JSON; `None` forgets.
    pub alert_states: Vec<(MonitorId, Option<String>)>,
    /// Outages that began, went on or ended.
    pub episodes: Vec<StoredEpisode>,
    /// Messages. One whose key is there already is dropped.
    pub notifications: Vec<NewNotification>,
    /// Answers of second locations, to be kept with results. With status 70 the result turns into a warning,
    /// whose reservation is the status that it had.
    pub verifications: Vec<VerifiedCheck>,
    /// Files that came after their result.
    pub evidence: Vec<Evidence>,
}

impl AlertChanges {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.alert_states.is_empty()
            && self.episodes.is_empty()
            && self.notifications.is_empty()
            && self.verifications.is_empty()
            && self.evidence.is_empty()
    }
}

/// The key of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResultKey {
    /// Its id, which follows from the rest.
    pub check_id: CheckId,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// The run.
    pub planned_at: Timestamp,
}

/// The answer of a second location to a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedCheck {
    /// The result that failed.
    pub result: ResultKey,
    /// The answer.
    pub answer: Verification,
}

/// A file that came after its result.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The result.
    pub result: ResultKey,
    /// The file.
    pub file: Capture,
}

/// An outage as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEpisode {
    /// Its number.
    pub id: EpisodeId,
    /// Whose.
    pub customer: CustomerId,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Name of the monitor then.
    pub monitor_name: String,
    /// Planned time of its first failing run.
    pub since: Timestamp,
    /// When it ended; `None` while it is open.
    pub ended_at: Option<Timestamp>,
    /// Who acknowledged it; empty for nobody. A commit leaves it is kept.
    pub acknowledged_by: String,
    /// When.
    pub acknowledged_at: Option<Timestamp>,
    /// The rest, in the form of `EpisodeChange`.
    pub body: Map<String, Value>,
}

/// How a try ended.
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryOutcome {
    /// The receiver took it.
    Sent,
    /// It did not; the next try is then.
    Failed {
        /// Why.
        error: String,
        /// When it is tried again.
        next_at: Timestamp,
    },
    /// Given up.
    Dead {
        /// Why.
        error: String,
    },
    /// Over the recipient's limit: it waits for a digest.
    Held,
    /// It went out as a line of this digest, which was sent.
    Digested(i64),
}

/// Watches, outages and messages.
pub trait AlertStore: Send + Sync + 'static {
    /// Everything that is remembered of monitors.
    fn alert_states(&self) -> StoreFuture<'_, Vec<(MonitorId, String)>>;

    /// Keeps what alerting came to without a result, as after a timer or an answer. As [`super::Ingest::commit`].
    fn commit_alerts(&self, changes: AlertChanges) -> StoreFuture<'_, ()>;

    /// Outages.
    fn episodes(&self, filter: EpisodeFilter, page: Pagination) -> StoreFuture<'_, Paginated<StoredEpisode>>;

    /// One of an account.
    fn episode(&self, customer: CustomerId, id: EpisodeId) -> StoreFuture<'_, Option<StoredEpisode>>;

    /// Notes who acknowledged an open outage; `false` when it is none, or was acknowledged already.
    fn acknowledge(
        &self,
        customer: CustomerId,
        id: EpisodeId,
        login: String,
        at: Timestamp,
    ) -> StoreFuture<'_, bool>;

    /// Removes outages that ended, and messages that were sent or given up, before `before`; answers how many.
    fn remove_ended_before(&self, before: Timestamp) -> StoreFuture<'_, u64>;
}

/// Messages on their way.
pub trait Outbox: Send + Sync + 'static {
    /// Pending ones that are due at `now`, the oldest first, at most `most` and at most `each` of one recipient,
    /// so that one slow receiver does not hold up the others.
    fn due(&self, now: Timestamp, max: u32, each: u32) -> StoreFuture<'_, Vec<Notification>>;

    /// When the next pending one is due.
    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>>;

    /// Held ones of a recipient, the oldest first.
    fn held(&self, recipient: RecipientId, max: u32) -> StoreFuture<'_, Vec<Notification>>;

    /// Recipients with held ones.
    fn recipients_with_held(&self) -> StoreFuture<'_, Vec<RecipientId>>;

    /// Notes how tries ended. One that was retried or removed meanwhile is left alone.
    fn record_outcomes(&self, ended: Vec<(i64, DeliveryOutcome)>, at: Timestamp) -> StoreFuture<'_, ()>;

    /// Makes waiting messages about this check due now: what they waited for is there.
    fn release_for_check(&self, check: CheckId, now: Timestamp) -> StoreFuture<'_, ()>;

    /// Adds messages, as a digest or a test; answers their numbers, those of known keys too.
    fn enqueue(&self, new: Vec<NewNotification>) -> StoreFuture<'_, Vec<i64>>;

    /// Messages of any state.
    fn notifications(
        &self,
        filter: NotificationFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<Notification>>;

    /// Makes a dead one pending and due again: tries and age (from `not_before`) count anew. `false` when it is no
    /// dead one of the account.
    fn retry(&self, customer: CustomerId, id: i64, now: Timestamp) -> StoreFuture<'_, bool>;
}
