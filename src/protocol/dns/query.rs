//! DNS queries, and matching replies to them.

use std::fmt;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RecordType};

use super::response::DnsResponse;
use crate::domain::replace_control_chars;

/// The UDP payload size that we advertise (RFC 6891 6.2.3): fits unfragmented nearly everywhere.
pub const MAX_UDP_PAYLOAD: u16 = 1232;

/// Length of a message header in bytes (RFC 1035 4.1.1).
const HEADER_BYTES: usize = 12;

/// A query.
#[derive(Clone, Debug)]
pub struct DnsQuery {
    id: u16,
    name: Name,
    record_type: RecordType,
    requests_dnssec: bool,
}

/// The result of matching a message to a query.
#[derive(Debug)]
pub enum ReplyMatch {
    /// It does not answer the query. Such datagrams may be forged; the real response may still arrive.
    Mismatch(ReplyMismatch),
    /// It has the id of the query, but breaks the protocol; contains the error.
    Malformed(String),
    /// The response.
    Response(Box<DnsResponse>),
}

/// Why a message does not answer the query (RFC 5452 9.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyMismatch {
    /// It is too short for id and flags.
    TooShort,
    /// It has another id.
    WrongId(u16),
    /// Its QR bit is not set.
    NotAResponse,
    /// It repeats another question, or several.
    WrongQuestion(String),
    /// It repeats no question, and is not an error.
    MissingQuestion,
}

impl fmt::Display for ReplyMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("it is shorter than a header"),
            Self::WrongId(id) => write!(f, "it has another id, {id}"),
            Self::NotAResponse => f.write_str("it is marked as a query, not as a response"),
            Self::WrongQuestion(question) => write!(f, "it answers another question, `{question}`"),
            Self::MissingQuestion => f.write_str("it does not repeat the question"),
        }
    }
}

impl DnsQuery {
    /// Creates a query for records of `record_type` of `name`, with a random id.
    #[must_use]
    pub fn new(name: Name, record_type: RecordType) -> Self {
        Self { id: Message::query().metadata.id, name, record_type, requests_dnssec: false }
    }

    /// Sets the id to 0, as for HTTPS (RFC 8484 4.1), where the stream identifies the response.
    #[must_use]
    pub fn without_id(self) -> Self {
        Self { id: 0, ..self }
    }

    /// Sets DO and AD (RFC 3225, RFC 6840 5.7) to request signatures and their validation.
    #[must_use]
    pub fn with_dnssec(self) -> Self {
        Self { requests_dnssec: true, ..self }
    }

    /// Returns the id that a response must have.
    #[must_use]
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Returns the queried type.
    #[must_use]
    pub fn record_type(&self) -> RecordType {
        self.record_type
    }

