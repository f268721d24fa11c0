//! Use cases over the traits of the store: provision monitors, ingest results, keep house, show what is known.

mod health;
mod housekeeping;
mod ingest;
mod provision;
mod state;
mod view;

pub use health::{Condition, Vitals};
pub use housekeeping::{Chore, Household, Housekeeper, TimeOfDay};
pub use ingest::{IngestSettings, Ingestor};
pub use provision::{Provision, Wanted, compare, provision, provision_over};
pub use state::next_state;
pub use view::{Board, BoardRow, RowPage, RowQuery, Standing, View};
// What reading answers with, so that pages and API need no door to the store.
pub use crate::store::{MonitorState, Page, ResultFilter, ResultPage, StoreError};
