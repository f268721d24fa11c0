//! Hostile servers: each is bounded, and named in the open questions.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use vigie::domain::{FailureKind, ScannedTlsVersion, TlsScan};
use vigie::net::{ConnectionTrace, Deadline, Endpoint, set_reset_on_close};
use vigie::protocol::tls_scan::{TlsScanOptions, scan_tls};

use super::our_scan::{fast_pacer, net};
use super::scripted::{Hello, Scripted, message, record, send, server_hello};

/// Scans `port` with connections of 400 ms at most, within `time`.
async fn scan_within(port: u16, time: Duration) -> TlsScan {
    let mut trace = ConnectionTrace::default();
    let options = TlsScanOptions { connection_timeout: Duration::from_millis(400) };
    let endpoint = Endpoint::new("127.0.0.1", port);
    let deadline = Deadline::within(time);
    let started = Instant::now();
    let scan =
        scan_tls(&net(), &endpoint, "a.test", &fast_pacer(), options, deadline, &mut trace).await.unwrap();
    assert!(started.elapsed() < time + Duration::from_secs(2), "{:?}", started.elapsed());
    scan
}

async fn scan(server: &Scripted) -> TlsScan {
    scan_within(server.port, Duration::from_secs(30)).await
}

/// Checks that nothing was found, over at most `connections`, and that the open questions say `reason`.
fn assert_nothing_found(scan: &TlsScan, server: &Scripted, connections: usize, reason: &str) {
    assert!(scan.versions.is_empty() && scan.certificate_chain.is_empty(), "{scan:?}");
    assert!(
        scan.open_questions.iter().any(|question| question.contains(reason)),
        "{:?}",
        scan.open_questions
    );
    assert!(server.connections() <= connections, "{} connections", server.connections());
}

/// Sends `bytes` without end.
async fn send_forever(mut stream: TcpStream, bytes: Vec<u8>) {
    while send(&mut stream, &bytes).await {}
}

