//! What a name server said.

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{Name, RData, Record, RecordType};

use super::record_text;
use crate::domain::replace_control_chars;

/// Aliases that are followed one after the other; servers themselves follow 8 to 16.
pub const MAX_ALIASES: usize = 16;
/// Characters of a name or text of the server that messages show.
const MAX_SHOWN_CHARS: usize = 200;
/// Names that a message shows of a chain.
const MAX_SHOWN_ALIASES: usize = 4;

/// What a name server said.
#[derive(Clone, Debug)]
pub struct DnsResponse {
    /// Response code, the extended one included (RFC 6891 6.1.3).
    pub rcode: ResponseCode,
    /// Whether the server has authority over the name.
    pub authoritative: bool,
    /// Whether the server asks others on behalf of its clients.
    pub recursion_available: bool,
    /// Whether the answer was cut and has to be asked for over TCP.
    pub truncated: bool,
    /// Whether the server vouches that all of it holds by DNSSEC (AD, RFC 4035 3.2.3).
    pub authenticated: bool,
    /// Bytes of the message.
    pub bytes: usize,
    /// The answer section.
    pub records: Vec<Record>,
    /// Zone of the name servers that the authority section names, when it names any.
    pub referral: Option<String>,
    /// Whether the authority section says since when, and how long, there is nothing (SOA, RFC 2308 2).
    pub has_soa: bool,
    /// What the server says beside the code (RFC 8914).
    pub explanation: Option<String>,
    /// Where the aliases of the name asked for lead.
    alias_target: Result<AliasTarget, AliasError>,
}

/// Where aliases lead.
#[derive(Clone, Debug)]
struct AliasTarget {
    name: Name,
    aliases: usize,
}

/// Why the aliases of a name lead nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AliasError {
    /// One of them leads back; the way there.
    Loop(String),
    /// There are more than [`MAX_ALIASES`]; the beginning of the way.
    TooLong(String),
}

impl DnsResponse {
    /// The answer in `message` of `bytes` bytes to a question about `name`.
    pub(super) fn from_message(message: Message, name: &Name, bytes: usize) -> Self {
        let zone = |record: &&Record| record.record_type() == RecordType::NS;
        let referral = message.authorities.iter().find(zone).map(|record| printable_name(&record.name));
        Self {
            rcode: message.metadata.response_code,
            authoritative: message.metadata.authoritative,
            recursion_available: message.metadata.recursion_available,
            truncated: message.metadata.truncation,
            authenticated: message.metadata.authentic_data,
            bytes,
            referral,
            has_soa: message.authorities.iter().any(|record| record.record_type() == RecordType::SOA),
            explanation: extended_error(&message),
            alias_target: follow_aliases(&message.answers, name),
            records: message.answers,
        }
    }

    /// What the header alone tells of an answer that was cut inside of a record.
    pub(super) fn from_truncated(bytes: &[u8]) -> Self {
        let (high, low) = (bytes.get(2).copied().unwrap_or(0), bytes.get(3).copied().unwrap_or(0));
        Self {
            rcode: ResponseCode::from(0, low & 0x0f),
            authoritative: high & 0x04 != 0,
            recursion_available: low & 0x80 != 0,
            truncated: true,
            authenticated: low & 0x20 != 0,
            bytes: bytes.len(),
            records: Vec::new(),
            referral: None,
            has_soa: false,
            explanation: None,
            alias_target: Ok(AliasTarget { name: Name::root(), aliases: 0 }),
        }
    }

    /// Whether the question for records of `kind` was answered: with one of them at the end of the aliases,
    /// or with an alias by a server that does not follow aliases for others. [`AliasError`] when they do not end.
    pub fn has_answer(&self, kind: RecordType) -> Result<bool, AliasError> {
        if kind == RecordType::CNAME {
            return Ok(self.records_of_type(kind).next().is_some());
        }
        let aliases = self.alias_target.as_ref().map_err(Clone::clone)?.aliases;
        Ok(self.records_of_type(kind).next().is_some() || (!self.recursion_available && aliases > 0))
    }

