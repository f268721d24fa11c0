//! Evaluates the response of a name server.

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::dns::{AliasError, DnsResponse, MAX_ALIASES, rcode_name};

/// Maximum number of values that a failure quotes, and characters of each.
const MAX_QUOTED_VALUES_AND_CHARS: (usize, usize) = (8, 100);

/// Normalises a value for comparison: letter case, the final dot and quotes around the whole value do not matter. Keys
/// and digests may be written with spaces in between.
pub(super) fn normalize_value(value: &str, record_type: RecordType) -> String {
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    let value = value.trim_end_matches('.').to_ascii_lowercase();
    match record_type {
        RecordType::DNSKEY | RecordType::DS => value.split_whitespace().collect(),
        _ => value,
    }
}

/// Whether the name exists but has no records of this type, like a name without IPv4 address for type A.
pub(super) fn has_no_records(response: &DnsResponse, record_type: RecordType) -> bool {
    response.rcode == ResponseCode::NoError
        && response.has_answer(record_type) == Ok(false)
        && !response.is_lame()
}

/// Evaluates `response`; `queried_types` names the types in failures. With `require_dnssec` the
/// response must be authenticated by the server. All of `expected_values` must be among the values.
pub(super) fn evaluate_response(
    response: &DnsResponse,
    record_type: RecordType,
    queried_types: &str,
    require_dnssec: bool,
    expected_values: &[String],
) -> Result<(), Failure> {
    let fail = |kind, detail: String| Err(Failure::new(Phase::Validate, kind, detail));
    let has_answer = response.has_answer(record_type);
    if let Err(error) = &has_answer {
        let alias_detail = match error {
            AliasError::Loop(chain) => format!("the aliases form a loop: {chain}"),
            AliasError::TooLong(chain) => format!("there are more than {MAX_ALIASES} of them: {chain}"),
        };
        return fail(FailureKind::DnsAliasLoop, alias_detail);
    }
    if response.rcode != ResponseCode::NoError {
        return fail(FailureKind::DnsErrorRcode, rcode_detail(response));
    }
    if response.is_lame() {
        let referral = response.referral_zone.as_ref();
        let referral_detail =
            referral.map(|zone| format!("it refers to the name servers of `{zone}` instead"));
        return fail(
            FailureKind::DnsLameServer,
            referral_detail.unwrap_or_else(|| "its answer is empty".to_owned()),
        );
    }
    if has_answer == Ok(false) {
        return fail(
            FailureKind::DnsNoRecords,
            format!("no record of type `{queried_types}` was in the answer"),
        );
    }
    if require_dnssec && !response.authenticated_data {
        return fail(FailureKind::DnsNotAuthenticated, unauthenticated_detail(response).to_owned());
    }
    if expected_values.is_empty() {
        return Ok(());
    }
    let actual: Vec<String> =
        response.record_values(record_type).iter().map(|value| normalize_value(value, record_type)).collect();
    let missing: Vec<&String> = expected_values
        .iter()
        .filter(|value| !actual.contains(&normalize_value(value, record_type)))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "`{}` is not among `{}`",
        join_values(missing),
        join_values(response.record_values(record_type))
    );
    fail(FailureKind::DnsRecordsDiffer, detail)
}

fn rcode_detail(response: &DnsResponse) -> String {
    let name = rcode_name(response.rcode);
    let hint = match response.rcode {
        ResponseCode::Refused => "; it does not serve the name, or not for this location",
        ResponseCode::ServFail => "; its zone, its upstream servers or the signatures are broken",
        _ => "",
    };
    match &response.extended_error {
        Some(explanation) => format!("{name}, {explanation}"),
        None => format!("{name}{hint}"),
    }
}

/// Only a validating resolver sets AD. An authoritative server never does: its signatures prove nothing until they are
/// verified up to a trusted key, so they do not count.
fn unauthenticated_detail(response: &DnsResponse) -> &'static str {
    match (response.is_signed(), response.authoritative) {
        (true, true) => {
            "the answer is signed, but a server with authority over a name does not check signatures; \
             ask a resolver that validates"
        }
        (true, false) => "the response is signed, but the server did not validate the signatures",
        (false, true) => "the zone is not signed",
        (false, false) => {
            "the answer carries no signatures: the zone is not signed, or the server leaves them out"
        }
    }
}

fn join_values(values: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let (max, characters) = MAX_QUOTED_VALUES_AND_CHARS;
    let mut values = values.into_iter();
    let truncate = |value: &str| value.chars().take(characters).collect::<String>();
    let mut quoted: Vec<String> = values.by_ref().take(max).map(|value| truncate(value.as_ref())).collect();
    match values.count() {
        0 => {}
        remaining => quoted.push(format!("{remaining} more")),
    }
    quoted.join(", ")
}
