//! Pages that stay up to date.

use vigie::browser::BrowserKind;

use crate::browser_pool::test_pool::browsers;
use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};
use crate::support::side_by_side::each;

/// Opens the list of monitors in a browser that is signed in.
async fn open_list(server: &Server, kind: BrowserKind) -> Browser {
    let browser = Browser::signed_in(kind, Setup::default(), server).await;
    browser.wait_for_text("#live-state", "Live").await;
    browser
}

#[tokio::test]
async fn rows_follow_what_happens_and_nothing_typed_is_swept_away() {
    let site = Site::start();
    let server = Server::start(&site.monitor("a", "first"));
    each(browsers("console"), async |kind| {
        let browser = open_list(&server, kind).await;
        browser.wait_for_text("#rows .pill", "ok").await;
        browser.eval("window.sameDocument = true").await;
        browser.type_into("[name=q]", "s").await;
        let both = [site.monitor("a", "first"), site.monitor("b", "<i>second")].concat();
        server.write_monitors(&both);
        browser.wait_for_text("#rows", "<i>second").await;
        browser.wait_for_text("#tiles", "2all").await;
        let focused = "return document.activeElement.name + '=' + document.activeElement.value";
        assert_eq!(browser.eval(focused).await, "q=s");
        server.write_monitors(&site.monitor("a", "first"));
        browser.wait_for_text("#tiles", "1all").await;
        assert_eq!(browser.eval("return window.sameDocument").await, true, "the page was not loaded again");
        browser.close().await;
    })
    .await;
}

#[tokio::test]
async fn the_list_narrows_while_a_person_types_and_its_updates_follow() {
    let site = Site::start();
    let names = ["red", "green", "blue"];
    let monitors: String = names.iter().map(|name| site.monitor(name, name)).collect();
    let server = Server::start(&monitors);
    let browser = open_list(&server, usual_kind()).await;
    browser.wait_for_text("#tiles", "3ok").await;
    browser.type_into("[name=q]", "ee").await;
    browser.wait_for_text("#rows", "green").await;
    browser.wait_until("return document.querySelectorAll('#rows tbody tr').length === 1").await;
    assert!(browser.path().await.contains("q=ee"), "{}", browser.path().await);
    let focused = "return document.activeElement.name + '=' + document.activeElement.value";
    assert_eq!(browser.eval(focused).await, "q=ee");
    server.write_monitors(&[monitors, site.monitor("x", "wheel"), site.monitor("y", "other")].concat());
    browser.wait_for_text("#rows", "wheel").await;
    assert!(!browser.text("#rows").await.contains("other"));
    browser.client.back().await.unwrap();
    browser.wait_for_text("#rows", "blue").await;
    browser.close().await;
}

#[tokio::test]
async fn a_page_outlives_a_restart_of_the_server_and_does_not_delay_its_end() {
    let site = Site::start();
    let mut server = Server::start(&site.monitor("a", "first"));
    let browser = open_list(&server, usual_kind()).await;
    browser.eval("window.sameDocument = true").await;
    server.stop();
    let log = server.log();
    assert!(log.contains("shut down; no result was lost"), "{log}");
    assert!(!log.contains("closed connections that were still open"), "the open page delayed the end: {log}");
    browser.wait_for_text("#live-state", "Not connected").await;
    server.write_monitors(&site.monitor("a", "renamed"));
    server.start_again();
    browser.wait_for_text("#rows", "renamed").await;
    browser.wait_for_text("#live-state", "Live").await;
    assert_eq!(browser.eval("return window.sameDocument").await, true, "the page was not loaded again");
    browser.close().await;
}

#[tokio::test]
async fn signing_out_elsewhere_stops_the_updates_and_says_so() {
    let site = Site::start();
    let server = Server::start(&site.monitor("a", "first"));
    let browser = open_list(&server, usual_kind()).await;
    browser.type_into("[name=q]", "first").await;
    let list = browser.client.window().await.unwrap();
    let other = browser.client.new_window(true).await.unwrap();
    browser.client.switch_to_window(other.handle).await.unwrap();
    browser.goto(&server.url("/")).await;
    browser.click(".session button").await;
    browser.wait_for_text("h1", "Sign in").await;
    browser.client.switch_to_window(list).await.unwrap();
    browser.wait_for_text("#live-state", "Signed out").await;
    server.write_monitors(&site.monitor("a", "secret name"));
    browser.wait_for_text("#live-state a", "Sign in").await;
    assert!(!browser.text("#rows").await.contains("secret name"));
    assert_eq!(browser.eval("return document.querySelector('[name=q]').value").await, "first");
    browser.close().await;
}
