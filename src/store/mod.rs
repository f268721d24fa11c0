//! What is kept, as traits by use. SQLite stands behind them; PostgreSQL will.

use std::pin::Pin;
use std::time::Duration;

use crate::domain::{
    Capture, CheckId, CheckResult, CustomerId, LocationId, MonitorId, Outcome, Revision, Status, Timestamp,
};
use crate::schema::Monitor;

mod alarms;
mod ledger;
mod performance;
mod samples;
mod sqlite;

pub use alarms::{
    Alarm, Alarms, Delivery, EpisodeFilter, Evidence, KeptEpisode, NotificationFilter, Outbox, ResultKey,
    VerifiedCheck,
};

pub use ledger::{
    AuditEntry, AuditFilter, AuditObject, AuditRow, Entries, KeptMonitor, Ledger, Listed, NewMonitor,
    NewRecord, RecordFilter, Reseal, Token, TokenKind, Tokens, Write, seal_context,
};

pub use performance::{KeptRaised, PerformanceStates};
pub use samples::Samples;
pub use sqlite::{SKETCH_ERROR, SqliteReader, SqliteSettings, SqliteStore, Synchronous};

/// The future of one call.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Why the store could not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk or quota is full; worth trying again once there is room.
    #[error("the disk is full: {0}; free space or move the data folder, nothing was lost so far")]
    Full(String),
    /// Another process holds the database; worth trying again.
    #[error("the database is locked by another process: {0}")]
    Locked(String),
    /// It cannot be read or written at all.
    #[error("the database cannot be used: {0}")]
    Unusable(String),
    /// The file is of a newer version of Vigie.
    #[error("the database has schema version {found}, this build knows up to {known}; use a newer vigie")]
    TooNew {
        /// Version of the file.
        found: i64,
        /// Newest version that this build knows.
        known: i64,
    },
    /// A stored value is of a form that this build does not know; nothing was put in its place.
    #[error(
        "a stored value cannot be decoded: table `{table}`, row {row}, column `{column}`: {why}; use the vigie that wrote it, or correct or remove the row"
    )]
    Undecodable {
        /// Where it stands.
        table: &'static str,
        /// The columns of its key with their values.
        row: String,
        /// In which column.
        column: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The query took longer than the settings allow.
    #[error("the query took too long; ask for a shorter time or fewer monitors")]
    Slow,
    /// Somebody else changed or removed it meanwhile; nothing of the call was done.
    #[error("it was changed meanwhile")]
    Stale,
    /// Another record has this unique text; nothing of the call was done.
    #[error("`{0}` is taken")]
    Taken(String),
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// The stable word, used by metrics.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Full(_) => "full",
            Self::Locked(_) => "locked",
            Self::Unusable(_) => "unusable",
            Self::TooNew { .. } => "too_new",
            Self::Undecodable { .. } => "undecodable",
            Self::Slow => "slow",
            Self::Stale => "stale",
            Self::Taken(_) => "taken",
            Self::Closed => "closed",
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Full(_) | Self::Locked(_))
    }
}

/// What one transaction takes.
#[derive(Debug, Default, Clone)]
pub struct Commit {
    /// Results; their ids are those that [`CheckId::of`] gives. A real result replaces a missed one of the same check id; any other repeat is dropped.
    pub results: Vec<CheckResult>,
    /// States that follow from them.
    pub states: Vec<MonitorState>,
    /// What alerting makes of them.
    pub alarm: Alarm,
}

/// Where a monitor stands at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorState {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Its last recorded check.
    pub check_id: CheckId,
    /// Planned time of that run (of a missed series, of its last slot).
    pub planned_at: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
    /// Its status code.
    pub status: Status,
    /// Its duration in microseconds.
    pub total_us: u64,
    /// Planned time of the first run of this unbroken series of the same outcome.
    pub since: Timestamp,
    /// Runs in that series.
    pub streak: u32,
    /// When the last check there began that loaded the objects of the page.
    pub full_page_at: Option<Timestamp>,
}

/// Which results are wanted; every part that is set narrows. Newest first.
#[derive(Clone, Debug, Default)]
pub struct ResultFilter {
    /// Of these monitors; empty for all.
    pub monitors: Vec<MonitorId>,
    /// Of this location.
    pub location: Option<LocationId>,
    /// Planned at or after.
    pub from: Option<Timestamp>,
    /// Planned before.
    pub thru: Option<Timestamp>,
    /// Of these outcomes; empty for all.
    pub outcomes: Vec<Outcome>,
    /// Of monitors of this account, removed ones too; of all accounts when absent.
    pub customer: Option<CustomerId>,
}

