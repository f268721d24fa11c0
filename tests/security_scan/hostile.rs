//! Hostile targets: what they do is bounded and told, and the scan still ends with what it knows.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::site::{Site, response};
use super::{facts, labels, scan};

#[tokio::test]
async fn a_tarpit_is_given_up_after_a_few_requests_and_told() {
    let listener = TcpListener::bind("127.0.73.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    let started = Instant::now();
    let observation = scan(json!({"url": format!("http://{at}/"), "timeout": 1})).await;
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    let questions = &facts(&observation).open_questions;
    assert!(questions.iter().any(|question| question.starts_with("web: ")), "{questions:?}");
    assert_ne!(facts(&observation).grade, "A+");
}

#[tokio::test]
async fn a_site_that_stalls_after_the_first_page_is_given_up() {
    let stalls = |path: &str, _: &str| match path {
        "/" => response("200 OK", "Content-Type: text/html\r\n", "<p>Shop"),
        // The body never comes.
        _ => "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".to_owned(),
    };
    let site = Site::start("127.0.73.2", None, stalls).await;
    let observation = scan(json!({"url": site.url("http"), "timeout": 1})).await;
    assert!(labels(&observation).contains("csp-missing"));
}

#[tokio::test]
async fn an_endless_body_is_cut() {
    let listener = TcpListener::bind("127.0.73.3:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n").await;
                while stream.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
            });
        }
    });
    let started = Instant::now();
    let observation = scan(json!({"url": format!("http://{at}/"), "timeout": 2})).await;
    assert!(labels(&observation).contains("csp-missing"), "{:#?}", facts(&observation));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[tokio::test]
async fn endless_headers_and_cookies_are_bounded() {
    let many = |_: &str, _: &str| {
        let cookies = "Set-Cookie: c=1\r\n".repeat(150);
        response("200 OK", &format!("Content-Type: text/html\r\n{cookies}"), "<p>Shop")
    };
    let site = Site::start("127.0.73.4", None, many).await;
    let observation = scan(json!({"url": site.url("http")})).await;
    assert!(facts(&observation).findings.len() <= 200);
}

#[tokio::test]
async fn an_https_site_that_speaks_no_tls_is_told() {
    let site = Site::start("127.0.73.5", None, |_, _| response("200 OK", "", "x")).await;
    let observation = scan(json!({"url": site.url("https"), "timeout": 1})).await;
    let scan = facts(&observation);
    let is_told = labels(&observation).contains("tls-not-spoken")
        || scan.open_questions.iter().any(|question| question.starts_with("tls: "));
    assert!(is_told, "{scan:#?}");
}
