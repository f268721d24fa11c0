//! The history of a monitor: its outages, and who changed what.

mod changes;
mod outages;
mod page;
mod revert;
mod state;

pub(super) use page::{get_page, post_acknowledge};
pub(super) use revert::{get_revert, post_revert};
pub use state::HistoryState;
