//! Results, and where monitors stand.

use crate::domain::{
    Capture, CheckId, CheckResult, CustomerId, LocationId, MonitorId, Outcome, Status, Timestamp,
};

use super::error::Answer;
use super::rollup::{Rollup, Span};
use super::samples::Samples;
use super::window::Page;

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

/// A window of the results that match, with the number of all that do.
#[derive(Clone, Debug)]
pub struct ResultPage {
    /// How many match in all.
    pub count: u64,
    /// Those in the window.
    pub results: Vec<CheckResult>,
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
