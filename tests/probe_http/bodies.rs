//! Bodies: codings, charsets, keywords and decompression bombs.

use std::time::Duration;

use async_compression::tokio::bufread as coders;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;
use vigie::domain::{FailureKind as Kind, Observation, Phase};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes};
use crate::probe_http::server::{Server, page, respond, with_headers};
use crate::support::alone::alone;

const TRANSFER: Option<Phase> = Some(Phase::Transfer);
const VALIDATE: Option<Phase> = Some(Phase::Validate);

async fn encode_all(mut coder: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut encoded = Vec::new();
    coder.read_to_end(&mut encoded).await.unwrap();
    encoded
}

async fn encode(coding: &str, plain: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" | "x-gzip" => encode_all(coders::GzipEncoder::new(plain)).await,
        "zlib" => encode_all(coders::ZlibEncoder::new(plain)).await,
        "raw" => encode_all(coders::DeflateEncoder::new(plain)).await,
        "br" => encode_all(coders::BrotliEncoder::new(plain)).await,
        "zstd" => encode_all(coders::ZstdEncoder::new(plain)).await,
        _ => plain.to_vec(),
    }
}

async fn observe(headers: &str, body: &[u8], fields: Value) -> Observation {
    let server = Server::start(vec![respond(with_headers(headers, body))]).await;
    Check::new(&server.url("/")).with(fields).run().await
}

async fn expect(expected: Expect, headers: &str, body: &[u8], fields: Value) {
    let observation = observe(headers, body, fields).await;
    expected.compare(&observation).unwrap_or_else(|difference| panic!("{headers:?}: {difference}"));
}

fn keyword(text: &str) -> Value {
    json!({"keyword_string": text})
}

#[tokio::test]
async fn every_content_coding_is_decoded() {
    let plain = "where is the needle in this hay? ".repeat(4000);
    for (coding, name) in [
        ("gzip", "gzip"),
        ("x-gzip", "X-GZIP"),
        ("zlib", "deflate"),
        ("raw", "deflate"),
        ("br", "br"),
        ("zstd", "zstd"),
        ("plain", "identity"),
        ("plain", ""),
    ] {
        let body = encode(coding, plain.as_bytes()).await;
        let observation = observe(&format!("Content-Encoding: {name}\r\n"), &body, keyword("needle")).await;
        Passes.compare(&observation).unwrap_or_else(|difference| panic!("{coding}: {difference}"));
        let facts = observation.facts.http.unwrap();
        assert_eq!(
            (facts.body_wire_bytes, facts.body_bytes),
            (body.len() as u64, plain.len() as u64),
            "{coding}"
        );
    }
}

#[tokio::test]
async fn stacked_content_codings_are_decoded() {
    let inner = encode("gzip", b"the needle").await;
    let body = encode("br", &encode("zlib", &inner).await).await;
    expect(Passes, "Content-Encoding: gzip, deflate\r\nContent-Encoding: br\r\n", &body, keyword("needle"))
        .await;
    let five = Fails(3, Kind::EncodingInvalid, TRANSFER);
    expect(five, "Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\n", &body, json!({})).await;
}

#[tokio::test]
async fn a_gzip_body_of_several_members_is_decoded() {
    let body = [encode("gzip", b"the nee").await, encode("gzip", b"dle").await].concat();
    expect(Passes, "Content-Encoding: gzip\r\n", &body, keyword("needle")).await;
}

#[tokio::test]
async fn a_gzip_body_of_too_many_empty_members_is_invalid() {
    let empty = encode("gzip", b"").await;
    let few = [empty.repeat(1999), encode("gzip", b"needle").await].concat();
    expect(Passes, "Content-Encoding: gzip\r\n", &few, keyword("needle")).await;
    let many = empty.repeat(50_000);
    expect(Fails(3, Kind::EncodingInvalid, TRANSFER), "Content-Encoding: gzip\r\n", &many, json!({})).await;
}

