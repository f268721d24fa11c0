//! The response of a name server.

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{Name, RData, Record, RecordType};

use super::zone_file_format;
use crate::domain::replace_control_chars;

/// Maximum number of aliases that are followed; servers themselves follow 8 to 16.
pub const MAX_ALIASES: usize = 16;
/// Longest name or text of the server that is quoted, in characters.
const MAX_QUOTED_CHARS: usize = 200;
/// Maximum number of names of a chain that are quoted.
const MAX_QUOTED_ALIASES: usize = 4;

/// The response of a name server.
#[derive(Clone, Debug)]
pub struct DnsResponse {
    /// Response code, including the extended one (RFC 6891 6.1.3).
    pub rcode: ResponseCode,
    /// Whether the server is authoritative for the name.
    pub authoritative: bool,
    /// Whether the server resolves recursively for its clients.
    pub recursion_available: bool,
    /// Whether the response was truncated and must be requested over TCP.
    pub truncated: bool,
    /// Whether the server validated all of it by DNSSEC (AD, RFC 4035 3.2.3).
    pub authenticated_data: bool,
    /// Length of the message in bytes.
    pub message_bytes: usize,
    /// The answer section.
    pub answers: Vec<Record>,
    /// Zone of the name servers in the authority section, if there are any.
    pub referral_zone: Option<String>,
    /// Whether the authority section contains a SOA record, which confirms that no record exists (RFC 2308 2).
    pub has_soa: bool,
    /// The extended error (RFC 8914).
    pub extended_error: Option<String>,
    /// The end of the alias chain of the queried name.
    alias_target: Result<AliasTarget, AliasError>,
}

/// The end of an alias chain.
#[derive(Clone, Debug)]
struct AliasTarget {
    name: Name,
    alias_count: usize,
}

/// Why an alias chain has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AliasError {
    /// It contains a loop; with the chain.
    Loop(String),
    /// It has more than [`MAX_ALIASES`]; with its beginning.
    TooLong(String),
}

impl DnsResponse {
    /// Creates the response from `message` of `message_bytes` bytes to a query about `name`.
    pub(super) fn from_message(message: Message, name: &Name, message_bytes: usize) -> Self {
        let is_ns = |record: &&Record| record.record_type() == RecordType::NS;
        let referral = message.authorities.iter().find(is_ns).map(|record| printable_name(&record.name));
        Self {
            rcode: message.metadata.response_code,
            authoritative: message.metadata.authoritative,
            recursion_available: message.metadata.recursion_available,
            truncated: message.metadata.truncation,
            authenticated_data: message.metadata.authentic_data,
            message_bytes,
            referral_zone: referral,
            has_soa: message.authorities.iter().any(|record| record.record_type() == RecordType::SOA),
            extended_error: describe_extended_error(&message),
            alias_target: follow_aliases(&message.answers, name),
            answers: message.answers,
        }
    }

    /// Creates the response from the header of a message that was truncated within a record.
    pub(super) fn from_truncated_message(bytes: &[u8]) -> Self {
        let (flags_high, flags_low) =
            (bytes.get(2).copied().unwrap_or(0), bytes.get(3).copied().unwrap_or(0));
        Self {
            rcode: ResponseCode::from(0, flags_low & 0x0f),
            authoritative: flags_high & 0x04 != 0,
            recursion_available: flags_low & 0x80 != 0,
            truncated: true,
            authenticated_data: flags_low & 0x20 != 0,
            message_bytes: bytes.len(),
            answers: Vec::new(),
            referral_zone: None,
            has_soa: false,
            extended_error: None,
            alias_target: Ok(AliasTarget { name: Name::root(), alias_count: 0 }),
        }
    }

    /// Whether the query for records of `record_type` was answered: by a record at the end of the aliases, or by an
    /// alias from a server that does not resolve recursively. Fails with [`AliasError`] when the aliases do not end.
    pub fn has_answer(&self, record_type: RecordType) -> Result<bool, AliasError> {
        if record_type == RecordType::CNAME {
            return Ok(self.records_of_type(record_type).next().is_some());
        }
        let aliases = self.alias_target.as_ref().map_err(Clone::clone)?.alias_count;
        Ok(self.records_of_type(record_type).next().is_some() || (!self.recursion_available && aliases > 0))
    }

    /// Whether the server is not responsible for the name: it returns no records and no SOA, is not authoritative, and
    /// does not resolve recursively (RFC 1912 2.8).
    #[must_use]
    pub fn is_lame(&self) -> bool {
        self.rcode == ResponseCode::NoError
            && self.answers.is_empty()
            && !(self.authoritative || self.recursion_available || self.has_soa)
    }

