//! A list of ten thousand monitors.

use std::fmt::Write;

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::Server;
use crate::support::long_tests::full;

const COUNT: usize = 10_000;

#[tokio::test]
async fn ten_thousand_monitors_are_searched_paged_and_changed() {
    if !full() {
        return;
    }
    let mut monitors = String::new();
    for number in 0..COUNT {
        let _ = writeln!(
            monitors,
            "- {{key: k{number}, type: tcp, name: 'host {number:05}', billing_plancode: x, hostname: h{number}.example, port: 80, enabled: false}}"
        );
    }
    let server = Server::start(&monitors);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#tiles", "10000all").await;
    browser.wait_for_text("#live-state", "Live").await;
    browser.wait_for_text("#rows", "host 00000").await;
    browser.goto(&server.url("/?page=200")).await;
    browser.wait_for_text("#rows", "host 09999").await;
    assert_eq!(browser.eval("return document.querySelectorAll('#rows tbody tr').length").await, 50);
    browser.type_into("[name=q]", "h777.").await;
    browser.wait_until("return document.querySelectorAll('#rows tbody tr').length === 1").await;
    assert!(browser.text("#rows").await.contains("host 00777"));
    // All that match are changed, not only those on the page.
    browser.goto(&server.url("/?q=host+099")).await;
    browser.wait_for_text("#rows", "host 09900").await;
    browser.click("#bulk option[value=all]").await;
    browser.click("#bulk option[value=pause-3600]").await;
    browser.click("#bulk button").await;
    browser.wait_for_text("h1", "100 of 100 monitors").await;
    assert_eq!(browser.complaints().await, [] as [String; 0]);
    browser.close().await;
}
