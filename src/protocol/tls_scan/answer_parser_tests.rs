//! Tests of the parser of answers with bytes.

use super::answer_parser::{AnswerExtent, AnswerParser, ServerAnswer};
use super::malformed::Malformed;
use super::server_flight::ServerFlight;

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[kind, 3, 3], &length[..], content].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[kind], &length[1..], body].concat()
}

fn vector16(content: &[u8]) -> Vec<u8> {
    [&u16::try_from(content.len()).unwrap().to_be_bytes()[..], content].concat()
}

fn vector24(content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len()).unwrap().to_be_bytes()[1..], content].concat()
}

/// The body of a `ServerHello` with the extensions that are asked for.
fn server_hello(version: u16, random: &[u8; 32], suite: u16, compression: u8, extensions: &[u8]) -> Vec<u8> {
    let fixed = [&version.to_be_bytes()[..], random, &[0], &suite.to_be_bytes(), &[compression]].concat();
    if extensions.is_empty() { fixed } else { [fixed, vector16(extensions)].concat() }
}

const RANDOM: [u8; 32] = [7; 32];
/// Renegotiation info, extended master secret, ALPN `h2`.
const EXTENSIONS: &[u8] = b"\xff\x01\x00\x01\x00\x00\x17\x00\x00\x00\x10\x00\x05\x00\x03\x02h2";

/// A whole flight of TLS 1.2 with `ECDHE_RSA`, as messages.
fn flight() -> Vec<Vec<u8>> {
    let certificates = vector24(&[vector24(b"own"), vector24(b"issuer")].concat());
    let status = [&[1][..], &vector24(b"ocsp")].concat();
    let key = [&[3, 0, 29, 2, 8, 8, 8, 4][..], &vector16(b"signature")].concat();
    vec![
        message(2, &server_hello(0x0303, &RANDOM, 0xc02f, 0, EXTENSIONS)),
        message(11, &certificates),
        message(22, &status),
        message(12, &key),
        message(13, b"request for a certificate"),
        message(14, b""),
    ]
}

fn parse(bytes: &[u8], extent: AnswerExtent) -> Option<ServerAnswer> {
    AnswerParser::new(extent).push(bytes)
}

fn accepted(answer: Option<ServerAnswer>) -> ServerFlight {
    match answer {
        Some(ServerAnswer::Accepted(flight)) => *flight,
        other => panic!("{other:?}"),
    }
}

fn assert_whole(flight: &ServerFlight) {
    assert_eq!((flight.hello.version, flight.hello.suite, flight.hello.compression), (0x0303, 0xc02f, 0));
    assert!(flight.hello.has_renegotiation_info && flight.hello.has_extended_master_secret);
    assert_eq!(flight.hello.alpn_protocol.as_deref(), Some(&b"h2"[..]));
    assert_eq!(flight.certificate_chain, [b"own".to_vec(), b"issuer".to_vec()]);
    assert_eq!(flight.ocsp_response.as_deref(), Some(&b"ocsp"[..]));
    assert_eq!((flight.key_exchange.group, flight.key_exchange.signature_scheme), (Some(29), Some(0x0804)));
}

#[test]
fn a_flight_is_read_however_it_is_cut_into_records() {
    let messages = flight().concat();
    for size in 1..=messages.len() {
        let records: Vec<u8> = messages.chunks(size).flat_map(|part| record(22, part)).collect();
        assert_whole(&accepted(parse(&records, AnswerExtent::Flight)));
    }
    let separate: Vec<u8> = flight().iter().flat_map(|message| record(22, message)).collect();
    let mut parser = AnswerParser::new(AnswerExtent::Flight);
    let (last, first) = separate.split_last().unwrap();
    assert!(first.iter().all(|byte| parser.push(&[*byte]).is_none()));
    assert_whole(&accepted(parser.push(&[*last])));
}

