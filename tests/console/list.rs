//! The list of monitors as people use it.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

/// Starts a server with the monitors `alpha`, `beta` and `gamma`.
fn start(site: &Site) -> Server {
    Server::start(&["alpha", "beta", "gamma"].map(|name| site.monitor(name, name)).concat())
}

#[tokio::test]
async fn a_list_is_sorted_and_has_the_columns_that_a_person_chooses() {
    let site = Site::start();
    let server = start(&site);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "gamma").await;
    browser.click(".filter summary").await;
    browser.click(".filter select[name=sort] option[value=name]").await;
    browser.wait_until("return location.search === '?sort=name'").await;
    browser.click(".filter input[value=target]").await;
    browser.wait_for_text("#rows thead", "Target").await;
    browser.click(".filter input[value=phases]").await;
    browser.wait_until("return !document.querySelector('#rows thead').textContent.includes('Phases')").await;
    browser.type_into(".filter input[name=q]", "bet").await;
    browser.wait_until("return document.querySelectorAll('#rows tbody tr').length === 1").await;
    // The address is the view: it shows the same again.
    browser.client.refresh().await.unwrap();
    let rows = "[...document.querySelectorAll('#rows tbody a')].map((link) => link.textContent).join()";
    assert_eq!(browser.eval(&format!("return {rows}")).await, "beta");
    assert!(browser.text("#rows thead").await.contains("Target"));
    assert_eq!(browser.complaints().await, [] as [String; 0]);
    browser.close().await;
}

#[tokio::test]
async fn chosen_monitors_stay_chosen_and_are_paused_after_a_preview() {
    let site = Site::start();
    let server = start(&site);
    for without_scripts in [false, true] {
        let setup = Setup { without_scripts, ..Setup::default() };
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.wait_for_text("#rows", "gamma").await;
        for name in ["alpha", "gamma"] {
            browser.click(&format!("#rows input[aria-label^='Choose {name}']")).await;
        }
        if !without_scripts {
            // An update of the row does not sweep the choice away.
            let renamed = [("alpha", "alpha two"), ("beta", "beta"), ("gamma", "gamma")];
            server.write_monitors(&renamed.map(|(key, name)| site.monitor(key, name)).concat());
            browser.wait_for_text("#rows", "alpha two").await;
            let chosen = "return document.querySelectorAll('.choice input:checked').length";
            assert_eq!(browser.eval(chosen).await, 2);
        }
        let action = if without_scripts { "resume" } else { "pause-3600" };
        browser.click(&format!("#bulk option[value={action}]")).await;
        browser.click("#bulk button").await;
        browser.wait_for_text("h1", "2 of 2 monitors").await;
        browser.click("main form button").await;
        browser.wait_for_text("#rows", "beta").await;
        let paused = if without_scripts { 0 } else { 2 };
        browser
            .wait_until(&format!("return document.querySelectorAll('#rows .s-paused').length === {paused}"))
            .await;
        browser.close().await;
    }
}

#[tokio::test]
async fn what_a_file_defines_is_not_changed_and_all_of_a_list_can_be_chosen() {
    let site = Site::start();
    let server = start(&site);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "gamma").await;
    browser.click("#bulk option[value=all]").await;
    browser.click("#bulk option[value=disable]").await;
    browser.click("#bulk button").await;
    browser.wait_for_text("h1", "Disable: 0 of 3 monitors").await;
    let text = browser.text("main").await;
    assert!(text.contains("not possible") && text.contains("managed by a file"), "{text}");
    browser.click("main .submit a").await;
    browser.wait_for_text("#rows", "gamma").await;
    browser.click("#bulk button").await;
    browser.wait_for_text("h1", "Not done").await;
    assert!(browser.text("main").await.contains("Choose at least one monitor first"));
    browser.close().await;
}
