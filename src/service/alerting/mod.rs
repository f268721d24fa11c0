//! Outages and messages as users see them: lists, acknowledging, sending a dead letter again, test messages, and
//! templates that are tried.

mod alert_control;
mod alert_service;
mod episodes;
mod notifications;
mod previews;

pub use alert_control::{AlertControl, NoAlertControl};
pub use alert_service::{AlertService, AlertServiceDependencies};
