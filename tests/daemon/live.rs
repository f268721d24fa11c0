//! The stream of updates of a page, as a client without a browser reads it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::daemon::process::{Daemon, tcp_monitor};

/// Asks for `path` with `headers`; returns the connection, and what arrived up to the first `until`.
fn open(address: SocketAddr, path: &str, headers: &str, until: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").unwrap();
    let mut received = String::new();
    let mut buffer = [0; 4096];
    while !received.contains(until) {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "it ended after {received}");
        received.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    (stream, received)
}

#[test]
fn updates_are_streamed_to_those_who_may_see_the_page() {
    let daemon = Daemon::start(&tcp_monitor("a", 9));
    let own = format!("Authorization: Bearer {}\r\n", daemon.token());
    let (_stream, received) = open(daemon.address, "/live?page=%2F", &own, "</hx-partial>");
    for part in
        ["200 OK", "content-type: text/event-stream", "x-accel-buffering: no", "retry: 1000", "#tiles"]
    {
        assert!(received.contains(part), "{part}: {received}");
    }
    // Who shows this state already gets nothing but what is new.
    let id = received.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let known = format!("{own}Last-Event-ID: {id}\r\n");
    let (_stream, again) = open(daemon.address, "/live?page=%2F", &known, "retry: 1000");
    assert!(!again.contains("#tiles") || !again.contains(id), "{again}");
    for (path, status) in [
        ("/live?page=%2Fnothing", "404 "),
        ("/live?page=%2Fmonitors%2F99", "404 "),
        ("/live", "400 "),
        ("/live?page=%2F%20", "400 "),
    ] {
        let (_, refusal) = open(daemon.address, path, &own, "\r\n");
        assert!(refusal.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {refusal}");
    }
    let (_, refusal) =
        open(daemon.address, "/live?page=%2F", "HX-Request: true\r\nAccept: text/html\r\n", "\r\n");
    assert!(refusal.starts_with("HTTP/1.1 401 "), "a script cannot sign in: {refusal}");
}

#[test]
fn too_many_open_pages_are_refused_and_others_still_served() {
    let daemon = Daemon::start(&tcp_monitor("a", 9));
    let own = format!("Authorization: Bearer {}\r\n", daemon.token());
    let open_one = || open(daemon.address, "/live?page=%2F", &own, "\r\n\r\n");
    let mut streams: Vec<_> = (0..64).map(|_| open_one()).collect();
    assert!(streams.iter().all(|(_, received)| received.starts_with("HTTP/1.1 200")));
    let (_, refusal) = open_one();
    assert!(refusal.starts_with("HTTP/1.1 503") && refusal.contains("retry-after: 30"), "{refusal}");
    assert_eq!(daemon.get_with_headers("/", &own).0, 200);
    streams.truncate(10);
    // A connection that is gone is noticed when something is sent, after 15 s at most.
    let freed = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        open_one().1.starts_with("HTTP/1.1 200")
    });
    assert!(freed, "streams of those who are gone are not given back");
}
