//! Alert decisions without I/O: resolves the runs of a monitor over its locations, tracks its episodes and
//! thresholds, and selects recipients (behaviour.md 5 and 6). Time, recipients and blackouts are arguments; the
//! actions to take are returned as [`Effect`]s, in order.

mod alert_context;
mod alert_policy;
mod alert_state;
mod effect;
mod first_check;
mod location_result;
mod monitor_health;
mod monitors_of_recipient;
mod open_episode;
mod parent_monitors;
mod pending_run;
mod pending_runs;
mod performance;
mod recipient_selection;
mod resolve_run;
mod suppression;

pub use alert_context::{AlertContext, Contacts};
pub use alert_policy::{AlertPolicy, Quorum};
pub use alert_state::AlertState;
pub use effect::{Effect, EpisodeEnd, EpisodeSnapshot, NotificationDraft};
pub use location_result::{ExpiringCertificate, LocationResult, PageChange};
pub use monitor_health::MonitorHealth;
pub use monitors_of_recipient::MonitorsOfRecipient;
pub use parent_monitors::{PARENT_CHECK_TIMEOUT, ParentState};
pub use performance::{
    ActivePerformanceAlert, MIN_REFERENCE_CHECKS, PerformanceAlertChange, PerformanceAlertLevel,
    PerformanceRule, PerformanceThreshold,
};
pub use recipient_selection::{select_performance_recipients, select_recipients};
