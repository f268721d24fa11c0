//! What the answer of a name server means.

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::dns::{AliasError, DnsResponse, MAX_ALIASES, rcode_name};

/// Values that a message shows of an answer, and characters of each.
const SHOWN: (usize, usize) = (8, 100);

/// Two spellings of one value are the same: letters of either case, with or without the final dot, with or
/// without quotes around all of it. Keys and digests may be written with spaces in between.
pub(super) fn normalize_value(value: &str, kind: RecordType) -> String {
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    let value = value.trim_end_matches('.').to_ascii_lowercase();
    match kind {
        RecordType::DNSKEY | RecordType::DS => value.split_whitespace().collect(),
        _ => value,
    }
}

/// Whether the name has no records of `kind`, as a name without IPv4 address has none of type A.
pub(super) fn has_no_records(answer: &DnsResponse, kind: RecordType) -> bool {
    answer.rcode == ResponseCode::NoError && answer.has_answer(kind) == Ok(false) && !answer.is_lame()
}

/// Judges `answer` to the question for `kind`; `asked` says in words what was asked. With `dnssec` the server
/// has to vouch for it. Every one of `expected` has to be in it.
pub(super) fn evaluate(
    answer: &DnsResponse,
    kind: RecordType,
    asked: &str,
    dnssec: bool,
    expected: &[String],
) -> Result<(), Failure> {
    let fail = |kind, detail: String| Err(Failure::new(Phase::Validate, kind, detail));
    let answered = answer.has_answer(kind);
    if let Err(endless) = &answered {
        let way = match endless {
            AliasError::Loop(way) => format!("they lead back: {way}"),
            AliasError::TooLong(way) => format!("there are more than {MAX_ALIASES} of them: {way}"),
        };
        return fail(FailureKind::DnsLoop, way);
    }
    if answer.rcode != ResponseCode::NoError {
        return fail(FailureKind::DnsRcode, rcode_detail(answer));
    }
    if answer.is_lame() {
        let referral = answer.referral.as_ref();
        let instead = referral.map(|zone| format!("it refers to the name servers of `{zone}` instead"));
        return fail(FailureKind::DnsLame, instead.unwrap_or_else(|| "its answer is empty".to_owned()));
    }
    if answered == Ok(false) {
        return fail(FailureKind::DnsNoRecords, format!("no record of type `{asked}` was in the answer"));
    }
    if dnssec && !answer.authenticated {
        return fail(FailureKind::DnsUnproven, unproven_detail(answer).to_owned());
    }
    if expected.is_empty() {
        return Ok(());
    }
    let given: Vec<String> = answer.values(kind).iter().map(|value| normalize_value(value, kind)).collect();
    let missing: Vec<&String> =
        expected.iter().filter(|value| !given.contains(&normalize_value(value, kind))).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let detail = format!("`{}` is not among `{}`", join_values(missing), join_values(answer.values(kind)));
    fail(FailureKind::DnsAnswerWrong, detail)
}

fn rcode_detail(answer: &DnsResponse) -> String {
    let code = rcode_name(answer.rcode);
    let more = match answer.rcode {
        ResponseCode::Refused => "; it does not serve the name, or not for this location",
        ResponseCode::ServFail => "; it cannot tell: its zone, those that it asks, or signatures are broken",
        _ => "",
    };
    match &answer.explanation {
        Some(explanation) => format!("{code}, {explanation}"),
        None => format!("{code}{more}"),
    }
}

/// Only a resolver that validates sets AD. A server with authority over a name never does: its signatures
/// prove nothing until somebody follows them up to a key that he trusts, so that they do not count.
fn unproven_detail(answer: &DnsResponse) -> &'static str {
    match (answer.is_signed(), answer.authoritative) {
        (true, true) => {
            "the answer is signed, but a server with authority over a name does not check signatures; \
             ask a resolver that validates"
        }
        (true, false) => "the answer is signed, but the server has not found the signatures to hold",
        (false, true) => "the zone is not signed",
        (false, false) => {
            "the answer carries no signatures: the zone is not signed, or the server leaves them out"
        }
    }
}

fn join_values(values: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let (max, characters) = SHOWN;
    let mut values = values.into_iter();
    let start = |value: &str| value.chars().take(characters).collect::<String>();
    let mut shown: Vec<String> = values.by_ref().take(max).map(|value| start(value.as_ref())).collect();
    match values.count() {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    shown.join(", ")
}
