//! Pages in the language and the time zone of who reads them.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

/// Chooses German and the time of Berlin, and opens the list of monitors.
async fn choose_german(browser: &Browser, server: &Server) {
    browser.goto(&server.url("/preferences")).await;
    browser.choose("#language", "Deutsch").await;
    browser.choose("#zone", "Europe/Berlin").await;
    browser.click(".submit button").await;
    browser.wait_until("return document.documentElement.lang === 'de'").await;
    browser.goto(&server.url("/")).await;
}

#[tokio::test]
async fn a_person_reads_everything_in_german_and_updates_keep_to_it() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows .pill", "ok").await;
    choose_german(&browser, &server).await;
    browser.wait_for_text("h1", "Monitore geprüft von").await;
    browser.wait_for_text("#rows thead", "Letzter Lauf").await;
    browser.wait_for_text("#tiles", "1alle").await;
    browser.wait_for_text("#live-state", "Live").await;
    browser.eval("window.sameDocument = true").await;
    server.write_monitors(&[site.monitor("shop", "shop"), site.monitor("b", "second")].concat());
    browser.wait_for_text("#tiles", "2alle").await;
    assert_eq!(browser.eval("return window.sameDocument").await, true, "the page was not loaded again");
    browser.wait_for_text("#rows thead", "Letzter Lauf").await;

    browser.click("#rows a").await;
    browser.wait_for_text(".state-now", "Erreichbar").await;
    assert!(browser.text("#facts").await.contains("Zeitlimit"));
    assert!(browser.text("main").await.contains("Verfügbarkeit und Ausfälle"));
    assert!(browser.text("footer").await.contains("Zeiten in Europe/Berlin"));
    browser.click("#results tbody a").await;
    browser.wait_for_text(".verdict", "Die Prüfung war in").await;
    let time = browser.text("h1 small").await;
    assert!(time.contains(" CET von ") || time.contains(" CEST von "), "{time}");

    browser.goto(&server.url("/monitors/new?type=website")).await;
    browser.wait_for_text("legend", "Name").await;
    assert_eq!(browser.text(".submit .primary").await, "Speichern");
    browser.click(".submit .primary").await;
    browser.wait_for_text(".notice.error", "Korrigieren Sie zuerst").await;
    assert_eq!(browser.text("label[for=f-name]").await, "Name");
    assert_eq!(browser.text("label[for=f-timeout]").await, "Zeitlimit");
    browser.close().await;
}

#[tokio::test]
async fn the_language_of_the_browser_counts_until_a_person_chooses() {
    let server = Server::start("[]\n");
    let setup = Setup { language: Some("fr-CH,fr,en"), ..Setup::default() };
    let browser = Browser::open(usual_kind(), setup).await;
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("h1", "Se connecter").await;
    choose_german(&browser, &server).await;
    browser.wait_for_text("h1", "Anmelden").await;
    browser.close().await;
}
