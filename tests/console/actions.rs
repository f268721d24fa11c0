//! What a person does to a monitor from its page.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

/// Opens the page of the only monitor in a browser that is signed in.
async fn open_monitor(server: &Server, setup: Setup) -> Browser {
    let browser = Browser::signed_in(usual_kind(), setup, server).await;
    browser.wait_for_text("#rows", "shop").await;
    browser.click("#rows a").await;
    browser.wait_for_text("h1", "shop").await;
    browser
}

#[tokio::test]
async fn a_check_runs_at_once_and_its_result_appears_by_itself() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    let browser = open_monitor(&server, Setup::default()).await;
    site.set_broken(true);
    browser.click("#buttons .primary").await;
    browser.wait_for_text(".verdict", "The check failed").await;
    let verdict = browser.text(".verdict").await;
    assert!(verdict.contains("500") && verdict.contains("somebody asked for it"), "{verdict}");
    assert_eq!(browser.text(".breadcrumbs").await, "Monitors shop");
    site.set_broken(false);
    browser.click(".breadcrumbs li:nth-child(2) a").await;
    browser.click("#buttons .primary").await;
    browser.wait_for_text(".verdict", "The check passed").await;
    browser.close().await;
}

#[tokio::test]
async fn a_monitor_is_paused_and_resumed_without_scripts_too() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    for without_scripts in [false, true] {
        let browser = open_monitor(&server, Setup { without_scripts, ..Setup::default() }).await;
        browser.click("#buttons form:last-child button").await;
        browser.wait_for_text("#facts", "Paused").await;
        assert_eq!(browser.text("#buttons form:last-child button").await, "Resume");
        browser.click("#buttons form:last-child button").await;
        browser.wait_for_text("#buttons form:last-child button", "Pause").await;
        assert!(!browser.text("#facts").await.contains("Paused"));
        browser.close().await;
    }
}

#[tokio::test]
async fn a_form_of_another_site_or_of_an_ended_session_changes_nothing() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    let browser = open_monitor(&server, Setup::default()).await;
    let forge = "document.querySelector('#buttons form:last-child input').value = 'x'";
    browser.eval(forge).await;
    browser.click("#buttons form:last-child button").await;
    browser.wait_for_text("h1", "Not accepted").await;
    browser.client.back().await.unwrap();
    browser.wait_for_text("h1", "shop").await;
    browser.client.refresh().await.unwrap();
    assert!(!browser.text("#facts").await.contains("Paused"));
    browser.close().await;
}