#[tokio::test]
async fn a_body_that_cannot_be_decoded_is_invalid() {
    let whole = encode("gzip", &b"needle ".repeat(500)).await;
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let invalid = Fails(3, Kind::EncodingInvalid, TRANSFER);
    for (headers, body) in [
        ("Content-Encoding: gzip\r\n", &b"not gzip at all"[..]),
        ("Content-Encoding: gzip\r\n", &whole[..middle]),
        ("Content-Encoding: gzip\r\n", &flipped),
        ("Content-Encoding: deflate\r\n", &b"\xff\xff\xff\xff"[..]),
        ("Content-Encoding: br\r\n", &b"\xff\xff\xff\xff"[..]),
        ("Content-Encoding: zstd\r\n", &whole),
    ] {
        expect(invalid, headers, body, json!({})).await;
    }
}

#[tokio::test]
async fn a_body_with_an_unknown_coding_is_read_as_it_comes() {
    let zipped = encode("gzip", b"the needle").await;
    for (coding, body, named) in [
        ("utf-8", &b"the needle"[..], "`utf-8`"),
        ("none", b"the needle", "`none`"),
        ("aws-chunked", b"the needle", "`aws-chunked`"),
        ("gzip, aws-chunked", &zipped, "`aws-chunked`"),
    ] {
        let observation = observe(&format!("Content-Encoding: {coding}\r\n"), body, keyword("needle")).await;
        Passes.compare(&observation).unwrap_or_else(|difference| panic!("{coding}: {difference}"));
        let warnings: Vec<_> = observation.warnings.iter().map(|warning| warning.detail.as_str()).collect();
        assert!(matches!(warnings.as_slice(), [one] if one.contains(named)), "{coding}: {warnings:?}");
    }
}

#[tokio::test]
async fn an_empty_body_needs_no_decoding() {
    for coding in ["gzip", "deflate", "br", "zstd", "nonsense"] {
        expect(Passes, &format!("Content-Encoding: {coding}\r\n"), b"", json!({})).await;
    }
}

/// Returns the memory of this process in bytes, and its maximum since [`reset_max_memory`]. Mapped program pages are
/// left out, since their number grows with the code that runs.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let program = line("RssFile:");
    (line("VmRSS:") - program, line("VmHWM:") - program)
}

fn reset_max_memory() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[tokio::test]
async fn a_decompression_bomb_is_too_large_and_uses_little_memory() {
    if !alone("probe_http::bodies::a_decompression_bomb_is_too_large_and_uses_little_memory") {
        return;
    }
    let mebibytes = 64;
    for (coding, name) in [("gzip", "gzip"), ("zlib", "deflate"), ("br", "br"), ("zstd", "zstd")] {
        let zeros = tokio::io::repeat(0).take(mebibytes * 1024 * 1024);
        let zeros = tokio::io::BufReader::new(zeros);
        let bomb = match coding {
            "gzip" => encode_all(coders::GzipEncoder::new(zeros)).await,
            "zlib" => encode_all(coders::ZlibEncoder::new(zeros)).await,
            "br" => {
                encode_all(coders::BrotliEncoder::with_quality(zeros, async_compression::Level::Fastest))
                    .await
            }
            _ => encode_all(coders::ZstdEncoder::new(zeros)).await,
        };
        reset_max_memory();
        let (before, _) = memory();
        let too_large = Fails(3, Kind::ResponseTooLarge, TRANSFER);
        expect(
            too_large,
            &format!("Content-Encoding: {name}\r\n"),
            &bomb[..bomb.len().min(1_000_000)],
            keyword("x"),
        )
        .await;
        let (_, max) = memory();
        assert!(max < before + 32 * 1024 * 1024, "{coding}: {before} before, {max} at most");
        // A bomb in a bomb: the outer stage must not fill memory or block the thread either.
        let twice = encode("gzip", &bomb[..bomb.len().min(1_000_000)]).await;
        expect(too_large, &format!("Content-Encoding: {name}, gzip\r\n"), &twice, keyword("x")).await;
    }
}

