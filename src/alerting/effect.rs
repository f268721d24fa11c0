//! What follows from what was heard.

use serde::{Deserialize, Serialize};

use super::location_result::LocationResult;
use crate::domain::{
    CheckId, EpisodeId, LocationId, NotificationKind, RecipientId, Status, Timestamp, Verification,
};

/// Something to be done or kept. Effects of one call are kept in one transaction with the state they come from;
/// what leaves the process ([`Effect::RequestVerification`], [`Effect::RunTraceroute`]) is begun after it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask a location outside of `failed` to look at the failure of this check; its answer comes back through
    /// [`super::AlertState::on_verification`].
    RequestVerification {
        /// The run.
        planned_at: Timestamp,
        /// The check that failed.
        check: CheckId,
        /// Where.
        location: LocationId,
        /// Everywhere where the run failed.
        failed: Vec<LocationId>,
    },
    /// The answer goes with the result of this check; with 70 the result turns into a warning.
    RecordVerification {
        /// The run.
        planned_at: Timestamp,
        /// The location of the check.
        location: LocationId,
        /// The answer.
        answer: Verification,
    },
    /// These locations were expected, are away, and did not check the run: it is recorded as missed there.
    RecordMissed {
        /// The run.
        planned_at: Timestamp,
        /// Which.
        locations: Vec<LocationId>,
    },
    /// An outage began, went on or ended.
    UpdateEpisode(EpisodeChange),
    /// Trace the way to the target of this check, from where it failed.
    RunTraceroute {
        /// The run.
        planned_at: Timestamp,
        /// Where it failed.
        location: LocationId,
        /// The check.
        check: CheckId,
        /// Who is told of it once it is there (kind Traceroute).
        audience: Vec<(RecipientId, Option<i64>)>,
    },
    /// Tell somebody.
    Notify {
        /// Who, and by the templates of which group.
        recipient: RecipientId,
        /// The group that names them.
        group: Option<i64>,
        /// What.
        draft: NotificationDraft,
    },
}

/// What is told, as far as it is decided here; the words are found in the result by who writes the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationDraft {
    /// What it is about.
    pub kind: NotificationKind,
    /// The run.
    pub planned_at: Timestamp,
    /// The outage.
    pub episode: Option<EpisodeId>,
    /// When that began.
    pub started_at: Option<Timestamp>,
    /// The check that decided; `None` when no location was heard.
    pub deciding_result: Option<LocationResult>,
    /// Everything that was heard of the run.
    pub location_results: Vec<LocationResult>,
    /// Locations that were expected and not heard.
    pub unreported_locations: Vec<LocationId>,
    /// What a second location said.
    pub verification: Option<Verification>,
    /// Consecutive failing runs, or runs without data; 0 for a clear.
    pub errcount: u32,
    /// Whether a traceroute is on its way, for which the message waits up to 5 s.
    pub awaits_trace: bool,
}

/// What happens to an outage. Kept by `id`: a repeat changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeChange {
    /// Its id.
    pub id: EpisodeId,
    /// When its first failing run was planned.
    pub since: Timestamp,
    /// The check that began it, with what it found.
    pub cause: LocationResult,
    /// Failing runs so far.
    #[serde(rename = "runs")]
    pub failed_runs: u32,
    /// The last of them.
    pub last_run: Timestamp,
    /// The status code then.
    pub last_status: Status,
    /// Locations that were heard failing, over all its runs.
    pub locations: Vec<LocationId>,
    /// What a second location said at its beginning.
    pub verification: Option<Verification>,
    /// Whether it began soon after another one ended: the monitor flaps.
    pub flapping: bool,
    /// Set when it ends.
    pub end: Option<EpisodeEnd>,
}

/// How an outage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeEnd {
    /// Planned time of the first good run, or when the monitor was disabled or removed.
    pub at: Timestamp,
    /// Whether a good run ended it; else nobody is told.
    pub recovered: bool,
}
