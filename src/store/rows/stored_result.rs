//! Decoding of a stored result.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::{
    Attempt, CheckId, CheckResult, CheckTrigger, Facts, LocationId, MissedReason, MissedRuns, MonitorId,
    MonitorType, Outcome, Phase, Phases, Revision, RunId, Status, Timestamp, TlsFacts, default_status_text,
};

use super::decode::{DecodeError, RowLocator};
use super::result_row::{DetailsBody, decode_address};

/// The columns of a stored result, its shared texts and its details.
pub(in crate::store) struct StoredResult<'a> {
    pub(in crate::store) planned_at: i64,
    pub(in crate::store) monitor_id: i64,
    pub(in crate::store) location_id: i64,
    pub(in crate::store) outcome: i64,
    pub(in crate::store) status: i64,
    pub(in crate::store) warning_status: Option<i64>,
    pub(in crate::store) start_delay_us: i64,
    pub(in crate::store) duration_us: i64,
    /// Durations of [`Phase::COMMON`].
    pub(in crate::store) phases_us: [Option<i64>; Phase::COMMON.len()],
    pub(in crate::store) body_wire_bytes: Option<i64>,
    pub(in crate::store) body_bytes: Option<i64>,
    pub(in crate::store) address: Option<&'a [u8]>,
    pub(in crate::store) revision: i64,
    pub(in crate::store) last_attempt_number: i64,
    pub(in crate::store) missed_reason: Option<i64>,
    pub(in crate::store) missed_run_count: Option<i64>,
    pub(in crate::store) last_planned_at: Option<i64>,
    pub(in crate::store) type_and_name: Option<&'a str>,
    pub(in crate::store) shared_facts_json: Option<&'a str>,
    pub(in crate::store) certificate_chain_json: Option<&'a str>,
    pub(in crate::store) details_json: Option<&'a str>,
    pub(in crate::store) uncommon_phases_json: Option<&'a str>,
    pub(in crate::store) is_first_check: bool,
}

