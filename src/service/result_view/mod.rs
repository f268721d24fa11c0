//! The view of a check for people, computed once; the terminal and the pages only lay it out. Values are plain, times
//! are in microseconds, sizes in bytes; labels, order, sums and sentences are decided here.

mod attempts;
mod browser;
mod comparison;
mod content_view_rows;
mod details_view;
mod documents;
mod fact_line;
mod fact_lines;
mod failed_assertions;
mod http_status;
mod objects;
mod page;
mod phases;
#[cfg(test)]
pub(crate) mod sample_result;
mod security_lines;
mod steps;
mod summary;
mod units;
mod without_secrets;

pub use attempts::{AttemptView, HopHeading, HopView, attempt_views};
pub use browser::{ActionView, BrowserStepView, BrowserView, ConsoleLine, PageMetric, PageMetricValue};
pub use comparison::{ComparisonRow, comparison_rows};
pub use content_view_rows::ContentViewRow;
pub use details_view::DetailsView;
pub use documents::document_views;
pub use fact_line::FactLine;
pub use fact_lines::{CERTIFICATE_LABELS, fact_lines};
pub use failed_assertions::{FailedAssertion, failed_assertions};
pub use objects::{ObjectView, waterfall_span_us};
pub use page::{ObjectChangeKind, ObjectChangeView, PageView};
pub use phases::{PhaseSpan, phase_label, phase_spans, phases_sum_us};
pub use steps::{RequestView, StepView};
pub use summary::{
    deciding_reason, status_description, suppression_text, trigger_text, without_exchanges_and_objects,
};
pub use units::{days_between, format_duration, format_grouped, format_interval};
pub use without_secrets::without_secrets;
