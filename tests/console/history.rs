//! The history of a monitor: outages and changes.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

#[tokio::test]
async fn an_outage_and_a_change_are_in_the_history_and_the_outage_is_acknowledged() {
    let site = Site::start();
    site.set_broken(true);
    let server = Server::start(&site.frequent_monitor("shop", "shop"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "down").await;
    server.write_monitors(&site.frequent_monitor("shop", "<b>store</b>"));
    browser.wait_for_text("#rows", "<b>store</b>").await;
    browser.click("#rows tbody a").await;
    browser.wait_for_text("h1", "<b>store</b>").await;
    browser.click(".heading a").await;
    browser.wait_for_text("h1", "History of <b>store</b>").await;
    let text = browser.text("main").await;
    assert!(text.contains("open") && text.contains("Acknowledge"), "{text}");
    // The change of the name, with both names.
    assert_eq!(browser.text("del").await, "shop");
    assert_eq!(browser.text("ins").await, "<b>store</b>");
    browser.click("main td form button").await;
    browser.wait_for_text("main", "by host").await;
    assert_eq!(browser.complaints().await, [] as [String; 0]);
    browser.close().await;
}
