//! Results, and where monitors stand.

use crate::domain::{
    Capture, CheckId, CheckResult, MonitorId, MonitorState, Page, ResultFilter, ResultPage, Timestamp,
};

use super::error::Answer;
use super::rollup::{Rollup, Span};
use super::samples::Samples;

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