    /// Returns the encoded query. Fails only for a name that cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let mut message = Message::new(self.id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.metadata.authentic_data = self.requests_dnssec;
        message.add_query(Query::query(self.name.clone(), self.record_type));
        let mut edns = Edns::new();
        edns.set_max_payload(MAX_UDP_PAYLOAD);
        edns.set_dnssec_ok(self.requests_dnssec);
        message.set_edns(edns);
        message.to_vec().map_err(|error| error.to_string())
    }

    /// Matches `bytes` to this query. A response must have its id and repeat the question (RFC 5452 9.1); only an error
    /// may omit the question.
    #[must_use]
    pub fn match_reply(&self, bytes: &[u8]) -> ReplyMatch {
        let [high, low, flags, ..] = *bytes else { return ReplyMatch::Mismatch(ReplyMismatch::TooShort) };
        let id = u16::from_be_bytes([high, low]);
        if id != self.id {
            return ReplyMatch::Mismatch(ReplyMismatch::WrongId(id));
        }
        if flags & 0x80 == 0 {
            return ReplyMatch::Mismatch(ReplyMismatch::NotAResponse);
        }
        if let Some(&[count_high, count_low]) = bytes.get(4..6)
            && u16::from_be_bytes([count_high, count_low]) > 1
        {
            // Check this before allocating: a header can claim 65,535 questions.
            let count = u16::from_be_bytes([count_high, count_low]);
            return ReplyMatch::Mismatch(ReplyMismatch::WrongQuestion(format!("{count} questions")));
        }
        if bytes.len() < HEADER_BYTES {
            let detail = format!(
                "{} bytes, which is less than the header of a DNS message ({HEADER_BYTES})",
                bytes.len()
            );
            return ReplyMatch::Malformed(detail);
        }
        let message = match Message::from_vec(bytes) {
            Ok(message) => message,
            // Truncated within a record: its incomplete records must not be used (RFC 2181 9).
            Err(_) if flags & 0x02 != 0 => {
                return ReplyMatch::Response(Box::new(DnsResponse::from_truncated_message(bytes)));
            }
            Err(error) => {
                return ReplyMatch::Malformed(format!("{} bytes that cannot be read: {error}", bytes.len()));
            }
        };
        if message.metadata.op_code != OpCode::Query {
            return ReplyMatch::Malformed(format!(
                "it is not a response to a query, but of the kind {}",
                opcode_text(&message)
            ));
        }
        match message.queries.as_slice() {
            [query] if self.matches_question(query) => {}
            [] if message.metadata.response_code != ResponseCode::NoError => {}
            [] => return ReplyMatch::Mismatch(ReplyMismatch::MissingQuestion),
            [other, ..] => return ReplyMatch::Mismatch(ReplyMismatch::WrongQuestion(question_text(other))),
        }
        ReplyMatch::Response(Box::new(DnsResponse::from_message(message, &self.name, bytes.len())))
    }

    fn matches_question(&self, query: &Query) -> bool {
        query.query_type() == self.record_type
            && query.query_class() == DNSClass::IN
            && query.name() == &self.name
    }
}

fn question_text(query: &Query) -> String {
    let class = match query.query_class() {
        DNSClass::IN => String::new(),
        other => format!("{other} "),
    };
    replace_control_chars(&format!("{} {class}{}", query.name(), query.query_type()))
}

