//! The keyboard: the command palette, and keys for what is done often.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

const CONTROL: char = '\u{e009}';
const NULL: char = '\u{e000}';
const DOWN: char = '\u{e015}';
const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';

#[tokio::test]
async fn everything_frequent_is_a_few_keys_away() {
    let site = Site::start();
    let server = Server::start(&[site.monitor("a", "red shop"), site.monitor("b", "blue shop")].concat());
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "red shop").await;
    browser.type_into("body", &format!("{CONTROL}k{NULL}")).await;
    browser.wait_for_text("#palette-places", "Locations").await;
    browser.type_into("#palette input", "blue").await;
    browser.wait_until("return document.querySelectorAll('#palette-places a').length === 1").await;
    browser.type_into("#palette input", &format!("{DOWN}{ENTER}")).await;
    browser.wait_for_page("blue shop").await;
    browser.type_into("body", "gl").await;
    browser.wait_for_page("Locations").await;
    browser.type_into("body", "gm").await;
    browser.wait_for_page("Monitors").await;
    browser.type_into("body", "/").await;
    assert_eq!(browser.eval("return document.activeElement.name").await, "q");
    // Keys are letters while somebody types.
    browser.type_into("[name=q]", "gl").await;
    assert_eq!(browser.eval("return document.querySelector('[name=q]').value").await, "gl");
    browser.type_into("[name=q]", &ESCAPE.to_string()).await;
    browser.eval("document.activeElement.blur()").await;
    browser.type_into("body", "n").await;
    browser.wait_for_page("New monitor").await;
    browser.type_into("body", "?").await;
    browser.wait_for_page("Console").await;
    // Single letters can be switched off; the palette stays.
    browser.click(".theme button[name=keys]").await;
    browser.wait_until("return document.documentElement.dataset.keys === 'off'").await;
    browser.type_into("body", "gl").await;
    browser.type_into("body", &format!("{CONTROL}k{NULL}")).await;
    browser.wait_for_text("#palette-places", "Locations").await;
    assert_eq!(browser.text("h1").await, "Console");
    browser.close().await;
}