    /// Whether the server has nothing to do with the name: it gives no records, does not say either that
    /// there are none, has no authority, and asks nobody else (RFC 1912 2.8).
    #[must_use]
    pub fn is_lame(&self) -> bool {
        self.rcode == ResponseCode::NoError
            && self.records.is_empty()
            && !(self.authoritative || self.recursion_available || self.has_soa)
    }

    /// Whether signatures came with it.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.records.iter().any(|record| record.record_type() == RecordType::RRSIG)
    }

    /// Seconds that the answer may be kept: the least of its records.
    #[must_use]
    pub fn ttl(&self) -> Option<u32> {
        self.unsigned_records().map(|record| record.ttl).min()
    }

    /// The records as `TYPE value`, at most `most` of them, without their signatures.
    #[must_use]
    pub fn record_texts(&self, max: usize) -> Vec<String> {
        let text =
            |record: &Record| format!("{} {}", record.record_type(), record_text::to_short_text(record));
        self.unsigned_records().take(max).map(text).collect()
    }

    /// The values of the records of `kind` at the end of the aliases, as zone files write them.
    #[must_use]
    pub fn values(&self, kind: RecordType) -> Vec<String> {
        self.records_of_type(kind).map(record_text::to_text).collect()
    }

    fn unsigned_records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.record_type() != RecordType::RRSIG)
    }

    fn records_of_type(&self, kind: RecordType) -> impl Iterator<Item = &Record> {
        // An alias itself stands at the start of the chain, everything else at its end.
        let owner =
            self.alias_target.as_ref().ok().map(|end| &end.name).filter(|_| kind != RecordType::CNAME);
        self.records.iter().filter(move |record| {
            record.record_type() == kind && owner.is_none_or(|owner| record.name == *owner)
        })
    }
}

/// Follows the aliases of `name` through `records`, in whatever order they stand.
fn follow_aliases(records: &[Record], name: &Name) -> Result<AliasTarget, AliasError> {
    let mut way = vec![name];
    loop {
        let here = *way.last().unwrap_or(&name);
        let next = records.iter().find_map(|record| match &record.data {
            RData::CNAME(alias) if record.name == *here => Some(&alias.0),
            _ => None,
        });
        let Some(next) = next else {
            return Ok(AliasTarget { name: here.clone(), aliases: way.len() - 1 });
        };
        let returns = way.contains(&next);
        way.push(next);
        if returns {
            return Err(AliasError::Loop(alias_path(&way)));
        }
        if way.len() > MAX_ALIASES + 1 {
            return Err(AliasError::TooLong(alias_path(&way)));
        }
    }
}

fn alias_path(way: &[&Name]) -> String {
    let names = way.iter().take(MAX_SHOWN_ALIASES).map(|name| format!("`{}`", printable_name(name)));
    let rest = if way.len() > MAX_SHOWN_ALIASES { " → …" } else { "" };
    format!("{}{rest}", names.collect::<Vec<_>>().join(" → "))
}

fn printable_name(name: &Name) -> String {
    replace_control_chars(&name.to_string()).chars().take(MAX_SHOWN_CHARS).collect()
}

/// The extended error (RFC 8914 2): its number, the name of that, and the text beside it.
fn extended_error(message: &Message) -> Option<String> {
    const EXTENDED_ERROR: u16 = 15;
    let edns = message.edns.as_ref()?;
    let EdnsOption::Unknown(_, bytes) = edns.option(EdnsCode::from(EXTENDED_ERROR))? else { return None };
    let [high, low, ref text @ ..] = bytes[..] else { return None };
    let code = u16::from_be_bytes([high, low]);
    let text: String =
        replace_control_chars(&String::from_utf8_lossy(text)).chars().take(MAX_SHOWN_CHARS).collect();
    let meaning = match code {
        0 => ": another one",
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
    Some(format!("extended error {code}{meaning}{text}"))
}

/// The RFC 6895 name of a response code, such as `NXDOMAIN`.
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