#[test]
fn an_answer_that_is_cut_off_is_never_taken_for_whole() {
    let bytes: Vec<u8> = flight().iter().flat_map(|message| record(22, message)).collect();
    let hello_length = record(22, &flight()[0]).len();
    for end in 0..bytes.len() {
        let mut parser = AnswerParser::new(AnswerExtent::Flight);
        assert_eq!(parser.push(&bytes[..end]), None, "{end}");
        match parser.on_closed() {
            ServerAnswer::Accepted(_) => assert!(end >= hello_length, "{end}"),
            ServerAnswer::Closed => assert!(end < hello_length, "{end}"),
            ServerAnswer::NotTls(_) => assert!(end < 5, "{end}"),
            other => panic!("{end}: {other:?}"),
        }
    }
}

#[test]
fn a_message_that_is_shorter_than_its_parts_is_an_error() {
    for (index, whole) in flight().iter().enumerate().filter(|(index, _)| ![4, 5].contains(index)) {
        let (kind, body) = (whole[0], &whole[4..]);
        for end in 0..body.len() {
            let before = flight()[..index].concat();
            let bytes = record(22, &[before, message(kind, &body[..end]), message(14, b"")].concat());
            let answer = parse(&bytes, AnswerExtent::Flight);
            // Without its extensions a hello is whole, as old servers send it.
            let is_whole = index == 0 && end == 2 + 32 + 1 + 2 + 1;
            assert_eq!(
                matches!(answer, Some(ServerAnswer::Malformed(_))),
                !is_whole,
                "{index} {end}: {answer:?}"
            );
        }
    }
}

#[test]
fn tls_13_ends_with_its_first_message() {
    let versions = b"\x00\x2b\x00\x02\x03\x04";
    let share = [&b"\x00\x33\x00\x08\x00\x1d\x00\x04"[..], b"key!"].concat();
    let body = server_hello(0x0303, &RANDOM, 0x1301, 0, &[&versions[..], &share].concat());
    let flight = accepted(parse(&record(22, &message(2, &body)), AnswerExtent::Flight));
    assert_eq!(
        (flight.hello.version, flight.hello.group, flight.hello.is_retry_request),
        (0x0304, Some(29), false)
    );

    let retry_random = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, b"HelloRetryRequest");
    let random: [u8; 32] = retry_random.as_ref().try_into().unwrap();
    let body =
        server_hello(0x0303, &random, 0x1302, 0, &[&versions[..], b"\x00\x33\x00\x02\x11\xec"].concat());
    let flight = accepted(parse(&record(22, &message(2, &body)), AnswerExtent::Hello));
    assert_eq!(
        (flight.hello.version, flight.hello.group, flight.hello.is_retry_request),
        (0x0304, Some(4588), true)
    );
}

#[test]
fn an_answer_of_ssl_30_and_compression_are_read() {
    let body = server_hello(0x0300, &RANDOM, 0x0005, 1, &[]);
    let bytes = [&[22, 3, 0][..], &vector16(&message(2, &body))].concat();
    let hello = accepted(parse(&bytes, AnswerExtent::Hello)).hello;
    assert_eq!((hello.version, hello.suite, hello.compression), (0x0300, 0x0005, 1));
    assert!(!hello.has_renegotiation_info && !hello.has_extended_master_secret);
}

#[test]
fn primes_are_measured_and_signatures_found_behind_them() {
    let prime = [&[0, 1][..], &[0xff; 127]].concat();
    let key = [vector16(&prime), vector16(&[2]), vector16(&[9; 128])].concat();
    let signed = [&key[..], &[2, 1], &vector16(b"signature")].concat();
    let cases = [
        (0x0303, 0x0033, signed.clone(), Some(0x0201)),
        // No scheme before TLS 1.2, and no signature without a certificate.
        (0x0301, 0x0033, [&key[..], b"signature"].concat(), None),
        (0x0303, 0x0034, key.clone(), None),
        // With a hint first (RFC 4279 2).
        (0x0303, 0x0090, [vector16(b"hint"), key].concat(), None),
    ];
    for (version, suite, body, scheme) in cases {
        let hello = message(2, &server_hello(version, &RANDOM, suite, 0, &[]));
        let bytes = record(22, &[hello, message(12, &body), message(14, b"")].concat());
        let exchange = accepted(parse(&bytes, AnswerExtent::Flight)).key_exchange;
        assert_eq!((exchange.dh_prime_bits, exchange.signature_scheme), (Some(1017), scheme), "{suite:#06x}");
    }
}

