//! One question to one name server (RFC 1035), without sockets.

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, Record, RecordType};

use crate::model::printable;

/// UDP payload that we take (RFC 6891 6.2.3): what passes unfragmented nearly everywhere.
pub const UDP_PAYLOAD: u16 = 1232;

/// A question as it goes out.
#[derive(Clone, Debug)]
pub struct Question {
    id: u16,
    name: Name,
    kind: RecordType,
}

/// What a datagram or message turned out to be.
#[derive(Debug)]
pub enum Heard {
    /// It is no answer to the question: another id, another name, or no answer at all. Anybody can send
    /// such a thing; the real answer may still come.
    Stray,
    /// It is the answer by its id, but breaks the protocol; says where.
    Malformed(String),
    /// The answer.
    Answer(Box<Answer>),
}

/// What a name server said.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Response code, the extended one included (RFC 6891 6.1.3).
    pub rcode: ResponseCode,
    /// Whether the server has authority over the name.
    pub authoritative: bool,
    /// Whether the server asks others on behalf of its clients.
    pub recursive: bool,
    /// Whether the answer was cut and has to be asked for over TCP.
    pub truncated: bool,
    /// The answer section.
    pub records: Vec<Record>,
}

impl Question {
    /// Asks for the records of `kind` of `name`, under a random id.
    #[must_use]
    pub fn new(name: Name, kind: RecordType) -> Self {
        Self { id: Message::query().metadata.id, name, kind }
    }

    /// The id that an answer has to carry.
    #[must_use]
    pub fn id(&self) -> u16 {
        self.id
    }

    /// The type asked for.
    #[must_use]
    pub fn kind(&self) -> RecordType {
        self.kind
    }

    /// The bytes to send. Fails only for a name that has no wire form.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let mut message = Message::new(self.id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(self.name.clone(), self.kind));
        let mut edns = Edns::new();
        edns.set_max_payload(UDP_PAYLOAD);
        message.set_edns(edns);
        message.to_vec().map_err(|error| error.to_string())
    }

    /// What `bytes` are to this question. An answer has to carry its id and repeat it (RFC 5452 9.1);
    /// only an error may leave the question out.
    #[must_use]
    pub fn hear(&self, bytes: &[u8]) -> Heard {
        let [high, low, flags, ..] = *bytes else { return Heard::Stray };
        if u16::from_be_bytes([high, low]) != self.id || flags & 0x80 == 0 {
            return Heard::Stray;
        }
        let message = match Message::from_vec(bytes) {
            Ok(message) => message,
            Err(error) => return Heard::Malformed(error.to_string()),
        };
        let rcode = message.metadata.response_code;
        match message.queries.as_slice() {
            [asked] if self.is(asked) => {}
            [] if rcode != ResponseCode::NoError => {}
            _ => return Heard::Stray,
        }
        Heard::Answer(Box::new(Answer {
            rcode,
            authoritative: message.metadata.authoritative,
            recursive: message.metadata.recursion_available,
            truncated: message.metadata.truncation,
            records: message.answers,
        }))
    }

    fn is(&self, asked: &Query) -> bool {
        asked.query_type() == self.kind && asked.query_class() == DNSClass::IN && asked.name() == &self.name
    }
}

impl Answer {
    /// Whether the question for records of `kind` was answered: with one of them, or with an alias by a
    /// server that does not follow aliases for others.
    #[must_use]
    pub fn answers(&self, kind: RecordType) -> bool {
        let has = |wanted| self.records.iter().any(|record| record.record_type() == wanted);
        has(kind) || (!self.recursive && has(RecordType::CNAME))
    }

    /// The records as `TYPE value`, at most `most` of them.
    #[must_use]
    pub fn texts(&self, most: usize) -> Vec<String> {
        let text = |record: &Record| format!("{} {}", record.record_type(), value(record));
        self.records.iter().take(most).map(text).collect()
    }

    /// The values of the records of `kind`, as zone files write them.
    #[must_use]
    pub fn values(&self, kind: RecordType) -> Vec<String> {
        self.records.iter().filter(|record| record.record_type() == kind).map(value).collect()
    }
}

fn value(record: &Record) -> String {
    // Not every record data can be printed; one that cannot must not end the check.
    let mut text = String::new();
    if std::fmt::Write::write_fmt(&mut text, format_args!("{}", record.data)).is_err() {
        text.push('?');
    }
    printable(&text)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn question() -> Question {
        Question::new(Name::from_ascii("www.example.com.").unwrap(), RecordType::A)
    }

    fn reply(question: &Question) -> Message {
        let mut message = Message::from_vec(&question.encode().unwrap()).unwrap();
        message.metadata.message_type = MessageType::Response;
        message
    }

    #[test]
    fn a_question_asks_for_recursion_and_room() {
        let message = Message::from_vec(&question().encode().unwrap()).unwrap();
        assert!(message.metadata.recursion_desired);
        assert_eq!(message.max_payload(), UDP_PAYLOAD);
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
        let asked = question();
        let heard = |change: &dyn Fn(&mut Message)| {
            let mut message = reply(&asked);
            change(&mut message);
            asked.hear(&message.to_vec().unwrap())
        };
        assert!(matches!(heard(&|_| {}), Heard::Answer(_)));
        let other_case = Query::query(Name::from_ascii("WWW.EXAMPLE.com.").unwrap(), RecordType::A);
        assert!(matches!(heard(&|m| m.queries = vec![other_case.clone()]), Heard::Answer(_)));
        assert!(matches!(heard(&|m| m.metadata.id ^= 1), Heard::Stray));
        assert!(matches!(heard(&|m| m.metadata.message_type = MessageType::Query), Heard::Stray));
        assert!(matches!(heard(&|m| m.queries[0].query_type = RecordType::AAAA), Heard::Stray));
        assert!(matches!(heard(&|m| m.queries.clear()), Heard::Stray));
        let refusal = heard(&|m| {
            m.queries.clear();
            m.metadata.response_code = ResponseCode::FormErr;
        });
        assert!(matches!(refusal, Heard::Answer(answer) if answer.rcode == ResponseCode::FormErr));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), ours: bool) {
            let asked = question();
            let mut bytes = bytes;
            if ours && bytes.len() > 3 {
                bytes[..2].copy_from_slice(&asked.id().to_be_bytes());
                bytes[2] |= 0x80;
            }
            if let Heard::Answer(answer) = asked.hear(&bytes) {
                prop_assert!(answer.texts(10).len() <= 10);
            }
        }

        #[test]
        fn a_cut_or_bent_answer_never_panics(cut in 0_usize..200, at in 0_usize..200, bit in 0_u8..8) {
            let asked = question();
            let mut message = reply(&asked);
            let data = hickory_proto::rr::rdata::TXT::new(vec!["one".to_owned(), "two".to_owned()]);
            let name = Name::from_ascii("www.example.com.").unwrap();
            message.add_answer(Record::from_rdata(name, 60, hickory_proto::rr::RData::TXT(data)));
            let mut bytes = message.to_vec().unwrap();
            bytes.truncate(bytes.len().saturating_sub(cut));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            if let Heard::Answer(answer) = asked.hear(&bytes) {
                let _ = (answer.texts(10), answer.values(RecordType::TXT), answer.answers(RecordType::A));
            }
        }
    }
}
