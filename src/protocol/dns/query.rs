//! DNS messages: questions and what answers them.

use std::fmt;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RecordType};

use super::response::DnsResponse;
use crate::domain::replace_control_chars;

/// UDP payload that we take (RFC 6891 6.2.3): what passes unfragmented nearly everywhere.
pub const MAX_UDP_PAYLOAD: u16 = 1232;

/// Bytes of a message header (RFC 1035 4.1.1).
const HEADER: usize = 12;

/// A question as it goes out.
#[derive(Clone, Debug)]
pub struct DnsQuery {
    id: u16,
    name: Name,
    kind: RecordType,
    wants_dnssec: bool,
}

/// What a datagram or message turned out to be.
#[derive(Debug)]
pub enum ReplyMatch {
    /// It is no answer to the question. Anybody can send such a datagram; the real answer may still come.
    Mismatch(Mismatch),
    /// It is the answer by its id, but breaks the protocol; says where.
    Malformed(String),
    /// The answer.
    Response(Box<DnsResponse>),
}

/// Why a message is no answer to the question (RFC 5452 9.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It has not even an id and flags.
    TooShort,
    /// It carries another id.
    WrongId(u16),
    /// Its QR bit is not set.
    NotAResponse,
    /// It repeats another question, or several.
    WrongQuestion(String),
    /// It repeats no question and tells no error.
    MissingQuestion,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("it is shorter than a header"),
            Self::WrongId(id) => write!(f, "it carries another id, {id}"),
            Self::NotAResponse => f.write_str("it is marked as a question, not as an answer"),
            Self::WrongQuestion(question) => write!(f, "it answers another question, `{question}`"),
            Self::MissingQuestion => f.write_str("it does not repeat the question"),
        }
    }
}

impl DnsQuery {
    /// Asks for the records of `kind` of `name`, under a random id.
    #[must_use]
    pub fn new(name: Name, kind: RecordType) -> Self {
        Self { id: Message::query().metadata.id, name, kind, wants_dnssec: false }
    }

    /// The same under the id 0, as it is asked over HTTPS (RFC 8484 4.1): the stream tells whose the answer is.
    #[must_use]
    pub fn without_id(self) -> Self {
        Self { id: 0, ..self }
    }

    /// The same with DO and AD set (RFC 3225, RFC 6840 5.7): signatures are wanted, and whether they hold.
    #[must_use]
    pub fn with_dnssec(self) -> Self {
        Self { wants_dnssec: true, ..self }
    }

    /// The id that an answer has to carry.
    #[must_use]
    pub fn id(&self) -> u16 {
        self.id
    }

    /// The type asked for.
    #[must_use]
    pub fn record_type(&self) -> RecordType {
        self.kind
    }

    /// The bytes to send. Fails only for a name that has no wire form.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let mut message = Message::new(self.id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.metadata.authentic_data = self.wants_dnssec;
        message.add_query(Query::query(self.name.clone(), self.kind));
        let mut edns = Edns::new();
        edns.set_max_payload(MAX_UDP_PAYLOAD);
        edns.set_dnssec_ok(self.wants_dnssec);
        message.set_edns(edns);
        message.to_vec().map_err(|error| error.to_string())
    }

    /// What `bytes` are to this question. An answer has to carry its id and repeat it (RFC 5452 9.1);
    /// only an error may leave the question out.
    #[must_use]
    pub fn match_reply(&self, bytes: &[u8]) -> ReplyMatch {
        let [high, low, flags, ..] = *bytes else { return ReplyMatch::Mismatch(Mismatch::TooShort) };
        let id = u16::from_be_bytes([high, low]);
        if id != self.id {
            return ReplyMatch::Mismatch(Mismatch::WrongId(id));
        }
        if flags & 0x80 == 0 {
            return ReplyMatch::Mismatch(Mismatch::NotAResponse);
        }
        if let Some(&[q, d]) = bytes.get(4..6)
            && u16::from_be_bytes([q, d]) > 1
        {
            // Before anything is made room for: a header can claim 65,535 of them.
            let count = u16::from_be_bytes([q, d]);
            return ReplyMatch::Mismatch(Mismatch::WrongQuestion(format!("{count} questions")));
        }
        let message = match Message::from_vec(bytes) {
            Ok(message) => message,
            // Cut off inside of a record: what there is of it must not be used (RFC 2181 9).
            Err(_) if bytes.len() >= HEADER && flags & 0x02 != 0 => {
                return ReplyMatch::Response(Box::new(DnsResponse::from_truncated(bytes)));
            }
            Err(error) => {
                return ReplyMatch::Malformed(format!("{} bytes that cannot be read: {error}", bytes.len()));
            }
        };
        if message.metadata.op_code != OpCode::Query {
            return ReplyMatch::Malformed(format!(
                "it is no answer to a query but of the kind {}",
                opcode(&message)
            ));
        }
        match message.queries.as_slice() {
            [asked] if self.matches(asked) => {}
            [] if message.metadata.response_code != ResponseCode::NoError => {}
            [] => return ReplyMatch::Mismatch(Mismatch::MissingQuestion),
            [other, ..] => return ReplyMatch::Mismatch(Mismatch::WrongQuestion(printable_query(other))),
        }
        ReplyMatch::Response(Box::new(DnsResponse::from_message(message, &self.name, bytes.len())))
    }

    fn matches(&self, asked: &Query) -> bool {
        asked.query_type() == self.kind && asked.query_class() == DNSClass::IN && asked.name() == &self.name
    }
}

