//! The record that is kept of a run at a location.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::capture::Capture;
use super::check_details::{CheckDetails, StepResult};
use super::failure::Failure;
use super::id::{CheckId, LocationId, MonitorId, Revision, RunId};
use super::monitor_type::MonitorType;
use super::observation::{Facts, Observation, Warning};
use super::phase::Phases;
use super::status::{Outcome, Status};
use super::time::Timestamp;
use super::verification::Verification;

/// What the attempts of a check mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it came to.
    pub outcome: Outcome,
    /// 0 for ok and warning, else the deciding failure's code.
    pub status: Status,
    /// For warnings: the first attempt's code, or the code of the reservation.
    pub warning_status: Option<Status>,
    /// Why, in words, the deciding reason first.
    pub reasons: Vec<String>,
}

/// One try of the probe (behaviour.md 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// 1, or 2 for the retry.
    pub number: u8,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in microseconds.
    pub total_us: u64,
    /// Where the time went.
    pub phases: Phases,
    /// Why it failed; left out when it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Reservations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Attempt {
    /// The record of `observation`, made by attempt `number`.
    #[must_use]
    pub fn from_observation(number: u8, started_at: Timestamp, observation: &Observation) -> Self {
        Self {
            number,
            started_at,
            total_us: duration_micros(observation.total),
            phases: observation.phases,
            failure: observation.failure.clone(),
            warnings: observation.warnings.clone(),
        }
    }
}

/// Why planned runs did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissedReason {
    /// The previous run of the same monitor was still going.
    StillRunning,
    /// No place was free within the interval.
    Overload,
    /// The process was suspended or stopped by the system.
    Paused,
    /// The process was not running.
    NotRunning,
    /// The location has no live agent.
    LocationAway,
}

impl MissedReason {
    /// Every reason.
    pub const ALL: [Self; 5] =
        [Self::StillRunning, Self::Overload, Self::Paused, Self::NotRunning, Self::LocationAway];

    /// The stable word, used by metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StillRunning => "still_running",
            Self::Overload => "overload",
            Self::Paused => "paused",
            Self::NotRunning => "not_running",
            Self::LocationAway => "location_away",
        }
    }

    /// One sentence for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::StillRunning => "the previous run was still going",
            Self::Overload => "no place was free to run it within its interval",
            Self::Paused => "Vigie was suspended when it was due",
            Self::NotRunning => "Vigie was not running when it was due",
            Self::LocationAway => "the location had no live agent when it was due",
        }
    }
}

/// Consecutive runs of one monitor that did not happen, for one reason. Kept as one record so that
/// a long stop costs one row per monitor; `CheckResult::planned_at` is the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedRuns {
    /// Why.
    pub reason: MissedReason,
    /// How many slots, at least 1.
    pub slots: u32,
    /// Planned time of the last of them.
    pub last_planned_at: Timestamp,
}

/// The record of one check. Serializes as behaviour.md 9 shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The key of this record.
    pub check_id: CheckId,
    /// The run that it belongs to.
    pub run_id: RunId,
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its name when the check ran.
    pub monitor_name: Arc<str>,
    /// Its version that ran.
    pub revision: Revision,
    /// Its type.
    #[serde(rename = "type")]
    pub monitor_type: MonitorType,
    /// Where the check ran.
    pub location_id: LocationId,
    /// When the run was due.
    pub planned_at: Timestamp,
    /// When the first attempt began; of a missed run, when that was found out.
    pub started_at: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
    /// Status code.
    pub status: Status,
    /// Code of the reservation of a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_status: Option<Status>,
    /// The status code in words.
    pub status_text: String,
    /// Why, the deciding reason first.
    pub reasons: Vec<String>,
    /// How long all attempts took together, in microseconds; of a full page, without its objects, so that runs
    /// with and without compare.
    pub total_us: u64,
    /// The peer of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// The tries, in their order; none for a run that did not happen.
    pub attempts: Vec<Attempt>,
    /// What the last attempt learned.
    #[serde(default)]
    pub facts: Facts,
    /// How the last attempt went, piece by piece.
    #[serde(flatten)]
    pub details: CheckDetails,
    /// Files that it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<Capture>,
    /// What a second location said of its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// Set when `outcome` is missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<MissedRuns>,
}

/// What a record is of: the monitor as it was then, and where.
#[derive(Clone, Debug)]
pub struct CheckMetadata {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// Its name.
    pub monitor_name: Arc<str>,
    /// Its version.
    pub revision: Revision,
    /// Its type.
    pub monitor_type: MonitorType,
    /// Where it was to be checked.
    pub location_id: LocationId,
}

impl CheckResult {
    /// The record without attempts of the run that was due at `planned_at`.
    #[must_use]
    pub fn without_attempts(
        of: CheckMetadata,
        planned_at: Timestamp,
        started_at: Timestamp,
        verdict: Verdict,
    ) -> Self {
        let run_id = RunId::new(of.monitor_id, planned_at);
        Self {
            check_id: CheckId::new(run_id, of.location_id),
            run_id,
            monitor_id: of.monitor_id,
            monitor_name: of.monitor_name,
            revision: of.revision,
            monitor_type: of.monitor_type,
            location_id: of.location_id,
            planned_at,
            started_at,
            outcome: verdict.outcome,
            status: verdict.status,
            warning_status: verdict.warning_status,
            status_text: verdict.status.text().to_owned(),
            reasons: verdict.reasons,
            total_us: 0,
            address: None,
            attempts: Vec::new(),
            facts: Facts::default(),
            details: CheckDetails::default(),
            captures: Vec::new(),
            verification: None,
            missed: None,
        }
    }

    /// The record of `missed` runs, the first of them due at `planned_at`; they were found out at `noticed_at`.
    #[must_use]
    pub fn missed(
        of: CheckMetadata,
        planned_at: Timestamp,
        noticed_at: Timestamp,
        missed: MissedRuns,
    ) -> Self {
        let verdict = Verdict {
            outcome: Outcome::Missed,
            status: Status::INTERNAL,
            warning_status: None,
            reasons: vec![missed.reason.describe().to_owned()],
        };
        Self { missed: Some(missed), ..Self::without_attempts(of, planned_at, noticed_at, verdict) }
    }

    /// The phases of the attempt that decided, the last one.
    #[must_use]
    pub fn phases(&self) -> Phases {
        self.attempts.last().map(|attempt| attempt.phases).unwrap_or_default()
    }

    /// The step that failed, of a check that has steps.
    #[must_use]
    pub fn failing_step(&self) -> Option<&StepResult> {
        self.details.steps.iter().find(|step| step.status != Status::OK)
    }

    /// How many planned runs this record stands for.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.missed.map_or(1, |missed| missed.slots)
    }

    /// How late the first attempt began; `None` for a run that did not happen.
    #[must_use]
    pub fn lateness(&self) -> Option<Duration> {
        self.missed.is_none().then(|| self.started_at.since(self.planned_at))
    }
}

/// Whole microseconds of `duration`, as far as they go.
#[must_use]
pub fn duration_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
