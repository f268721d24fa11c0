//! The history of a monitor: its outages, and who changed what.

mod changes;
mod outages;
mod page;
mod state;

pub(super) use page::{get_page, post_acknowledge};
pub use state::HistoryState;