fn printable_query(query: &Query) -> String {
    let class = match query.query_class() {
        DNSClass::IN => String::new(),
        other => format!("{other} "),
    };
    replace_control_chars(&format!("{} {class}{}", query.name(), query.query_type()))
}

fn opcode(message: &Message) -> String {
    format!("{:?}", message.metadata.op_code).to_uppercase()
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Record;
    use proptest::prelude::*;

    use super::*;

    fn question() -> DnsQuery {
        DnsQuery::new(Name::from_ascii("www.example.com.").unwrap(), RecordType::A)
    }

    fn reply(question: &DnsQuery) -> Message {
        let mut message = Message::from_vec(&question.encode().unwrap()).unwrap();
        message.metadata.message_type = MessageType::Response;
        message
    }

    #[test]
    fn a_question_asks_for_recursion_and_room() {
        let message = Message::from_vec(&question().encode().unwrap()).unwrap();
        assert!(message.metadata.recursion_desired);
        assert_eq!(message.max_payload(), MAX_UDP_PAYLOAD);
    }

    #[test]
    fn ids_are_not_guessable_from_the_one_before() {
        let ids: std::collections::BTreeSet<u16> = (0..50).map(|_| question().id()).collect();
        assert!(ids.len() > 40, "{ids:?}");
        let steps: std::collections::BTreeSet<u16> =
            ids.iter().zip(ids.iter().skip(1)).map(|(a, b)| b - a).collect();
        assert!(steps.len() > 10, "{ids:?}");
    }

    #[test]
    fn only_a_response_to_this_question_is_its_answer() {
        let query = question();
        let heard = |change: &dyn Fn(&mut Message)| {
            let mut message = reply(&query);
            change(&mut message);
            query.match_reply(&message.to_vec().unwrap())
        };
        assert!(matches!(heard(&|_| {}), ReplyMatch::Response(_)));
        let other_case = Query::query(Name::from_ascii("WWW.EXAMPLE.com.").unwrap(), RecordType::A);
        assert!(matches!(heard(&|m| m.queries = vec![other_case.clone()]), ReplyMatch::Response(_)));
        assert!(matches!(heard(&|m| m.metadata.id ^= 1), ReplyMatch::Mismatch(_)));
        assert!(matches!(heard(&|m| m.metadata.message_type = MessageType::Query), ReplyMatch::Mismatch(_)));
        assert!(matches!(heard(&|m| m.queries[0].query_type = RecordType::AAAA), ReplyMatch::Mismatch(_)));
        assert!(matches!(heard(&|m| m.queries.clear()), ReplyMatch::Mismatch(_)));
        let reply = heard(&|m| {
            m.queries.clear();
            m.metadata.response_code = ResponseCode::FormErr;
        });
        assert!(matches!(reply, ReplyMatch::Response(answer) if answer.rcode == ResponseCode::FormErr));
    }

    #[test]
    fn dnssec_is_asked_for_when_it_is_wanted_and_https_has_no_id() {
        let message = |question: DnsQuery| Message::from_vec(&question.encode().unwrap()).unwrap();
        let plain = message(question());
        assert!(!plain.metadata.authentic_data && !plain.edns.unwrap().flags().dnssec_ok);
        let wanting = message(question().with_dnssec());
        assert!(wanting.metadata.authentic_data && wanting.edns.unwrap().flags().dnssec_ok);
        assert_eq!(message(question().without_id()).metadata.id, 0);
    }

    #[test]
    fn what_was_cut_inside_of_a_record_is_cut_and_not_malformed() {
        let query = question();
        let mut message = reply(&query);
        message.metadata.truncation = true;
        let data = hickory_proto::rr::RData::A(hickory_proto::rr::rdata::A([192, 0, 2, 1].into()));
        message.add_answer(Record::from_rdata(Name::from_ascii("www.example.com.").unwrap(), 60, data));
        let bytes = message.to_vec().unwrap();
        for length in HEADER..bytes.len() {
            let reply = query.match_reply(&bytes[..length]);
            assert!(
                matches!(reply, ReplyMatch::Response(answer) if answer.truncated && answer.records.is_empty())
            );
        }
        assert!(matches!(query.match_reply(&bytes[..HEADER - 1]), ReplyMatch::Malformed(_)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), ours: bool) {
            let query = question();
            let mut bytes = bytes;
            if ours && bytes.len() > 3 {
                bytes[..2].copy_from_slice(&query.id().to_be_bytes());
                bytes[2] |= 0x80;
            }
            if let ReplyMatch::Response(answer) = query.match_reply(&bytes) {
                prop_assert!(answer.record_texts(10).len() <= 10);
            }
        }

        #[test]
        fn a_cut_or_bent_answer_never_panics(cut in 0_usize..200, at in 0_usize..200, bit in 0_u8..8) {
            let query = question();
            let mut message = reply(&query);
            let data = hickory_proto::rr::rdata::TXT::new(vec!["one".to_owned(), "two".to_owned()]);
            let name = Name::from_ascii("www.example.com.").unwrap();
            message.add_answer(Record::from_rdata(name, 60, hickory_proto::rr::RData::TXT(data)));
            let mut bytes = message.to_vec().unwrap();
            bytes.truncate(bytes.len().saturating_sub(cut));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            if let ReplyMatch::Response(answer) = query.match_reply(&bytes) {
                let _ = (answer.record_texts(10), answer.values(RecordType::TXT), answer.has_answer(RecordType::A));
            }
        }
    }
}
