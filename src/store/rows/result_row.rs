//! A result as rows: the narrow row, shared texts and details. The caller of `commit` builds it, so that the writing
//! thread does not serialize JSON.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{
    Attempt, CapturedFile, CheckDetails, CheckResult, CheckTrigger, Facts, MissedReason, MonitorId, Outcome,
    Phase, Phases, Verification, default_status_text,
};

use super::captures::{self, CaptureChunk};
use super::decode::{DecodeError, RowLocator};
use super::missed_runs::MissedColumns;
use super::shared_text::SharedText;

/// The details that the narrow row lacks; absent parts can be derived from that row.
#[derive(Default, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct DetailsBody<'a> {
    /// Absent for a single attempt that passed without warnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) attempts: Option<Cow<'a, [Attempt]>>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(in crate::store) reasons: Cow<'a, [String]>,
    /// Facts that differ from run to run, without certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) facts: Option<Facts>,
    #[serde(flatten)]
    pub(in crate::store) details: Cow<'a, CheckDetails>,
    /// Absent when it is the standard text of the status code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) status_text: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::store) captures: Vec<CapturedFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) verification: Option<Cow<'a, Verification>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::store) suppressed_by: Vec<MonitorId>,
    /// Unknown fields of a row, which flattened parts do not reject by themselves.
    #[serde(flatten, skip_serializing)]
    unknown: Map<String, Value>,
}

impl DetailsBody<'static> {
    /// Decodes the details of `row` from the JSON `body`; fails for unknown fields, which would be lost.
    pub(in crate::store) fn decode(row: RowLocator<'_>, body: &str) -> Result<Self, DecodeError> {
        let details: Self = row.parse_json(body, "body")?;
        match details.unknown.keys().next() {
            Some(name) => Err(row.decode_error("body", format_args!("unknown field `{name}`"))),
            None => Ok(details),
        }
    }
}

/// A result, ready to be written.
pub(in crate::store) struct ResultRow {
    pub(in crate::store) planned_at: i64,
    pub(in crate::store) monitor_id: i64,
    pub(in crate::store) location_id: i64,
    pub(in crate::store) outcome: Outcome,
    pub(in crate::store) status: u16,
    pub(in crate::store) warning_status: Option<u16>,
    /// Time from the planned time to the start.
    pub(in crate::store) start_delay_us: i64,
    pub(in crate::store) duration_us: i64,
    /// Duration of the full page; stored here too, since details are removed earlier.
    pub(in crate::store) full_page_us: Option<i64>,
    pub(in crate::store) phases: Phases,
    pub(in crate::store) body_wire_bytes: Option<i64>,
    pub(in crate::store) body_bytes: Option<i64>,
    /// Address and port, as `encode_address` returns them.
    pub(in crate::store) address: Option<Vec<u8>>,
    pub(in crate::store) revision: i64,
    /// Number of the last attempt, from 1; 0 without attempts.
    pub(in crate::store) last_attempt_number: i64,
    /// Type and name of the monitor, with a space between them.
    pub(in crate::store) type_and_name: SharedText,
    /// All facts as JSON, when they stay the same from run to run.
    pub(in crate::store) shared_facts: Option<SharedText>,
    pub(in crate::store) certificate_chain: Option<SharedText>,
    pub(in crate::store) missed: Option<MissedColumns>,
    pub(in crate::store) is_first_check: bool,
    /// [`DetailsBody`]; `None` when it is empty.
    pub(in crate::store) details_json: Option<String>,
    pub(in crate::store) capture_chunks: Vec<CaptureChunk>,
}

impl ResultRow {
    pub(in crate::store) fn from_result(result: &CheckResult) -> Self {
        let start_delay_us = result.started_at.as_micros().saturating_sub(result.planned_at.as_micros());
        let phases = result.phases();
        let last_attempt_number = i64::from(result.attempts.last().map_or(0, |attempt| attempt.number));
        let mut facts = result.facts.clone();
        let (body_wire_bytes, body_bytes) = take_body_sizes(&mut facts);
        let full_page_us = result.details.page_load.as_ref().map(|page| saturating_i64(page.duration_us));
        let certificate_chain = take_certificate_chain(&mut facts);
        let (shared_facts, own_facts) = share_or_keep_facts(facts);
        let has_own_status_text = result.status_text != default_status_text(result.outcome, result.status);
        // Their contents are shared.
        let mut captures = result.captures.clone();
        let capture_chunks = captures::take_compressed_chunks(&mut captures);
        let details = DetailsBody {
            attempts: (!are_attempts_implied(result)).then_some(Cow::Borrowed(&result.attempts)),
            reasons: Cow::Borrowed(&result.reasons),
            facts: own_facts,
            details: Cow::Borrowed(&result.details),
            status_text: has_own_status_text.then_some(Cow::Borrowed(&result.status_text)),
            captures,
            verification: result.verification.as_ref().map(Cow::Borrowed),
            suppressed_by: result.suppressed_by.clone(),
            unknown: Map::new(),
        };
        Self {
            planned_at: result.planned_at.as_micros(),
            monitor_id: result.monitor_id.0,
            location_id: result.location_id.0,
            outcome: result.outcome,
            status: result.status.0,
            warning_status: result.warning_status.map(|status| status.0),
            start_delay_us,
            duration_us: saturating_i64(result.duration_us),
            full_page_us,
            phases,
            body_wire_bytes,
            body_bytes,
            address: result.address.map(encode_address),
            revision: result.revision.0,
            last_attempt_number,
            type_and_name: SharedText::from_string(format!(
                "{} {}",
                result.monitor_type, result.monitor_name
            )),
            shared_facts,
            certificate_chain,
            missed: result.missed.as_ref().map(|missed| MissedColumns {
                reason_code: MissedReason::ALL.iter().position(|r| *r == missed.reason).unwrap_or(0),
                run_count: missed.run_count,
                last_planned_at: missed.last_planned_at.as_micros(),
            }),
            is_first_check: result.trigger == CheckTrigger::First,
            details_json: (details != DetailsBody::default()).then(|| to_json(&details)),
            capture_chunks,
        }
    }