impl StoredResult<'_> {
    /// Decodes the result.
    pub(in crate::store) fn decode(&self) -> Result<CheckResult, DecodeError> {
        let key = [
            ("planned_at", self.planned_at),
            ("monitor_id", self.monitor_id),
            ("location_id", self.location_id),
        ];
        let locator = RowLocator { table: "results", key: &key };
        let planned_at = Timestamp::from_micros(self.planned_at);
        let (monitor_id, location_id) = (MonitorId(self.monitor_id), LocationId(self.location_id));
        let run_id = RunId::new(monitor_id, planned_at);
        let started_at = Timestamp::from_micros(self.planned_at.saturating_add(self.start_delay_us));
        let details = match self.details_json {
            Some(body) => DetailsBody::decode(RowLocator { table: "details", ..locator }, body)?,
            None => DetailsBody::default(),
        };
        let (monitor_type, monitor_name) = self.monitor_type_and_name(locator)?;
        let outcome = u8::try_from(self.outcome).ok().and_then(Outcome::from_code);
        let outcome = locator.require_decoded("outcome", self.outcome, outcome)?;
        let status = Status(narrow(locator, "status", self.status)?);
        let warning_status =
            self.warning_status.map(|status| narrow(locator, "warning_status", status)).transpose()?;
        let duration_us = narrow(locator, "total_us", self.duration_us)?;
        Ok(CheckResult {
            check_id: CheckId::new(run_id, location_id),
            run_id,
            monitor_id,
            monitor_name: Arc::from(monitor_name),
            revision: Revision(self.revision),
            monitor_type,
            location_id,
            planned_at,
            trigger: if self.is_first_check { CheckTrigger::First } else { CheckTrigger::Schedule },
            started_at,
            outcome,
            status,
            warning_status: warning_status.map(Status),
            status_text: details
                .status_text
                .map_or_else(|| default_status_text(outcome, status).to_owned(), Cow::into_owned),
            reasons: details.reasons.into_owned(),
            duration_us,
            address: self.address(locator)?,
            attempts: match details.attempts {
                Some(attempts) => attempts.into_owned(),
                None => self.attempts_without_details(locator, started_at, duration_us)?,
            },
            facts: self.facts(locator, details.facts)?,
            details: details.details.into_owned(),
            captures: details.captures,
            verification: details.verification.map(Cow::into_owned),
            suppressed_by: details.suppressed_by,
            missed: self.missed_runs(locator)?,
        })
    }

    fn monitor_type_and_name(&self, locator: RowLocator<'_>) -> Result<(MonitorType, &str), DecodeError> {
        let label = self.type_and_name.unwrap_or_default();
        let decoded = label.split_once(' ').and_then(|(monitor_type, monitor_name)| {
            Some((MonitorType::from_name(monitor_type)?, monitor_name))
        });
        locator.require_decoded("label", label, decoded)
    }

    fn address(&self, locator: RowLocator<'_>) -> Result<Option<SocketAddr>, DecodeError> {
        let decode = |bytes: &[u8]| {
            decode_address(bytes)
                .ok_or_else(|| locator.decode_error("address", format_args!("{} bytes", bytes.len())))
        };
        self.address.map(decode).transpose()
    }

    /// Returns the only attempt, or what is known of the deciding one when its details were removed.
    fn attempts_without_details(
        &self,
        locator: RowLocator<'_>,
        started_at: Timestamp,
        duration_us: u64,
    ) -> Result<Vec<Attempt>, DecodeError> {
        let number = narrow(locator, "attempts", self.last_attempt_number)?;
        if number == 0 {
            return Ok(Vec::new());
        }
        let phases = decode_phases(locator, self.uncommon_phases_json, &self.phases_us)?;
        Ok(vec![Attempt { number, started_at, duration_us, phases, failure: None, warnings: Vec::new() }])
    }

    fn facts(&self, locator: RowLocator<'_>, own_facts: Option<Facts>) -> Result<Facts, DecodeError> {
        let mut facts: Facts = match (own_facts, self.shared_facts_json) {
            (Some(facts), _) => facts,
            (None, Some(json)) => locator.parse_json(json, "facts")?,
            (None, None) => Facts::default(),
        };
        // A flattened part without required fields deserializes as present: undo that.
        if facts.tls.as_deref() == Some(&TlsFacts::default()) {
            facts.tls = None;
        }
        if let Some(json) = self.certificate_chain_json {
            facts.tls.get_or_insert_default().certificates = locator.parse_json(json, "chain")?;
        }
        if let (Some(http), Some(wire_bytes), Some(body_bytes)) =
            (&mut facts.http, self.body_wire_bytes, self.body_bytes)
        {
            http.body_wire_bytes = narrow(locator, "body_wire_bytes", wire_bytes)?;
            http.body_bytes = narrow(locator, "body_bytes", body_bytes)?;
        }
        Ok(facts)
    }

    fn missed_runs(&self, locator: RowLocator<'_>) -> Result<Option<MissedRuns>, DecodeError> {
        let Some(run_count) = self.missed_run_count else { return Ok(None) };
        let reason = self.missed_reason.unwrap_or_default();
        let decoded = usize::try_from(reason).ok().and_then(|index| MissedReason::ALL.get(index).copied());
        Ok(Some(MissedRuns {
            reason: locator.require_decoded("missed_reason", reason, decoded)?,
            run_count: narrow(locator, "missed_slots", run_count)?,
            last_planned_at: Timestamp::from_micros(self.last_planned_at.unwrap_or_default()),
        }))
    }
}

/// Decodes the phases of a row: those without a column as JSON, and those of [`Phase::COMMON`].
pub(in crate::store) fn decode_phases(
    locator: RowLocator<'_>,
    uncommon_phases_json: Option<&str>,
    phases_us: &[Option<i64>; Phase::COMMON.len()],
) -> Result<Phases, DecodeError> {
    let mut phases: Phases = match uncommon_phases_json {
        Some(json) => locator.parse_json(json, "session")?,
        None => Phases::default(),
    };
    add_common_phases(&mut phases, phases_us);
    Ok(phases)
}

/// Adds the phases of [`Phase::COMMON`].
pub(in crate::store) fn add_common_phases(
    phases: &mut Phases,
    phases_us: &[Option<i64>; Phase::COMMON.len()],
) {
    for (micros, phase) in phases_us.iter().zip(Phase::COMMON) {
        if let Some(micros) = micros.and_then(|micros| u32::try_from(micros).ok()) {
            phases.set(phase, Duration::from_micros(u64::from(micros)));
        }
    }
}

/// Converts a stored integer to a type with a smaller range.
pub(in crate::store) fn narrow<T: TryFrom<i64>>(
    locator: RowLocator<'_>,
    column: &'static str,
    value: i64,
) -> Result<T, DecodeError> {
    T::try_from(value).map_err(|_| locator.decode_error(column, format_args!("{value} is out of range")))
}
