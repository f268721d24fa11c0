//! The record of a check.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::captured_file::CapturedFile;
use super::check_details::{CheckDetails, StepResult};
use super::check_trigger::CheckTrigger;
use super::failure::{Failure, FailureKind};
use super::id::{CheckId, LocationId, MonitorId, Revision, RunId};
use super::monitor_type::MonitorType;
use super::observation::{Certificate, Facts, Observation, Warning};
use super::phase::Phases;
use super::status::{Outcome, Status};
use super::time::Timestamp;
use super::verification::Verification;

/// The verdict on a check, drawn from its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Outcome of the check.
    pub outcome: Outcome,
    /// 0 for ok and warning, else the code of the deciding failure.
    pub status: Status,
    /// For warnings: the code of the first attempt, or of the warning.
    pub warning_status: Option<Status>,
    /// Reasons in plain text, the deciding one first.
    pub reasons: Vec<String>,
}

/// One attempt of the probe (behaviour.md 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// 1, or 2 for the retry.
    pub number: u8,
    /// When it started.
    pub started_at: Timestamp,
    /// Duration in microseconds.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Duration of each phase.
    pub phases: Phases,
    /// Why it failed; absent when it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Attempt {
    /// Creates the record of `observation`, made by attempt `number`.
    #[must_use]
    pub fn from_observation(number: u8, started_at: Timestamp, observation: &Observation) -> Self {
        Self {
            number,
            started_at,
            duration_us: duration_micros(observation.duration),
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
    /// The previous run of the same monitor was still in progress.
    StillRunning,
    /// Admission let no more checks run within the interval.
    Overload,
    /// The process was suspended or stopped by the system.
    #[serde(rename = "paused")]
    ProcessSuspended,
    /// The process was not running.
    NotRunning,
    /// The location has no live agent.
    #[serde(rename = "location_away")]
    LocationOffline,
}

/// Returns the text of a result without a text of its own: that of its status, and `blackout` for a run that a blackout
/// suppressed, whose status is 0.
#[must_use]
pub fn default_status_text(outcome: Outcome, status: Status) -> &'static str {
    if outcome == Outcome::Blackout { outcome.name() } else { status.text() }
}

impl MissedReason {
    /// Every reason.
    pub const ALL: [Self; 5] =
        [Self::StillRunning, Self::Overload, Self::ProcessSuspended, Self::NotRunning, Self::LocationOffline];

    /// Returns the stable name, used by metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StillRunning => "still_running",
            Self::Overload => "overload",
            Self::ProcessSuspended => "paused",
            Self::NotRunning => "not_running",
            Self::LocationOffline => "location_away",
        }
    }

    /// Returns one sentence for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::StillRunning => "the previous run was still in progress",
            Self::Overload => "no execution slot was free within its interval",
            Self::ProcessSuspended => "Vigie was suspended when it was due",
            Self::NotRunning => "Vigie was not running when it was due",
            Self::LocationOffline => "the location had no live agent when it was due",
        }
    }
}

/// Consecutive runs of one monitor that did not happen, for one reason. They share one record, so that a long stop
/// costs one row per monitor; `CheckResult::planned_at` is the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedRuns {
    /// Why they did not happen.
    pub reason: MissedReason,
    /// Number of these runs, at least 1.
    #[serde(rename = "slots")]
    pub run_count: u32,
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
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// Name of the monitor when the check ran.
    pub monitor_name: Arc<str>,
    /// Revision of the monitor that ran.
    pub revision: Revision,
    /// Type of the monitor.
    #[serde(rename = "type")]
    pub monitor_type: MonitorType,
    /// Location where the check ran.
    pub location_id: LocationId,
    /// Planned time of the run; of a first check, the time of the change that caused it.
    pub planned_at: Timestamp,
    /// What caused the check.
    #[serde(default)]
    pub trigger: CheckTrigger,
    /// When the first attempt started; for a missed run, when it was found to be missed.
    pub started_at: Timestamp,
    /// Outcome of the check.
    pub outcome: Outcome,
    /// Status code.
    pub status: Status,
    /// Status code of a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_status: Option<Status>,
    /// Status code in plain text.
    pub status_text: String,
    /// Reasons, the deciding one first.
    pub reasons: Vec<String>,
    /// Duration of all attempts together, in microseconds. For a full page it excludes the objects, so that runs with
    /// and without them compare.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Address of the peer of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// Attempts in their order; empty for a run that did not happen.
    pub attempts: Vec<Attempt>,
    /// Facts from the last attempt.
    #[serde(default)]
    pub facts: Facts,
    /// Details of the last attempt.
    #[serde(flatten)]
    pub details: CheckDetails,
    /// Captured files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<CapturedFile>,
    /// Result of the confirmation by a second location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The monitors that it depends on and that are down, so that its error opens no episode (behaviour.md 6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed_by: Vec<MonitorId>,
    /// Set when `outcome` is missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<MissedRuns>,
}

