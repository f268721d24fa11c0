//! Saved views of the list: made from its filters, opened by their address, replaced, renamed and removed.

use crate::console::browser::{Browser, flow_setups, usual_kind};
use crate::console::server::{Server, Site};

async fn save_as(browser: &Browser, name: &str) {
    browser.click(".views summary").await;
    browser.fill(".views [name=name]", name).await;
    browser.click(".views form button").await;
}

#[tokio::test]
async fn a_list_is_saved_as_a_view_with_an_address_of_its_own() {
    let site = Site::start();
    let monitors = |beta: &str| {
        [("alpha", "alpha"), ("beta", beta), ("gamma", "gamma")]
            .map(|(key, name)| site.monitor(key, name))
            .concat()
    };
    let server = Server::start(&monitors("beta"));
    for setup in flow_setups() {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.wait_for_text("#rows", "gamma").await;
        browser.goto(&server.url("/?q=bet&sort=name")).await;
        browser.wait_for_text("#rows", "beta").await;
        save_as(&browser, "<b> team").await;
        browser.wait_for_text("h1", "<b> team").await;
        assert!(browser.path().await.starts_with("/views/"), "{}", browser.path().await);
        assert_eq!(browser.text(".views [aria-current=page]").await, "<b> team");
        browser.wait_until("return document.title.includes('<b> team')").await;
        browser.wait_for_text("#rows", "beta").await;
        assert!(!browser.text("#rows").await.contains("alpha"));
        let id = browser.path().await.trim_start_matches("/views/").to_owned();
        // The name leads there, too.
        browser.goto(&server.url("/views/%3Cb%3E%20team")).await;
        browser.wait_for_text("h1", "<b> team").await;
        if !setup.without_scripts {
            browser.wait_for_text("#live-state", "Live").await;
            server.write_monitors(&monitors("beta two"));
            browser.wait_for_text("#rows", "beta two").await;
            server.write_monitors(&monitors("beta"));
        }
        // The same name again asks first.
        browser.goto(&server.url("/?q=gam")).await;
        browser.wait_for_text("#rows", "gamma").await;
        save_as(&browser, "<b> team").await;
        browser.wait_for_text("h1", "Replace the view <b> team?").await;
        browser.click("main button.primary").await;
        browser.wait_for_text("#rows", "gamma").await;
        assert_eq!(browser.path().await, format!("/views/{id}"));
        browser.click(".views a[href^='/account/views/']").await;
        browser.wait_for_text("h1", "Edit view").await;
        browser.fill("[name=query]", "colour=red").await;
        browser.click("button.primary").await;
        browser.wait_for_text(".wrong .error", "`colour=red`").await;
        browser.fill("[name=query]", "q=alp").await;
        browser.fill("[name=name]", "first").await;
        browser.click("button.primary").await;
        browser.wait_for_text("tbody", "first").await;
        browser.goto(&server.url(&format!("/views/{id}"))).await;
        browser.wait_for_text("#rows", "alpha").await;
        browser.goto(&server.url(&format!("/account/views/{id}/remove"))).await;
        browser.click(".danger").await;
        browser.wait_for_text(".notice", "There are none yet").await;
        browser.goto(&server.url(&format!("/views/{id}"))).await;
        browser.wait_for_text("h1", "Not found").await;
        browser.close().await;
    }
}
