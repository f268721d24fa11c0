//! Any bytes as the answer to a question, under its id: no panic, and only what repeats it is its answer.

use hickory_proto::rr::{Name, RecordType};
use vigie::protocol::dns::{ReplyMatch, DnsQuery, rcode_name};

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
    // The id is random; without it everything would be a stray.
    let ours = choice < 0xf0 && bytes.len() > 2;
    if ours {
        bytes[..2].copy_from_slice(&question.id().to_be_bytes());
        bytes[2] |= 0x80;
    }
    match question.match_reply(&bytes) {
        ReplyMatch::Response(answer) => {
            assert!(bytes[..2] == question.id().to_be_bytes());
            assert!(answer.record_texts(10).len() <= 10);
            assert!(answer.values(kind).len() <= answer.records.len());
            let _ = (answer.has_answer(kind), rcode_name(answer.rcode));
        }
        ReplyMatch::Malformed(what) => assert!(!what.is_empty()),
        ReplyMatch::Mismatch(why) => assert!(!why.to_string().is_empty()),
    }
}