/// What a record is about: the monitor as it was then, and the location.
#[derive(Clone, Debug)]
pub struct CheckMetadata {
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// Name of the monitor.
    pub monitor_name: Arc<str>,
    /// Revision of the monitor.
    pub revision: Revision,
    /// Type of the monitor.
    pub monitor_type: MonitorType,
    /// Location of the check.
    pub location_id: LocationId,
}

impl CheckResult {
    /// Whether its last attempt was cancelled before it finished.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let last_failure = self.attempts.last().and_then(|attempt| attempt.failure.as_ref());
        last_failure.is_some_and(|failure| failure.kind == FailureKind::Cancelled)
    }

    /// Creates the record, without attempts, of the run that was planned at `planned_at`.
    #[must_use]
    pub fn without_attempts(
        metadata: CheckMetadata,
        planned_at: Timestamp,
        started_at: Timestamp,
        verdict: Verdict,
    ) -> Self {
        let run_id = RunId::new(metadata.monitor_id, planned_at);
        Self {
            check_id: CheckId::new(run_id, metadata.location_id),
            run_id,
            monitor_id: metadata.monitor_id,
            monitor_name: metadata.monitor_name,
            revision: metadata.revision,
            monitor_type: metadata.monitor_type,
            location_id: metadata.location_id,
            planned_at,
            trigger: CheckTrigger::Schedule,
            started_at,
            outcome: verdict.outcome,
            status: verdict.status,
            warning_status: verdict.warning_status,
            status_text: default_status_text(verdict.outcome, verdict.status).to_owned(),
            reasons: verdict.reasons,
            duration_us: 0,
            address: None,
            attempts: Vec::new(),
            facts: Facts::default(),
            details: CheckDetails::default(),
            captures: Vec::new(),
            verification: None,
            suppressed_by: Vec::new(),
            missed: None,
        }
    }

    /// Creates the record of `missed` runs, the first of them planned at `planned_at`; detected at `detected_at`.
    #[must_use]
    pub fn from_missed_runs(
        metadata: CheckMetadata,
        planned_at: Timestamp,
        detected_at: Timestamp,
        missed: MissedRuns,
    ) -> Self {
        let verdict = Verdict {
            outcome: Outcome::Missed,
            status: Status::INTERNAL,
            warning_status: None,
            reasons: vec![missed.reason.describe().to_owned()],
        };
        Self { missed: Some(missed), ..Self::without_attempts(metadata, planned_at, detected_at, verdict) }
    }

    /// Returns the phases of the last attempt, which decides.
    #[must_use]
    pub fn phases(&self) -> Phases {
        self.attempts.last().map(|attempt| attempt.phases).unwrap_or_default()
    }

    /// Returns the step that failed, for a check with steps.
    #[must_use]
    pub fn failing_step(&self) -> Option<&StepResult> {
        self.details.steps.iter().find(|step| step.has_failed())
    }

    /// Returns the own certificate of the peer, the first one that it sent.
    #[must_use]
    pub fn peer_certificate(&self) -> Option<&Certificate> {
        self.facts.tls.as_ref()?.certificates.first()
    }

    /// Returns the number of planned runs that this record covers.
    #[must_use]
    pub fn run_count(&self) -> u32 {
        self.missed.map_or(1, |missed| missed.run_count)
    }

    /// Returns how late the first attempt started; `None` for a run that did not happen or was not due at a time.
    #[must_use]
    pub fn lateness(&self) -> Option<Duration> {
        (self.missed.is_none() && self.trigger.is_schedule()).then(|| self.started_at.since(self.planned_at))
    }
}

/// Returns the whole microseconds of `duration`, at most `u64::MAX`.
#[must_use]
pub fn duration_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
