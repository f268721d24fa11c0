//! Attempts of a check, and missed runs.

use prost::Message;

use super::error::MessageError;
use super::field::{FieldOf, micros, number_in, timestamp};
use super::json;
use super::message_kind::MessageKind;
use crate::domain::{Attempt, MissedReason, MissedRuns, Phase, Phases};
use std::time::Duration;

/// One attempt.
#[derive(Clone, PartialEq, Message)]
pub struct AttemptMessage {
    /// 1, or 2 for the retry.
    #[prost(uint32, tag = "1")]
    pub number: u32,
    /// When it started.
    #[prost(sfixed64, tag = "2")]
    pub started_at_us: i64,
    /// Its duration.
    #[prost(uint64, tag = "3")]
    pub duration_us: u64,
    /// The phases that were reached.
    #[prost(message, repeated, tag = "4")]
    pub phases: Vec<PhaseMessage>,
    /// Why it failed.
    #[prost(bytes = "vec", tag = "5")]
    pub failure_json: Vec<u8>,
    /// Its warnings.
    #[prost(bytes = "vec", tag = "6")]
    pub warnings_json: Vec<u8>,
}

/// The duration of one phase.
#[derive(Clone, PartialEq, Message)]
pub struct PhaseMessage {
    /// Position of the phase in the list of phases, from 1.
    #[prost(uint32, tag = "1")]
    pub phase: u32,
    /// Its duration.
    #[prost(uint32, tag = "2")]
    pub duration_us: u32,
}

/// Consecutive runs that did not happen.
#[derive(Clone, PartialEq, Message)]
pub struct MissedRunsMessage {
    /// Position of the reason in the list of reasons, from 1.
    #[prost(uint32, tag = "1")]
    pub reason: u32,
    /// Number of the runs.
    #[prost(uint32, tag = "2")]
    pub run_count: u32,
    /// Planned time of the last of them.
    #[prost(sfixed64, tag = "3")]
    pub last_planned_at_us: i64,
}

const fn field(name: &'static str) -> FieldOf {
    FieldOf(MessageKind::Result, name)
}

impl AttemptMessage {
    pub(super) fn from_attempt(attempt: &Attempt) -> Result<Self, MessageError> {
        let phases = attempt
            .phases
            .iter()
            .map(|(phase, duration_us)| PhaseMessage { phase: number_in(&Phase::ALL, &phase), duration_us });
        Ok(Self {
            number: attempt.number.into(),
            started_at_us: micros(attempt.started_at),
            duration_us: attempt.duration_us,
            phases: phases.collect(),
            failure_json: json::encode(field("attempts.failure_json"), &attempt.failure)?,
            warnings_json: json::encode(field("attempts.warnings_json"), &attempt.warnings)?,
        })
    }

    pub(super) fn into_attempt(self) -> Result<Attempt, MessageError> {
        let mut phases = Phases::default();
        for PhaseMessage { phase, duration_us } in self.phases {
            let phase = field("attempts.phases.phase").numbered(&Phase::ALL, phase)?;
            phases.set(phase, Duration::from_micros(duration_us.into()));
        }
        Ok(Attempt {
            number: field("attempts.number").narrow(self.number)?,
            started_at: timestamp(self.started_at_us),
            duration_us: self.duration_us,
            phases,
            failure: json::decode(field("attempts.failure_json"), &self.failure_json)?,
            warnings: json::decode(field("attempts.warnings_json"), &self.warnings_json)?,
        })
    }
}

impl MissedRunsMessage {
    pub(super) fn from_missed(missed: MissedRuns) -> Self {
        Self {
            reason: number_in(&MissedReason::ALL, &missed.reason),
            run_count: missed.run_count,
            last_planned_at_us: micros(missed.last_planned_at),
        }
    }

    pub(super) fn into_missed(self) -> Result<MissedRuns, MessageError> {
        if self.run_count == 0 {
            return Err(field("missed.run_count").invalid("0 runs were not missed"));
        }
        Ok(MissedRuns {
            reason: field("missed.reason").numbered(&MissedReason::ALL, self.reason)?,
            run_count: self.run_count,
            last_planned_at: timestamp(self.last_planned_at_us),
        })
    }
}
