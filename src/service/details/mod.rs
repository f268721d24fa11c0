//! The view of a check for people, computed once; the terminal and the pages only lay it out. Values are plain, times
//! are in microseconds, sizes in bytes; labels, order, sums and sentences are decided here.

mod attempts;
mod browser;
mod content_views;
mod details_view;
mod fact_lines;
mod http_status;
mod objects;
mod page;
mod phases;
#[cfg(test)]
pub(crate) mod sample_result;
mod steps;
mod summary;
mod units;

pub use attempts::{AttemptView, HopTitle, HopView, attempt_views};
pub use browser::{ActionView, BrowserStepView, BrowserView, ConsoleLine, Metric, MetricValue};
pub use content_views::ContentViewView;
pub use details_view::DetailsView;
pub use fact_lines::{FactLine, fact_lines};
pub use objects::{ObjectView, waterfall_span};
pub use page::{ObjectChangeKind, ObjectChangeView, PageView};
pub use phases::{PhaseSpan, phase_label, phase_spans, total_us};
pub use steps::{RequestView, StepView};
pub use summary::{deciding_reason, status_text, without_bodies};
pub use units::{days_between, format_duration, format_grouped};
