//! Who is to be woken, decided without I/O: the runs of a monitor over its locations, its outages, thresholds and
//! who is told (behaviour.md 5 and 6). Time, recipients and blackouts come in as arguments; what is to be done
//! goes out as [`Effect`]s, in their order.

mod alert_policy;
mod alert_state;
mod audience;
mod context;
mod effect;
mod location_result;
mod on_tick;
mod open_episode;
mod pending_run;
mod performance;
mod resolve_run;

pub use alert_policy::{AlertPolicy, Quorum};
pub use alert_state::{AlertState, MonitorHealth};
pub use audience::{performance_recipients_for, recipients_for};
pub use context::{AlertContext, Contacts};
pub use effect::{Effect, EpisodeChange, EpisodeEnd, NotificationDraft};
pub use location_result::{ExpiringCertificate, LocationResult, PageChange};
pub use performance::{
    ActivePerformanceAlert, MIN_CHECKS, PerformanceChange, PerformanceLevel, PerformanceRule,
    PerformanceThreshold,
};