    /// Whether it contains signatures.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.answers.iter().any(|record| record.record_type() == RecordType::RRSIG)
    }

    /// Returns how long the response may be cached, in seconds: the lowest TTL of its records.
    #[must_use]
    pub fn min_ttl(&self) -> Option<u32> {
        self.records_without_signatures().map(|record| record.ttl).min()
    }

    /// Returns the records as `TYPE value`, at most `max_records` of them, without signatures.
    #[must_use]
    pub fn record_texts(&self, max_records: usize) -> Vec<String> {
        let text = |record: &Record| {
            format!("{} {}", record.record_type(), zone_file_format::truncated_zone_file_value(record))
        };
        self.records_without_signatures().take(max_records).map(text).collect()
    }

    /// Returns the values of the records of `record_type` at the end of the aliases, as in zone files.
    #[must_use]
    pub fn record_values(&self, record_type: RecordType) -> Vec<String> {
        self.records_of_type(record_type).map(zone_file_format::zone_file_value).collect()
    }

    fn records_without_signatures(&self) -> impl Iterator<Item = &Record> {
        self.answers.iter().filter(|record| record.record_type() != RecordType::RRSIG)
    }

    fn records_of_type(&self, record_type: RecordType) -> impl Iterator<Item = &Record> {
        // An alias itself is at the start of the chain, other records are at its end.
        let owner = self
            .alias_target
            .as_ref()
            .ok()
            .map(|target| &target.name)
            .filter(|_| record_type != RecordType::CNAME);
        self.answers.iter().filter(move |record| {
            record.record_type() == record_type && owner.is_none_or(|owner| record.name == *owner)
        })
    }
}

/// Follows the aliases of `name` in `records`, in any order.
fn follow_aliases(records: &[Record], name: &Name) -> Result<AliasTarget, AliasError> {
    let mut chain = vec![name];
    loop {
        let owner = *chain.last().unwrap_or(&name);
        let next = records.iter().find_map(|record| match &record.data {
            RData::CNAME(alias) if record.name == *owner => Some(&alias.0),
            _ => None,
        });
        let Some(next) = next else {
            return Ok(AliasTarget { name: owner.clone(), alias_count: chain.len() - 1 });
        };
        let is_loop = chain.contains(&next);
        chain.push(next);
        if is_loop {
            return Err(AliasError::Loop(alias_path(&chain)));
        }
        if chain.len() > MAX_ALIASES + 1 {
            return Err(AliasError::TooLong(alias_path(&chain)));
        }
    }
}

fn alias_path(chain: &[&Name]) -> String {
    let names = chain.iter().take(MAX_QUOTED_ALIASES).map(|name| format!("`{}`", printable_name(name)));
    let ellipsis = if chain.len() > MAX_QUOTED_ALIASES { " → …" } else { "" };
    format!("{}{ellipsis}", names.collect::<Vec<_>>().join(" → "))
}

fn printable_name(name: &Name) -> String {
    replace_control_chars(&name.to_string()).chars().take(MAX_QUOTED_CHARS).collect()
}

/// Returns the extended error (RFC 8914 2): its number, its meaning, and its text.
fn describe_extended_error(message: &Message) -> Option<String> {
    const EXTENDED_ERROR: u16 = 15;
    let edns = message.edns.as_ref()?;
    let EdnsOption::Unknown(_, bytes) = edns.option(EdnsCode::from(EXTENDED_ERROR))? else { return None };
    let [high, low, ref text @ ..] = bytes[..] else { return None };
    let info_code = u16::from_be_bytes([high, low]);
    let text: String =
        replace_control_chars(&String::from_utf8_lossy(text)).chars().take(MAX_QUOTED_CHARS).collect();
    let meaning = match info_code {
        0 => ": other error",
        1 => ": unsupported key algorithm",
        2 => ": unsupported DS digest",
        3 | 19 => ": stale answer",
        5 => ": DNSSEC indeterminate",
        6 => ": DNSSEC bogus",
        7 => ": signature expired",
        8 => ": signature not yet valid",
        9 => ": DNSKEY missing",
        10 => ": signatures missing",
        11 => ": no zone key",
        12 => ": NSEC missing",
        14 => ": not ready",
        15 => ": blocked",
        16 => ": censored",
        17 => ": filtered",
        18 => ": prohibited",
        20 => ": not authoritative",
        22 => ": no reachable authority",
        23 => ": network error",
        _ => "",
    };
    let text = if text.is_empty() { text } else { format!(", it says `{text}`") };
    Some(format!("extended error {info_code}{meaning}{text}"))
}

/// Returns the RFC 6895 name of a response code, such as `NXDOMAIN`.
#[must_use]
pub fn rcode_name(code: ResponseCode) -> String {
    match code {
        ResponseCode::NoError => "NOERROR".to_owned(),
        ResponseCode::FormErr => "FORMERR".to_owned(),
        ResponseCode::ServFail => "SERVFAIL".to_owned(),
        ResponseCode::NXDomain => "NXDOMAIN".to_owned(),
        ResponseCode::NotImp => "NOTIMP".to_owned(),
        ResponseCode::Refused => "REFUSED".to_owned(),
        ResponseCode::NotAuth => "NOTAUTH".to_owned(),
        other => format!("RCODE{}", u16::from(other)),
    }
}
