//! Bodies: codings, charsets, keywords, and bombs.

use std::time::Duration;

use async_compression::tokio::bufread as coders;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;
use vigie::domain::{FailureKind as Kind, Observation, Phase};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes};
use crate::probe_http::server::{Server, answers, page, with_headers};
use crate::support::alone::alone;

const TRANSFER: Option<Phase> = Some(Phase::Transfer);
const VALIDATE: Option<Phase> = Some(Phase::Validate);

async fn all(mut coder: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut coded = Vec::new();
    coder.read_to_end(&mut coded).await.unwrap();
    coded
}

async fn coded(coding: &str, plain: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" | "x-gzip" => all(coders::GzipEncoder::new(plain)).await,
        "zlib" => all(coders::ZlibEncoder::new(plain)).await,
        "raw" => all(coders::DeflateEncoder::new(plain)).await,
        "br" => all(coders::BrotliEncoder::new(plain)).await,
        "zstd" => all(coders::ZstdEncoder::new(plain)).await,
        _ => plain.to_vec(),
    }
}

async fn seen(headers: &str, body: &[u8], fields: Value) -> Observation {
    let server = Server::start(vec![answers(with_headers(headers, body))]).await;
    Check::of(&server.url("/")).with(fields).run().await
}

async fn expect(expected: Expect, headers: &str, body: &[u8], fields: Value) {
    let observation = seen(headers, body, fields).await;
    expected.compare(&observation).unwrap_or_else(|difference| panic!("{headers:?}: {difference}"));
}

fn keyword(text: &str) -> Value {
    json!({"keyword_string": text})
}

#[tokio::test]
async fn every_coding_is_undone() {
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
        let body = coded(coding, plain.as_bytes()).await;
        let observation = seen(&format!("Content-Encoding: {name}\r\n"), &body, keyword("needle")).await;
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
async fn codings_on_top_of_each_other_are_undone_in_turn() {
    let inner = coded("gzip", b"the needle").await;
    let body = coded("br", &coded("zlib", &inner).await).await;
    expect(Passes, "Content-Encoding: gzip, deflate\r\nContent-Encoding: br\r\n", &body, keyword("needle"))
        .await;
    let five = Fails(3, Kind::EncodingInvalid, TRANSFER);
    expect(five, "Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\n", &body, json!({})).await;
}

#[tokio::test]
async fn members_of_a_gzip_body_follow_each_other() {
    let body = [coded("gzip", b"the nee").await, coded("gzip", b"dle").await].concat();
    expect(Passes, "Content-Encoding: gzip\r\n", &body, keyword("needle")).await;
}

#[tokio::test]
async fn a_body_of_countless_empty_members_is_refused_and_keeps_its_deadline() {
    let empty = coded("gzip", b"").await;
    let few = [empty.repeat(1999), coded("gzip", b"needle").await].concat();
    expect(Passes, "Content-Encoding: gzip\r\n", &few, keyword("needle")).await;
    let many = empty.repeat(50_000);
    expect(Fails(3, Kind::EncodingInvalid, TRANSFER), "Content-Encoding: gzip\r\n", &many, json!({})).await;
}

#[tokio::test]
async fn a_body_that_cannot_be_decoded_is_invalid() {
    let whole = coded("gzip", &b"needle ".repeat(500)).await;
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
        ("Content-Encoding: compress\r\n", &b"\x1f\x9d"[..]),
        ("Content-Encoding: gzip, nonsense\r\n", &whole),
    ] {
        expect(invalid, headers, body, json!({})).await;
    }
}

#[tokio::test]
async fn an_empty_body_needs_no_decoding() {
    for coding in ["gzip", "deflate", "br", "zstd", "nonsense"] {
        expect(Passes, &format!("Content-Encoding: {coding}\r\n"), b"", json!({})).await;
    }
}

/// Bytes of memory that this process holds, and the most that it held since [`forget_the_most`], without the pages of
/// its program, of which more are read the more it does.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let program = line("RssFile:");
    (line("VmRSS:") - program, line("VmHWM:") - program)
}

fn forget_the_most() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[tokio::test]
async fn a_bomb_is_too_large_and_costs_no_memory() {
    if !alone("probe_http::bodies::a_bomb_is_too_large_and_costs_no_memory") {
        return;
    }
    let mebibytes = 64;
    for (coding, name) in [("gzip", "gzip"), ("zlib", "deflate"), ("br", "br"), ("zstd", "zstd")] {
        let zeros = tokio::io::repeat(0).take(mebibytes * 1024 * 1024);
        let zeros = tokio::io::BufReader::new(zeros);
        let bomb = match coding {
            "gzip" => all(coders::GzipEncoder::new(zeros)).await,
            "zlib" => all(coders::ZlibEncoder::new(zeros)).await,
            "br" => all(coders::BrotliEncoder::with_quality(zeros, async_compression::Level::Fastest)).await,
            _ => all(coders::ZstdEncoder::new(zeros)).await,
        };
        forget_the_most();
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
        // A bomb in a bomb: the outer stage may not fill memory, nor keep the thread, either.
        let twice = coded("gzip", &bomb[..bomb.len().min(1_000_000)]).await;
        expect(too_large, &format!("Content-Encoding: {name}, gzip\r\n"), &twice, keyword("x")).await;
    }
}

#[tokio::test]
async fn keywords_are_looked_for_in_the_decoded_text() {
    let missing = Fails(5, Kind::KeywordMissing, VALIDATE);
    let found = Fails(5, Kind::KeywordFound, VALIDATE);
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
async fn a_failing_status_is_told_before_a_missing_keyword() {
    let server = Server::start(vec![answers("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno")]).await;
    let observation = Check::of(&server.url("/")).with(keyword("hello")).run().await;
    Fails(7, Kind::HttpStatus, VALIDATE).compare(&observation).unwrap();
    assert_eq!(observation.facts.http.unwrap().body_bytes, 2);
}

#[tokio::test]
async fn details_hold_neither_body_nor_secret() {
    let body = "the body of the page";
    let answer = format!("HTTP/1.1 401 No\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = Server::start(vec![answers(answer)]).await;
    let url = server.url("/").replace("http://", "http://me:topsecret@");
    let observation = Check::of(&url).run().await;
    Fails(5, Kind::LoginRefused, VALIDATE).compare(&observation).unwrap();
    let text = format!("{observation:?}");
    assert!(!text.contains("topsecret") && !text.contains(body), "{text}");
}

#[tokio::test]
async fn a_search_that_takes_long_holds_up_nobody_else() {
    // The places for long searches are those of a process.
    if !alone("probe_http::bodies::a_search_that_takes_long_holds_up_nobody_else") {
        return;
    }
    let body = b"aaaa bbbb cccc ".repeat(200_000);
    let server = Server::start(vec![answers(page(&body))]).await;
    let pattern = "(?:[a-c ]{100,200}){8}y";
    let fields = json!({"keyword_string": pattern, "keyword_match_type": "Regular Expression"});
    // Patience for a machine that is busy: how long the search would take is told from how fast it begins.
    let mut check = Check::of(&server.url("/")).with(fields).within(Duration::from_mins(2));
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