// row: 2.8 website.keyword_string; 2.8 website.keyword_match_type; 2.8 website.keyword_match_invert
#[tokio::test]
async fn keywords_are_searched_in_the_decoded_text() {
    let missing = Fails(5, Kind::KeywordMissing, VALIDATE);
    let found = Fails(5, Kind::ForbiddenKeywordFound, VALIDATE);
    let invert = json!({"keyword_string": "hello", "keyword_match_invert": true});
    let expression = json!({"keyword_string": "h.*o", "keyword_match_type": "Regular Expression"});
    for (expected, headers, body, fields) in [
        (Passes, "", &b"say hello there"[..], keyword("hello")),
        (missing, "", b"say goodbye", keyword("hello")),
        (missing, "", b"", keyword("hello")),
        (found, "", b"say hello there", invert.clone()),
        (Passes, "", b"say goodbye", invert),
        (Passes, "", b"h\n\no", expression),
        (Passes, "Content-Type: text/html; charset=iso-8859-1\r\n", b"pr\xeat", keyword("prêt")),
        (missing, "Content-Type: text/html; charset=utf-8\r\n", b"pr\xeat", keyword("prêt")),
        (Passes, "Content-Type: text/html; charset=utf-8\r\n", b"\xff\xfeo\x00k\x00", keyword("ok")),
        (Passes, "Content-Type: text/html\r\n", b"<meta charset=koi8-r>\xc4\xc1", keyword("да")),
        (Passes, "", b"<?xml version='1.0' encoding='shift_jis'?>\x82\xa0", keyword("あ")),
        (Passes, "", "a naïve page".as_bytes(), keyword("naïve")),
    ] {
        expect(expected, headers, body, fields).await;
    }
}

#[tokio::test]
async fn a_failing_status_wins_over_a_missing_keyword() {
    let server = Server::start(vec![respond("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno")]).await;
    let observation = Check::new(&server.url("/")).with(keyword("hello")).run().await;
    Fails(7, Kind::HttpErrorStatus, VALIDATE).compare(&observation).unwrap();
    assert_eq!(observation.facts.http.unwrap().body_bytes, 2);
}

#[tokio::test]
async fn details_hold_neither_body_nor_secret() {
    let body = "the body of the page";
    let response = format!("HTTP/1.1 401 No\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = Server::start(vec![respond(response)]).await;
    let url = server.url("/").replace("http://", "http://me:topsecret@");
    let observation = Check::new(&url).run().await;
    Fails(5, Kind::LoginRejected, VALIDATE).compare(&observation).unwrap();
    let text = format!("{observation:?}");
    assert!(!text.contains("topsecret") && !text.contains(body), "{text}");
}

#[tokio::test]
async fn a_long_search_does_not_block_the_runtime() {
    // The threads for long searches are shared by the process.
    if !alone("probe_http::bodies::a_long_search_does_not_block_the_runtime") {
        return;
    }
    let body = b"aaaa bbbb cccc ".repeat(60_000);
    let server = Server::start(vec![respond(page(&body))]).await;
    let pattern = "(?:[a-c ]{100,200}){8}y";
    let fields = json!({"keyword_string": pattern, "keyword_match_type": "Regular Expression"});
    // Generous, for a busy machine: the duration of the search is estimated from its start.
    let mut check = Check::new(&server.url("/")).with(fields).within(Duration::from_mins(2));
    check.settings.max_body_bytes = 10 * 1024 * 1024;
    let mut run = std::pin::pin!(check.run());
    let (mut longest, mut last) = (Duration::ZERO, Instant::now());
    let observation = loop {
        let observation = tokio::select! {
            observation = &mut run => Some(observation),
            () = tokio::time::sleep(Duration::from_millis(5)) => None,
        };
        longest = longest.max(last.elapsed());
        last = Instant::now();
        if let Some(observation) = observation {
            break observation;
        }
    };
    Fails(5, Kind::KeywordMissing, Some(Phase::Validate)).compare(&observation).unwrap();
    let searched = observation.phases.duration(Phase::Validate).unwrap();
    assert!(longest < searched / 2, "stood still for {longest:?} of {searched:?}");
}
