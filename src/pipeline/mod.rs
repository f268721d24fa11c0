//! From results to the state of monitors, alerts and their delivery; planning and housekeeping.

mod alerts;
mod delivery;
mod housekeeping;
mod ingest;
mod performance;
mod planner;
mod state;
mod wakeup;

pub use alerts::{AlarmSettings, Lookout, LookoutParts};
pub(crate) use delivery::template::template;
pub use delivery::{AddressBook, Addressee, Addresses, Delivery, DeliveryParts, DeliverySettings};
pub use housekeeping::{Chore, ExpiredTokens, Household, Housekeeper, TimeOfDay};
pub use ingest::{IngestSettings, Ingestor};
pub use performance::{Performance, PerformanceParts};
pub use planner::{Agent, PlanError, Planned, Planner};
pub use state::next_state;
pub use wakeup::Bell;
