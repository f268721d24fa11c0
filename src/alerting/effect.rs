//! Effects: what the pipeline has to do after a change of alert state.

use serde::{Deserialize, Serialize};

use super::location_result::LocationResult;
use crate::domain::{
    CheckId, EpisodeId, LocationId, MonitorId, NotificationKind, RecipientId, Status, Timestamp, Verification,
};

/// An action to take or a record to store. The effects of one call are stored in one transaction with the state
/// that caused them. Effects that leave the process ([`Effect::RequestVerification`], [`Effect::CheckParents`],
/// [`Effect::RunTraceroute`])
/// start after that transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask a location outside of `failed_locations` to verify the failure of this check. Its response is passed to
    /// [`super::AlertState::on_verification`].
    RequestVerification {
        /// Planned time of the run.
        planned_at: Timestamp,
        /// The failed check.
        check_id: CheckId,
        /// Location of that check.
        location_id: LocationId,
        /// All locations where the run failed.
        failed_locations: Vec<LocationId>,
    },
    /// Add the verification to the result of this check. Status 70 turns the result into a warning.
    RecordVerification {
        /// Planned time of the run.
        planned_at: Timestamp,
        /// Location of the check.
        location: LocationId,
        /// The verification.
        verification: Verification,
    },
    /// Check these monitors, which this one depends on, outside of their schedule, preferably at `failed_location`.
    /// Those that fail are passed to [`super::AlertState::on_parents_checked`] within
    /// [`super::PARENT_CHECK_TIMEOUT`].
    CheckParents {
        /// Planned time of the failing run.
        planned_at: Timestamp,
        /// Location where it failed.
        failed_location: LocationId,
        /// The monitors to check.
        parents: Vec<MonitorId>,
    },
    /// Record in the failed results of this run that their error is suppressed.
    RecordSuppression {
        /// Planned time of the run.
        planned_at: Timestamp,
        /// Locations of the failed checks.
        locations: Vec<LocationId>,
        /// The monitors that it depends on and that are down.
        suppressed_by: Vec<MonitorId>,
    },
    /// Record the run as missed at these expected locations, which are offline and did not check it.
    RecordMissed {
        /// Planned time of the run.
        planned_at: Timestamp,
        /// The locations.
        locations: Vec<LocationId>,
    },
    /// Record that an episode started, continued or ended.
    UpdateEpisode(EpisodeSnapshot),
    /// Trace the route to the target of this check, from the location where it failed.
    RunTraceroute {
        /// Planned time of the run.
        planned_at: Timestamp,
        /// Location of the failed check.
        location: LocationId,
        /// The failed check.
        check_id: CheckId,
        /// Recipients of the trace once it is complete (kind Traceroute), each with the group that names it.
        recipients: Vec<(RecipientId, Option<i64>)>,
    },
    /// Notify one recipient.
    Notify {
        /// The recipient.
        recipient_id: RecipientId,
        /// The group that names it, whose templates are used.
        group_id: Option<i64>,
        /// Content of the notification.
        draft: NotificationDraft,
    },
}

/// Content of a notification as far as alerting decides it. The renderer takes the text from the stored result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationDraft {
    /// Kind of notification.
    pub kind: NotificationKind,
    /// Planned time of the run.
    pub planned_at: Timestamp,
    /// The episode.
    pub episode_id: Option<EpisodeId>,
    /// When the episode, or the series of runs without data, started.
    pub started_at: Option<Timestamp>,
    /// The result that decided the run; `None` when no location reported.
    pub deciding_result: Option<LocationResult>,
    /// All results of the run.
    pub location_results: Vec<LocationResult>,
    /// Expected locations that did not report.
    pub unreported_locations: Vec<LocationId>,
    /// The verification by another location.
    pub verification: Option<Verification>,
    /// Consecutive failing runs, or runs without data; 0 for a clear.
    pub consecutive_runs: u32,
    /// Whether a traceroute is in progress, for which the message waits up to 5 s.
    pub awaits_traceroute: bool,
}

/// A new version of an episode. Stored by `id`: storing it again changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeSnapshot {
    /// Id of the episode.
    pub id: EpisodeId,
    /// Planned time of its first failing run.
    pub since: Timestamp,
    /// The result that started it.
    pub cause: LocationResult,
    /// Failing runs so far.
    #[serde(rename = "runs")]
    pub failed_runs: u32,
    /// Planned time of the last failing run.
    #[serde(rename = "last_run")]
    pub last_failed_at: Timestamp,
    /// Status code of that run.
    pub last_status: Status,
    /// Locations that failed in any of its runs.
    #[serde(rename = "locations")]
    pub failed_locations: Vec<LocationId>,
    /// The verification of its first run.
    pub verification: Option<Verification>,
    /// Whether it started soon after another one ended: the monitor flaps.
    #[serde(rename = "flapping")]
    pub is_flapping: bool,
    /// How it ended; `None` while it is open.
    pub end: Option<EpisodeEnd>,
}

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeEnd {
    /// Planned time of the first passing run, or when the monitor was disabled or removed.
    #[serde(rename = "at")]
    pub ended_at: Timestamp,
    /// Whether a passing run ended it; otherwise no recipient is notified.
    #[serde(rename = "recovered")]
    pub is_recovery: bool,
}
