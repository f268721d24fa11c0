//! Language, time zone and account of a browser.

use serde_json::{Value, json};

use crate::console::browser::{Browser, Setup, flow_setups, usual_kind};
use crate::console::server::{Server, Site};

#[tokio::test]
async fn a_person_reads_in_their_language_and_time_zone() {
    let server = Server::start("[]\n");
    for setup in flow_setups() {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.goto(&server.url("/locations?x=1")).await;
        browser.click("footer a[href='/preferences']").await;
        browser.wait_for_text("h1", "Preferences").await;
        browser.choose("#language", "Deutsch").await;
        browser.choose("#zone", "Asia/Kolkata").await;
        browser.click(".submit button").await;
        browser.wait_for_text("footer", "Zeiten in Asia/Kolkata, Deutsch").await;
        assert_eq!(browser.path().await, "/locations?x=1", "back to where it was opened");
        assert_eq!(browser.text(".sections [aria-current=page]").await, "Standorte");
        assert_eq!(browser.eval("return document.documentElement.lang").await, "de");
        browser.click("footer a[href='/preferences']").await;
        browser.wait_for_text("h1", "Einstellungen").await;
        assert_eq!(browser.eval("return document.querySelector('#zone').value").await, "Asia/Kolkata");
        // What the browser and the account say counts again.
        browser.choose("#language", "die des Browsers").await;
        browser.choose("#zone", "die des Kontos").await;
        browser.click(".submit button").await;
        browser.wait_for_text("footer", "times in UTC, English").await;
        browser.close().await;
    }
}

#[tokio::test]
async fn the_host_looks_at_one_of_several_accounts() {
    let site = Site::start();
    let server = Server::start(&site.monitor("a", "of the first"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.goto(&server.url("/preferences")).await;
    assert_eq!(browser.text("#account").await, "", "there is one account only");
    server.run(&["customer", "add", "<Shop>"]);
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("#rows", "of the first").await;
    browser.click("footer a[href='/preferences']").await;
    browser.wait_for_text("h1", "Preferences").await;
    browser.choose("#account", "<Shop>").await;
    browser.click(".submit button").await;
    browser.wait_for_text(".session", "host · <Shop>").await;
    browser.wait_for_text("#rows", "There are no monitors yet").await;
    // What is made now belongs to it, and pages follow by themselves.
    browser.goto(&server.url("/monitors/new?type=website")).await;
    browser.fill("[name=name]", "of the shop").await;
    browser.fill("[name=url]", &format!("http://127.0.0.1:{}/", site.port)).await;
    browser.click(".submit button").await;
    browser.wait_for_text("h1", "of the shop").await;
    browser.goto(&server.url("/account/properties/new")).await;
    browser.fill("[name=name]", "team of the shop").await;
    browser.click(".submit button").await;
    browser.wait_for_text("main table", "team of the shop").await;
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("#rows", "of the shop").await;
    browser.wait_for_text("#live-state", "Live").await;
    server.write_monitors(&site.monitor("a", "renamed"));
    assert_eq!(browser.text("#rows tbody a").await, "of the shop");
    let of_all = server.request("GET", "/properties", &Value::Null).1;
    assert_eq!(of_all["results"], json!([]), "the first account has none");
    browser.click("footer a[href='/preferences']").await;
    browser.wait_for_text("h1", "Preferences").await;
    browser.choose("#account", "all accounts").await;
    browser.click(".submit button").await;
    browser.wait_for_text("#rows", "renamed").await;
    browser.wait_for_text("#rows", "of the shop").await;
    assert!(!browser.text(".session").await.contains("Shop"));
    browser.close().await;
}

/// Chooses the location by the link in the header, and waits until the header names it.
async fn choose_location(browser: &Browser, name: &str) {
    browser.click("header .place").await;
    browser.wait_for_page("Preferences").await;
    browser.choose("#location", name).await;
    browser.click(".submit button").await;
    browser.wait_for_text("header .place", name).await;
}

#[tokio::test]
async fn a_person_looks_at_one_of_several_locations() {
    let site = Site::start();
    let settings = "locations:\n- {id: 2, name: Lyon <1>, region: 2}\n";
    let server = Server::start_with(&site.monitor("a", "checked here"), settings);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows .pill", "ok").await;
    browser.goto(&server.url("/?sort=name")).await;
    assert_eq!(browser.text("header .place").await, "all locations");
    choose_location(&browser, "Lyon <1>").await;
    assert_eq!(browser.path().await, "/?location=2&sort=name", "the list shows it at once");
    browser.wait_for_text("#rows", "No monitor").await;
    // The filter leads elsewhere, and stays there.
    browser.goto(&server.url("/")).await;
    assert_eq!(browser.path().await, "/?location=2");
    browser.eval("document.querySelector('.filter details').open = true").await;
    browser.choose("[name=location]", "all").await;
    browser.wait_for_text("#rows", "checked here").await;
    browser.wait_until("return location.search === '?location=all'").await;
    browser.goto(&server.url("/monitors/new?type=website")).await;
    assert_eq!(browser.eval("return document.querySelector('[name=check_location]').value").await, "2");
    choose_location(&browser, "all locations").await;
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("#rows", "checked here").await;
    assert_eq!(browser.path().await, "/");
    browser.close().await;
}
