//! control

mod health;
mod view;

pub use health::{Condition, Vitals};
pub use view::{Board, BoardRow, RowPage, RowQuery, Standing, View};
// What reading answers with, so that pages and API need no door to the store.
pub use crate::store::{MonitorState, Page, ResultFilter, ResultPage, StoreError};