fn opcode_text(message: &Message) -> String {
    format!("{:?}", message.metadata.op_code).to_uppercase()
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Record;
    use proptest::prelude::*;

    use super::*;

    fn example_query() -> DnsQuery {
        DnsQuery::new(Name::from_ascii("www.example.com.").unwrap(), RecordType::A)
    }

    fn reply(query: &DnsQuery) -> Message {
        let mut message = Message::from_vec(&query.encode().unwrap()).unwrap();
        message.metadata.message_type = MessageType::Response;
        message
    }

    #[test]
    fn a_query_requests_recursion_and_a_larger_payload() {
        let message = Message::from_vec(&example_query().encode().unwrap()).unwrap();
        assert!(message.metadata.recursion_desired);
        assert_eq!(message.max_payload(), MAX_UDP_PAYLOAD);
    }

    #[test]
    fn ids_are_random() {
        let ids: std::collections::BTreeSet<u16> = (0..50).map(|_| example_query().id()).collect();
        assert!(ids.len() > 40, "{ids:?}");
        let steps: std::collections::BTreeSet<u16> =
            ids.iter().zip(ids.iter().skip(1)).map(|(a, b)| b - a).collect();
        assert!(steps.len() > 10, "{ids:?}");
    }

    #[test]
    fn only_a_response_to_this_query_matches() {
        let query = example_query();
        let match_changed_reply = |change: &dyn Fn(&mut Message)| {
            let mut message = reply(&query);
            change(&mut message);
            query.match_reply(&message.to_vec().unwrap())
        };
        assert!(matches!(match_changed_reply(&|_| {}), ReplyMatch::Response(_)));
        let other_case = Query::query(Name::from_ascii("WWW.EXAMPLE.com.").unwrap(), RecordType::A);
        assert!(matches!(
            match_changed_reply(&|m| m.queries = vec![other_case.clone()]),
            ReplyMatch::Response(_)
        ));
        assert!(matches!(match_changed_reply(&|m| m.metadata.id ^= 1), ReplyMatch::Mismatch(_)));
        assert!(matches!(
            match_changed_reply(&|m| m.metadata.message_type = MessageType::Query),
            ReplyMatch::Mismatch(_)
        ));
        assert!(matches!(
            match_changed_reply(&|m| m.queries[0].query_type = RecordType::AAAA),
            ReplyMatch::Mismatch(_)
        ));
        assert!(matches!(match_changed_reply(&|m| m.queries.clear()), ReplyMatch::Mismatch(_)));
        let reply = match_changed_reply(&|m| {
            m.queries.clear();
            m.metadata.response_code = ResponseCode::FormErr;
        });
        assert!(matches!(reply, ReplyMatch::Response(answer) if answer.rcode == ResponseCode::FormErr));
    }

    #[test]
    fn dnssec_sets_its_flags_and_https_has_no_id() {
        let message = |query: DnsQuery| Message::from_vec(&query.encode().unwrap()).unwrap();
        let plain = message(example_query());
        assert!(!plain.metadata.authentic_data && !plain.edns.unwrap().flags().dnssec_ok);
        let signed = message(example_query().with_dnssec());
        assert!(signed.metadata.authentic_data && signed.edns.unwrap().flags().dnssec_ok);
        assert_eq!(message(example_query().without_id()).metadata.id, 0);
    }

    #[test]
    fn a_reply_cut_within_a_record_is_truncated_not_malformed() {
        let query = example_query();
        let mut message = reply(&query);
        message.metadata.truncation = true;
        let data = hickory_proto::rr::RData::A(hickory_proto::rr::rdata::A([192, 0, 2, 1].into()));
        message.add_answer(Record::from_rdata(Name::from_ascii("www.example.com.").unwrap(), 60, data));
        let bytes = message.to_vec().unwrap();
        for length in HEADER_BYTES..bytes.len() {
            let reply = query.match_reply(&bytes[..length]);
            assert!(
                matches!(reply, ReplyMatch::Response(answer) if answer.truncated && answer.answers.is_empty())
            );
        }
        assert!(matches!(query.match_reply(&bytes[..HEADER_BYTES - 1]), ReplyMatch::Malformed(_)));
    }

    proptest! {
        #[test]
        fn matching_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600), has_query_header: bool) {
            let query = example_query();
            let mut bytes = bytes;
            if has_query_header && bytes.len() > 3 {
                bytes[..2].copy_from_slice(&query.id().to_be_bytes());
                bytes[2] |= 0x80;
            }
            if let ReplyMatch::Response(answer) = query.match_reply(&bytes) {
                prop_assert!(answer.record_texts(10).len() <= 10);
            }
        }

        #[test]
        fn a_damaged_response_never_panics(cut_bytes in 0_usize..200, flipped_byte in 0_usize..200, flipped_bit in 0_u8..8) {
            let query = example_query();
            let mut message = reply(&query);
            let data = hickory_proto::rr::rdata::TXT::new(vec!["one".to_owned(), "two".to_owned()]);
            let name = Name::from_ascii("www.example.com.").unwrap();
            message.add_answer(Record::from_rdata(name, 60, hickory_proto::rr::RData::TXT(data)));
            let mut bytes = message.to_vec().unwrap();
            bytes.truncate(bytes.len().saturating_sub(cut_bytes));
            if let Some(byte) = bytes.get_mut(flipped_byte) {
                *byte ^= 1 << flipped_bit;
            }
            if let ReplyMatch::Response(answer) = query.match_reply(&bytes) {
                let _ = (answer.record_texts(10), answer.record_values(RecordType::TXT), answer.has_answer(RecordType::A));
            }
        }
    }
}