#[tokio::test]
async fn a_tarpit_costs_three_connections() {
    let server = Scripted::start(async |mut stream, _| {
        for byte in [&[22, 3, 3, 0x40, 0][..], &[2; 600]].concat() {
            if !send(&mut stream, &[byte]).await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    let scan = scan(&server).await;
    assert_nothing_found(&scan, &server, 3, "3 connections in a row had no answer");
    assert!(scan.open_questions[0].contains("timeout"), "{:?}", scan.open_questions);
}

#[tokio::test]
async fn endless_records_and_warnings_end() {
    for bytes in [record(21, &[1, 112]), record(22, &[]), message(0, b"")] {
        let server = Scripted::start(move |stream, _| send_forever(stream, bytes.clone())).await;
        let scan = scan(&server).await;
        assert_nothing_found(&scan, &server, 3, "records that say nothing");
    }
}

#[tokio::test]
async fn endless_certificates_end() {
    let server = Scripted::start(async |mut stream, hello: Hello| {
        let suite = if hello.version == 0x0303 && hello.suites.contains(&0xc02f) { 0xc02f } else { 0 };
        if suite == 0 {
            send(&mut stream, &record(21, &[2, 40])).await;
        } else if send(&mut stream, &server_hello(hello.version, suite, 0)).await {
            send_forever(stream, message(11, &[&[0, 0, 203, 0, 0, 200][..], &[0x30; 200]].concat())).await;
        }
    })
    .await;
    let scan = scan(&server).await;
    assert_eq!(scan.versions.len(), 1);
    assert_eq!(scan.versions[0].cipher_suites, [0xc02f]);
    let question = "certificate: the answer had no end";
    assert!(scan.open_questions.iter().any(|other| other.starts_with(question)), "{:?}", scan.open_questions);
}

#[tokio::test]
async fn one_alert_to_everything_is_a_refusal_of_everything() {
    for (alert, reason) in
        [(40, "refused every version"), (70, "refused every version"), (80, "alert internal_error (80)")]
    {
        let server = Scripted::start(move |mut stream, _| async move {
            send(&mut stream, &record(21, &[2, alert])).await;
        })
        .await;
        assert_nothing_found(&scan(&server).await, &server, 25, reason);
    }
}

#[tokio::test]
async fn resets_and_ends_without_a_word_count_as_refusals_and_are_named() {
    for resets in [true, false] {
        let server = Scripted::start(move |stream, _| async move {
            if resets {
                set_reset_on_close(&stream);
            }
        })
        .await;
        let scan = scan(&server).await;
        assert_nothing_found(&scan, &server, 50, "closes the connection without an alert");
        assert_eq!(scan.open_questions.len(), 6, "one for each version: {:?}", scan.open_questions);
    }
}

#[tokio::test]
async fn what_is_not_tls_is_left_alone_after_one_connection() {
    for (bytes, shown) in [
        (&b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"[..], "`HTTP/1.1 400 Bad Request`"),
        (b"220 mail.test ESMTP\r\n", "`220 mail.test ESMTP"),
        (&[0x8f, 0x01, 0xfe, 0x33, 0x90, 0x11], r"`\x8f\x01\xfe3\x90\x11`"),
    ] {
        let server = Scripted::start(move |mut stream, _| async move {
            send(&mut stream, bytes).await;
        })
        .await;
        assert_nothing_found(&scan(&server).await, &server, 1, shown);
    }
}

#[tokio::test]
async fn a_server_that_accepts_everything_is_bounded() {
    let server = Scripted::start(async |mut stream, hello: Hello| {
        send(&mut stream, &server_hello(hello.version, hello.suites[0], 0)).await;
    })
    .await;
    let scan = scan(&server).await;
    assert!(server.connections() <= 600, "{}", server.connections());
    let question = "after 600 connections the rest was not asked";
    assert!(scan.open_questions.iter().any(|other| other.contains(question)), "{:?}", scan.open_questions);
}

#[tokio::test]
async fn a_suite_that_was_not_offered_is_not_believed() {
    let server = Scripted::start(async |mut stream, hello: Hello| {
        send(&mut stream, &server_hello(hello.version, 0x1234, 0)).await;
    })
    .await;
    assert_nothing_found(&scan(&server).await, &server, 6, "the server chose 0x1234, which was not offered");
}

#[tokio::test]
async fn the_end_of_the_time_is_no_failure() {
    let server = Scripted::start(async |mut stream, hello: Hello| {
        tokio::time::sleep(Duration::from_millis(50)).await;
        send(&mut stream, &server_hello(hello.version, hello.suites[0], 0)).await;
    })
    .await;
    let scan = scan_within(server.port, Duration::from_millis(700)).await;
    assert!(
        scan.open_questions.iter().any(|question| question.contains("the time of the scan was over")),
        "{scan:?}"
    );
    assert!(server.connections() < 15, "{}", server.connections());
}

#[tokio::test]
async fn without_a_first_connection_there_is_no_scan() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut trace = ConnectionTrace::default();
    let endpoint = Endpoint::new("127.0.0.1", port);
    let deadline = Deadline::within(Duration::from_secs(5));
    let result =
        scan_tls(&net(), &endpoint, "a.test", &fast_pacer(), TlsScanOptions::default(), deadline, &mut trace)
            .await;
    assert_eq!(result.unwrap_err().kind, FailureKind::ConnectRefused);
}

#[tokio::test]
async fn ssl_30_with_compression_is_seen() {
    let server = Scripted::start(async |mut stream, hello: Hello| {
        let suite = [0x000a, 0x0005].into_iter().find(|suite| hello.suites.contains(suite));
        let answer = match suite.filter(|_| hello.version == 0x0300) {
            Some(suite) => server_hello(0x0300, suite, *hello.compression.iter().max().unwrap()),
            None => record(21, &[2, 40]),
        };
        send(&mut stream, &answer).await;
    })
    .await;
    let scan = scan(&server).await;
    assert_eq!(scan.versions.len(), 1);
    assert_eq!(scan.versions[0].version, ScannedTlsVersion::Ssl3);
    assert_eq!(scan.versions[0].cipher_suites, [0x000a, 0x0005]);
    assert_eq!((scan.versions[0].has_server_order, scan.has_compression), (Some(true), true));
    assert_eq!((scan.has_secure_renegotiation, scan.refuses_fallback), (Some(false), None));
}
