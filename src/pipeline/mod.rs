//! From results to monitor states, alerts and their delivery; also planning and housekeeping.

mod alerts;
mod delivery;
mod housekeeping;
mod ingest;
mod performance;
mod planner;
mod wakeup;

pub use alerts::{AlertEngine, AlertEngineDependencies, AlertEngineSettings, episode_record};
pub(crate) use delivery::template::template_from_fields;
pub use delivery::{
    AccountDestinations, DeliveryDependencies, DeliveryHandle, DeliverySettings, DeliveryWorker, Destination,
    DestinationLookup,
};
pub use housekeeping::{
    ExpiredLoginPurger, HousekeepingJob, HousekeepingRunner, HousekeepingScheduler, TimeOfDay,
};
pub use ingest::{
    CommitObserver, IngestDependencies, IngestSettings, IngestTask, Ingestor, QuarantineRecorder,
    QuarantineRecorderDependencies, ResultSpool, next_monitor_state, replay_spool,
};
pub use performance::{PerformanceDependencies, PerformanceEvaluator, PerformanceTask};
pub use planner::{AgentStatus, PlanError, PlanFuture, Planner};
pub use wakeup::DeliveryWakeup;