#[test]
fn alerts_refuse_before_the_hello_and_warnings_do_not() {
    let fatal = record(21, &[2, 40]);
    let warning = record(21, &[1, 112]);
    assert_eq!(parse(&fatal, AnswerExtent::Hello), Some(ServerAnswer::Alert(40)));
    assert_eq!(parse(&record(21, &[1, 0]), AnswerExtent::Hello), Some(ServerAnswer::Alert(0)));
    assert_eq!(parse(&warning, AnswerExtent::Hello), None);
    let hello = record(22, &flight()[0]);
    assert_eq!(accepted(parse(&[&warning[..], &hello].concat(), AnswerExtent::Hello)).hello.suite, 0xc02f);
    // A server that has chosen and then misses something has accepted.
    assert_eq!(accepted(parse(&[&hello[..], &fatal].concat(), AnswerExtent::Flight)).hello.suite, 0xc02f);
    assert_eq!(
        parse(&record(21, &[2]), AnswerExtent::Hello),
        Some(ServerAnswer::Malformed(Malformed("an alert")))
    );
}

#[test]
fn what_is_not_tls_is_shown() {
    let answer = parse(b"HTTP/1.1 400 Bad Request\r\n", AnswerExtent::Hello);
    assert_eq!(answer, Some(ServerAnswer::NotTls("HTTP/1.1 400 Bad Request".to_owned())));
    let mut parser = AnswerParser::new(AnswerExtent::Hello);
    assert_eq!(parser.push(&[21]), None);
    assert_eq!(parser.push(b"\r\n"), Some(ServerAnswer::NotTls("\\x15\\r\\n".to_owned())));
    let after = [record(21, &[1, 112]), b"junk!".to_vec()].concat();
    assert!(matches!(parse(&after, AnswerExtent::Hello), Some(ServerAnswer::Malformed(_))));
    assert!(matches!(parse(&[22, 3, 3, 0xff, 0xff], AnswerExtent::Hello), Some(ServerAnswer::Malformed(_))));
}

#[test]
fn endless_answers_end() {
    let is_endless =
        |bytes: &[u8]| matches!(parse(bytes, AnswerExtent::Flight), Some(ServerAnswer::Endless(_)));
    let hello = record(22, &flight()[0]);
    assert!(is_endless(&record(21, &[1, 112]).repeat(65)));
    assert!(is_endless(&record(22, &[]).repeat(65)));
    assert!(is_endless(&record(22, &message(0, b"")).repeat(65)));
    assert!(!is_endless(&record(22, &[]).repeat(64)));
    // A message whose length alone is too much, and messages that go on.
    assert!(is_endless(&[hello.clone(), record(22, &[11, 2, 0, 1])].concat()));
    let ticket = record(22, &message(4, &[0; 1000]));
    assert!(is_endless(&[hello.clone(), ticket.repeat(300)].concat()));
    let certificates = vector24(&vector24(b"c").repeat(21));
    let answer = parse(&[hello, record(22, &message(11, &certificates))].concat(), AnswerExtent::Flight);
    assert!(matches!(answer, Some(ServerAnswer::Malformed(_))), "{answer:?}");
}

#[test]
fn messages_out_of_order_are_errors() {
    let hello = flight()[0].clone();
    for bytes in [flight()[1].clone(), [hello.clone(), hello].concat()] {
        let answer = parse(&record(22, &bytes), AnswerExtent::Flight);
        assert!(matches!(answer, Some(ServerAnswer::Malformed(_))), "{answer:?}");
    }
}
