//! Many slow clients: uploads of one account, and requests that never end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server_with_other_account;

/// How long a call may take beside the slow clients.
const PROMPT: Duration = Duration::from_secs(10);

#[test]
fn slow_uploads_of_one_account_do_not_block_those_of_another() {
    let (server, other) = server_with_other_account();
    let token = server.token();
    let start_upload = |token: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!(
            "POST /api/v3/monitors/website HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: 1500000\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let uploads: Vec<_> = (0..8).map(|_| start_upload(&format!("{token}~{other}"))).collect();
    // A large body of the first account, which is refused for what it says.
    let started = Instant::now();
    let (status, _) =
        server.call("POST", "/monitors/website", &json!({"description": "x".repeat(1_500_000)}));
    assert_eq!(status, 400);
    assert!(started.elapsed() < PROMPT, "{:?}", started.elapsed());
    drop(uploads);
}

#[test]
fn a_large_body_without_a_login_is_refused_before_it_is_read() {
    let (server, _) = server_with_other_account();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PROMPT)).unwrap();
    let head = "POST /api/v3/monitors/website HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Content-Type: application/json\r\nContent-Length: 70000000\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    let mut status_line = [0; 12];
    stream.read_exact(&mut status_line).unwrap();
    assert_eq!(&status_line, b"HTTP/1.1 401");
}

#[test]
fn half_sent_requests_do_not_block_liveness() {
    let (server, _) = server_with_other_account();
    let stalled: Vec<_> = (0..641)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n").unwrap();
            stream
        })
        .collect();
    for path in ["/healthz", "/readyz"] {
        let started = Instant::now();
        let (status, body) = server.get_with_headers(path, "");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["status"]), (200, &json!("ok")), "{body}");
        assert!(started.elapsed() < PROMPT, "{:?}", started.elapsed());
    }
    drop(stalled);
}