    /// Returns the planned time of the last run that it stands for: of a series of missed runs, the last one.
    pub(in crate::store) fn last_run_at(&self) -> i64 {
        self.missed.map_or(self.planned_at, |missed| missed.last_planned_at.max(self.planned_at))
    }

    /// Whether its details and captures are stored with `failed` = 1 and kept longer: for every outcome but ok.
    pub(in crate::store) fn is_stored_as_failed(&self) -> bool {
        self.outcome != Outcome::Ok
    }

    /// Returns the microseconds of the phases that have a column, in order.
    pub(in crate::store) fn phase_columns(&self) -> [Option<u32>; Phase::COMMON.len()] {
        Phase::COMMON.map(|phase| self.phases.micros(phase))
    }

    /// Serializes the other phases, if there are any.
    pub(in crate::store) fn uncommon_phases_json(&self) -> Option<String> {
        Some(self.phases.without_common()).filter(|phases| !phases.is_empty()).map(|phases| to_json(&phases))
    }
}

fn is_empty(reasons: &[String]) -> bool {
    reasons.is_empty()
}

/// Whether the attempts can be derived from the narrow row.
fn are_attempts_implied(result: &CheckResult) -> bool {
    match result.attempts.as_slice() {
        [] => true,
        [attempt] => {
            attempt.number == 1
                && attempt.failure.is_none()
                && attempt.warnings.is_empty()
                && attempt.started_at == result.started_at
                && attempt.duration_us == result.duration_us
        }
        _ => false,
    }
}

/// Takes out the sizes of the HTTP body: as transferred, and decoded.
fn take_body_sizes(facts: &mut Facts) -> (Option<i64>, Option<i64>) {
    match &mut facts.http {
        Some(http) => (
            Some(saturating_i64(std::mem::take(&mut http.body_wire_bytes))),
            Some(saturating_i64(std::mem::take(&mut http.body_bytes))),
        ),
        None => (None, None),
    }
}

fn take_certificate_chain(facts: &mut Facts) -> Option<SharedText> {
    let chain = std::mem::take(&mut facts.tls.as_mut()?.certificates);
    (!chain.is_empty()).then(|| SharedText::from_string(to_json(&chain)))
}

/// Returns all facts as a shared text if they stay the same from run to run, otherwise as the result's own. Round
/// trips, durations of hops, text hashes, and greetings with a time or number are never shared.
fn share_or_keep_facts(facts: Facts) -> (Option<SharedText>, Option<Facts>) {
    let varies_by_run = facts.ping.is_some()
        || facts.mail.is_some()
        || facts.ftp.is_some()
        || facts.round_trip.is_some()
        || facts.http.as_ref().is_some_and(|http| !http.redirects.is_empty() || http.text_sha256.is_some());
    match facts {
        facts if varies_by_run => (None, Some(facts)),
        facts if facts == Facts::default() => (None, None),
        facts => (Some(SharedText::from_string(to_json(&facts))), None),
    }
}

/// Serializes a value; cannot fail for stored types, whose map keys are strings.
pub(in crate::store) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn encode_address(address: SocketAddr) -> Vec<u8> {
    let mut bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    bytes.extend_from_slice(&address.port().to_be_bytes());
    bytes
}

/// Decodes an address encoded by [`encode_address`].
pub(in crate::store) fn decode_address(bytes: &[u8]) -> Option<SocketAddr> {
    let (ip, port) = bytes.split_at_checked(bytes.len().checked_sub(2)?)?;
    let port = u16::from_be_bytes(port.try_into().ok()?);
    let ip: IpAddr = match ip.len() {
        4 => <[u8; 4]>::try_from(ip).ok()?.into(),
        _ => <[u8; 16]>::try_from(ip).ok()?.into(),
    };
    Some(SocketAddr::new(ip, port))
}

/// Converts to the signed integers of databases.
pub(in crate::store) fn saturating_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