/// A window of a list.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// At most so many.
    pub limit: u32,
    /// After so many.
    pub offset: u64,
}

/// A window of the results that match, with the number of all that do.
#[derive(Clone, Debug)]
pub struct ResultPage {
    /// How many match in all.
    pub count: u64,
    /// Those in the window.
    pub results: Vec<CheckResult>,
}

/// How long each kind of data is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Narrow rows of results.
    pub results: Duration,
    /// Details (attempts, facts) of ok results.
    pub details_ok: Duration,
    /// Details of all other results.
    pub details_failed: Duration,
    /// Hourly rollups.
    pub hourly: Duration,
    /// Daily rollups.
    pub daily: Duration,
    /// The audit trail.
    pub audit: Duration,
}

/// How wide a rollup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// An hour from its full hour, UTC.
    Hour,
    /// A day from 00:00 UTC.
    Day,
}

/// Figures of one monitor at one location over an hour or a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollup {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Start of the hour or day.
    pub start: Timestamp,
    /// Runs by outcome, in the order of [`Outcome::ALL`].
    pub runs: [u64; 6],
    /// Mean duration of ok and warning runs in microseconds; `None` without one.
    pub mean_us: Option<u64>,
    /// Percentiles 50, 75, 90, 95, 99 of the same, in microseconds.
    pub percentiles_us: Option<[u64; 5]>,
}

/// Takes results and what follows from them.
pub trait Ingest: Send + Sync + 'static {
    /// Keeps all of `commit` or nothing of it; once answered, a killed process loses none of it.
    fn commit(&self, commit: Commit) -> Answer<'_, ()>;
}

/// Keeps monitors.
pub trait Monitors: Send + Sync + 'static {
    /// All that were not removed. Documents hold no secrets: those stay with their source.
    fn monitors(&self) -> Answer<'_, Vec<Monitor>>;

    /// The ids that belong to the keys of `customer`'s monitor files, given to new ones in order; a key
    /// that comes back gets its old id.
    fn ids_for(&self, customer: CustomerId, keys: Vec<String>) -> Answer<'_, Vec<MonitorId>>;

    /// The newest revision of each of `ids`, of removed monitors as well; 0 for one that had none.
    fn last_revisions(&self, ids: Vec<MonitorId>) -> Answer<'_, Vec<Revision>>;

    /// Stores new versions and removes monitors, with the entries of the audit trail about them: all or nothing.
    fn change(&self, puts: Vec<Monitor>, removed: Vec<MonitorId>, entries: Entries) -> Answer<'_, ()>;
}

/// Reads what was kept.
pub trait Results: Samples {
    /// Results, newest first.
    fn results(&self, filter: ResultFilter, page: Page) -> Answer<'_, ResultPage>;

    /// One result with all its details that are still kept. Also an unknown id is looked up in a moment.
    fn result(&self, id: CheckId) -> Answer<'_, Option<CheckResult>>;

    /// A file that a result holds, with its content.
    fn capture(&self, id: CheckId, name: String) -> Answer<'_, Option<Capture>>;

    /// Where these monitors stand, by monitor and location; nothing for removed ones.
    fn states_of(&self, monitors: Vec<MonitorId>) -> Answer<'_, Vec<MonitorState>>;

    /// The result behind each of `states`, with its details; found without a search, unlike by
    /// [`Results::result`].
    fn results_behind(&self, states: Vec<MonitorState>) -> Answer<'_, Vec<Option<CheckResult>>>;

    /// Where every monitor stands.
    fn states(&self) -> Answer<'_, Vec<MonitorState>>;

    /// Rollups of one monitor that start in `from..thru`, oldest first.
    fn rollups(
        &self,
        monitor: MonitorId,
        span: Span,
        from: Timestamp,
        thru: Timestamp,
    ) -> Answer<'_, Vec<Rollup>>;
}

/// Work that follows the calendar.
pub trait Housekeeping: Send + Sync + 'static {
    /// Writes the rollups of all hours and days that ended before `now` and changed since the last call;
    /// answers how many were written.
    fn roll_up(&self, now: Timestamp) -> Answer<'_, u64>;

    /// Removes what is older than `retention` says, in steps that let writers through; answers how many
    /// rows went.
    fn retain(&self, retention: Retention, now: Timestamp) -> Answer<'_, u64>;
}
