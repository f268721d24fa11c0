//! Episodes and notifications for users: lists, acknowledging, retrying dead notifications, test notifications, and
//! previews of templates.

mod alert_control;
mod alert_service;
mod episodes;
mod notifications;
mod previews;

pub use alert_control::{AlertControl, NoAlertControl};
pub use alert_service::{AlertService, AlertServiceDependencies};
