//! A result. Its captures follow in pieces; what the control plane adds, the verification and what suppresses an error,
//! does not go over the bus.

use prost::Message;

use super::attempt::{AttemptMessage, MissedRunsMessage};
use super::encoded_message::BusMessage;
use super::error::MessageError;
use super::field::{FieldOf, micros, number_in, timestamp};
use super::json;
use super::message_kind::MessageKind;
use crate::domain::{
    CheckId, CheckResult, CheckTrigger, LocationId, MonitorId, Outcome, Revision, RunId, Status,
    default_status_text,
};

/// A result.
#[derive(Clone, PartialEq, Message)]
pub struct ResultMessage {
    /// Id of the check.
    #[prost(fixed64, tag = "1")]
    pub check_id: u64,
    /// Id of the monitor.
    #[prost(int64, tag = "2")]
    pub monitor_id: i64,
    /// Revision of the monitor that ran.
    #[prost(int64, tag = "3")]
    pub revision: i64,
    /// Name of the monitor.
    #[prost(string, tag = "4")]
    pub monitor_name: String,
    /// Type of the monitor.
    #[prost(string, tag = "5")]
    pub monitor_type: String,
    /// Location of the check.
    #[prost(int64, tag = "6")]
    pub location_id: i64,
    /// Planned time of the run.
    #[prost(sfixed64, tag = "7")]
    pub planned_at_us: i64,
    /// When the first attempt started.
    #[prost(sfixed64, tag = "8")]
    pub started_at_us: i64,
    /// Position of the trigger in the list of triggers, from 1.
    #[prost(uint32, tag = "9")]
    pub trigger: u32,
    /// Position of the outcome in the list of outcomes, from 1.
    #[prost(uint32, tag = "10")]
    pub outcome: u32,
    /// Status code.
    #[prost(uint32, tag = "11")]
    pub status: u32,
    /// Status code of a warning.
    #[prost(uint32, optional, tag = "12")]
    pub warning_status: Option<u32>,
    /// Status code in plain text; absent for the usual one.
    #[prost(string, optional, tag = "13")]
    pub status_text: Option<String>,
    /// Reasons.
    #[prost(string, repeated, tag = "14")]
    pub reasons: Vec<String>,
    /// Duration of all attempts together.
    #[prost(uint64, tag = "15")]
    pub duration_us: u64,
    /// Address and port of the peer.
    #[prost(string, optional, tag = "16")]
    pub address: Option<String>,
    /// The attempts.
    #[prost(message, repeated, tag = "17")]
    pub attempts: Vec<AttemptMessage>,
    /// Facts from the last attempt.
    #[prost(bytes = "vec", tag = "18")]
    pub facts_json: Vec<u8>,
    /// Details of the last attempt.
    #[prost(bytes = "vec", tag = "19")]
    pub details_json: Vec<u8>,
    /// Set for missed runs.
    #[prost(message, optional, tag = "20")]
    pub missed: Option<MissedRunsMessage>,
}

impl BusMessage for ResultMessage {
    const KIND: MessageKind = MessageKind::Result;
}

const fn field(name: &'static str) -> FieldOf {
    FieldOf(MessageKind::Result, name)
}

impl ResultMessage {
    /// Creates the message of `result`, without its captures.
    ///
    /// # Errors
    /// Fails when a value cannot be JSON.
    pub fn from_result(result: &CheckResult) -> Result<Self, MessageError> {
        let usual_text = default_status_text(result.outcome, result.status);
        let attempts = result.attempts.iter().map(AttemptMessage::from_attempt);
        Ok(Self {
            check_id: result.check_id.0,
            monitor_id: result.monitor_id.0,
            revision: result.revision.0,
            monitor_name: result.monitor_name.as_ref().to_owned(),
            monitor_type: result.monitor_type.name().to_owned(),
            location_id: result.location_id.0,
            planned_at_us: micros(result.planned_at),
            started_at_us: micros(result.started_at),
            trigger: number_in(&CheckTrigger::ALL, &result.trigger),
            outcome: number_in(&Outcome::ALL, &result.outcome),
            status: result.status.0.into(),
            warning_status: result.warning_status.map(|status| status.0.into()),
            status_text: (result.status_text != usual_text).then(|| result.status_text.clone()),
            reasons: result.reasons.clone(),
            duration_us: result.duration_us,
            address: result.address.map(|address| address.to_string()),
            attempts: attempts.collect::<Result<_, _>>()?,
            facts_json: json::encode(field("facts_json"), &result.facts)?,
            details_json: json::encode(field("details_json"), &result.details)?,
            missed: result.missed.map(MissedRunsMessage::from_missed),
        })
    }

    /// Returns the result.
    ///
    /// # Errors
    /// Fails for a value that cannot be used, and an id that is not that of its monitor, planned time and location.
    pub fn into_result(self) -> Result<CheckResult, MessageError> {
        let (monitor_id, location_id) = (MonitorId(self.monitor_id), LocationId(self.location_id));
        let planned_at = timestamp(self.planned_at_us);
        let run_id = RunId::new(monitor_id, planned_at);
        let check_id = CheckId(self.check_id);
        if check_id != CheckId::new(run_id, location_id) {
            let reason = format!("{check_id} is not the check of its monitor, planned time and location");
            return Err(field("check_id").invalid(reason));
        }
        let outcome = field("outcome").numbered(&Outcome::ALL, self.outcome)?;
        let missed = self.missed.map(MissedRunsMessage::into_missed).transpose()?;
        if missed.is_some() != (outcome == Outcome::Missed) {
            return Err(field("missed").invalid("it must be set for the outcome `missed`, and only for it"));
        }
        let status = Status(field("status").narrow(self.status)?);
        let warning_status = self.warning_status.map(|status| field("warning_status").narrow(status));
        let usual_text = || default_status_text(outcome, status).to_owned();
        let attempts = self.attempts.into_iter().map(AttemptMessage::into_attempt);
        Ok(CheckResult {
            check_id,
            run_id,
            monitor_id,
            monitor_name: self.monitor_name.into(),
            revision: Revision(self.revision),
            monitor_type: field("monitor_type").monitor_type(&self.monitor_type)?,
            location_id,
            planned_at,
            trigger: field("trigger").numbered(&CheckTrigger::ALL, self.trigger)?,
            started_at: timestamp(self.started_at_us),
            outcome,
            status,
            warning_status: warning_status.transpose()?.map(Status),
            status_text: self.status_text.unwrap_or_else(usual_text),
            reasons: self.reasons,
            duration_us: self.duration_us,
            address: self.address.map(|text| field("address").address(&text)).transpose()?,
            attempts: attempts.collect::<Result<_, _>>()?,
            facts: json::decode(field("facts_json"), &self.facts_json)?,
            details: json::decode(field("details_json"), &self.details_json)?,
            captures: Vec::new(),
            verification: None,
            suppressed_by: Vec::new(),
            missed,
        })
    }
}
