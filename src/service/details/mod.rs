//! What people see of a check, worked out once: the terminal and the pages only lay it out. Values are plain, times
//! are microseconds, sizes are bytes; labels, order, sums and sentences are decided here.

mod answered;
mod attempts;
mod browser;
mod content_views;
mod fact_lines;
mod objects;
mod page;
mod phases;
#[cfg(test)]
pub(crate) mod sample;
mod steps;
mod summary;
mod units;
mod view;

pub use attempts::{AttemptView, HopTitle, HopView, attempts};
pub use browser::{ActionView, BrowserStepView, BrowserView, ConsoleLine, Measure, Measured};
pub use content_views::ContentViewRow;
pub use fact_lines::{FactLine, fact_lines};
pub use objects::{ObjectView, span};
pub use page::{ChangeKind, ChangeView, PageView};
pub use phases::{PhaseSpan, label, phase_spans, sum};
pub use steps::{RequestLine, StepView};
pub use summary::{deciding_reason, for_list, status_words};
pub use units::{days_between, duration, grouped};
pub use view::DetailsView;
