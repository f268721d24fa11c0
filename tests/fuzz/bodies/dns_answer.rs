//! Any bytes as the reply to a query, mostly with its id: no panic, and only a reply that repeats the query matches.

use hickory_proto::rr::{Name, RecordType};
use vigie::protocol::dns::{DnsQuery, ReplyMatch, rcode_name};

const KINDS: [RecordType; 8] = [
    RecordType::A,
    RecordType::AAAA,
    RecordType::CNAME,
    RecordType::MX,
    RecordType::NS,
    RecordType::SOA,
    RecordType::SRV,
    RecordType::TXT,
];

pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    let kind = KINDS[usize::from(choice) % KINDS.len()];
    let question = DnsQuery::new(Name::from_ascii("a.b.").expect("it is a name"), kind);
    // The id is random; without it every reply would be a mismatch.
    let has_our_id = choice < 0xf0 && bytes.len() > 2;
    if has_our_id {
        bytes[..2].copy_from_slice(&question.id().to_be_bytes());
        bytes[2] |= 0x80;
    }
    match question.match_reply(&bytes) {
        ReplyMatch::Response(response) => {
            assert!(bytes[..2] == question.id().to_be_bytes());
            assert!(response.record_texts(10).len() <= 10);
            assert!(response.record_values(kind).len() <= response.answers.len());
            let _ = (response.has_answer(kind), rcode_name(response.rcode));
        }
        ReplyMatch::Malformed(reason) => assert!(!reason.is_empty()),
        ReplyMatch::Mismatch(reason) => assert!(!reason.to_string().is_empty()),
    }
}
