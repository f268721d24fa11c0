//! Any bytes as the answer to a hello of a scan: no panic, bounds that hold, and the same result however they arrive.

use vigie::protocol::tls_scan::{AnswerExtent, AnswerParser, ServerAnswer};

/// Longest answer of a scan, in bytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// The first byte chooses how much is read and how the rest is cut.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let extent = if choice & 1 == 0 { AnswerExtent::Hello } else { AnswerExtent::Flight };
    let whole = parse(bytes, extent, bytes.len().max(1));
    let in_parts = parse(bytes, extent, usize::from(choice >> 1).max(1));
    match (&whole, &in_parts) {
        // What is shown of something else depends on how much of it has arrived.
        (ServerAnswer::NotTls(one), ServerAnswer::NotTls(other)) => {
            assert!(one.starts_with(other.as_str()) && !other.is_empty());
        }
        _ => assert_eq!(whole, in_parts),
    }
    match whole {
        ServerAnswer::Accepted(flight) => {
            let certificates: usize = flight.certificate_chain.iter().map(Vec::len).sum();
            assert!(flight.certificate_chain.len() <= 20 && certificates <= bytes.len());
            assert!(flight.key_exchange.dh_prime_bits.is_none_or(|bits| bits <= 8 * 65_535));
        }
        ServerAnswer::Malformed(malformed) => assert!(!malformed.to_string().is_empty()),
        ServerAnswer::Endless(reason) => assert!(!reason.is_empty()),
        ServerAnswer::NotTls(start) => assert!(start.is_ascii() && start.len() <= 4 * 24),
        ServerAnswer::Alert(_) | ServerAnswer::Closed => {}
    }
}

fn parse(bytes: &[u8], extent: AnswerExtent, size: usize) -> ServerAnswer {
    let mut parser = AnswerParser::new(extent);
    for part in bytes.chunks(size) {
        if let Some(answer) = parser.push(part) {
            return answer;
        }
    }
    assert!(bytes.len() <= MAX_ANSWER_BYTES, "an answer without end");
    parser.on_closed()
}
