//! Outages and messages as users see them: lists, acknowledging, sending a dead letter again, test messages, and
//! templates that are tried.

mod alerts_service;
mod episodes;
mod messages;
mod tried;
mod watchman;

pub use alerts_service::{AlertService, AlertServiceDependencies};
pub use watchman::{AlertControl, NoAlertControl};
