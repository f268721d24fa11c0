//! Use cases of episodes and notifications: list them, acknowledge, retry dead notifications, send a test, preview a
//! template.

mod alert_pipeline_handle;
mod alert_service;
mod episodes;
mod notifications;
mod previews;

pub use alert_pipeline_handle::{AlertPipelineHandle, NoopAlertPipeline};
pub use alert_service::{AlertService, AlertServiceDependencies};
