//! Who is to be woken, decided without I/O: the runs of a monitor over its locations, its outages, thresholds and
//! who is told (behaviour.md 5 and 6). Time, recipients and blackouts come in as arguments; what is to be done
//! goes out as [`Effect`]s, in their order.

mod audience;
mod effect;
mod heard;
mod outage;
mod passing;
mod performance;
mod policy;
mod run;
mod settling;
mod terms;
mod watch;

pub use audience::{performance_recipients_for, recipients_for};
pub use effect::{Effect, EpisodeChange, EpisodeEnd, NotificationDraft};
pub use heard::{ExpiringCertificate, LocationResult, PageChange};
pub use performance::{
    ActivePerformanceAlert, MIN_CHECKS, PerformanceChange, PerformanceLevel, PerformanceRule,
    PerformanceThreshold,
};
pub use policy::{AlertPolicy, Quorum};
pub use terms::{AlertContext, Contacts};
pub use watch::{AlertState, MonitorHealth};
