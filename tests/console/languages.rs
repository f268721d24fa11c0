//! Pages in the language and the time zone of who reads them.

use serde_json::{Value, json};

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
    // What is chosen has a name, and is sent as the API calls it.
    let choices = "return [...document.querySelectorAll('#f-keyword_match_type option')]
        .map((one) => [one.value, one.text])";
    let expected = json!([["Plain Text", "Reiner Text"], ["Regular Expression", "Regulärer Ausdruck"]]);
    assert_eq!(browser.eval(choices).await, expected);
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

#[tokio::test]
async fn dates_are_typed_and_shown_in_the_zone_that_the_form_names() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    assert_eq!(server.request("PATCH", "/account", &json!({"time_zone": "Europe/Paris"})).0, 200);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.goto(&server.url("/preferences")).await;
    browser.choose("#zone", "America/New_York").await;
    browser.click(".submit button").await;
    browser.wait_for_text("footer", "times in America/New_York").await;
    browser.goto(&server.url("/account/blackouts/new")).await;
    assert_eq!(browser.text("label[for=f-from_date]").await, "From date, in America/New_York");
    assert_eq!(browser.text("label[for=f-start_time]").await, "Start time, in Europe/Paris");
    browser.choose("[name=assoc_id]", "shop").await;
    browser.choose("[name=type]", "Monitor").await;
    browser.wait_until("return document.querySelector('[name=choices_of]').value === 'Monitor'").await;
    // The clocks of New York skip this hour; those of Paris go forward two weeks later.
    browser.fill("[name=from_date]", "2027-03-14 02:30:00").await;
    browser.fill("[name=thru_date]", "2027-03-27 21:00:00").await;
    browser.click("button.primary").await;
    browser.wait_for_text(".wrong .error", "is skipped by the clocks of America/New_York").await;
    browser.fill("[name=from_date]", "2027-03-27 20:30:00").await;
    browser.click("button.primary").await;
    browser.wait_for_text("tbody", "2027-03-27 20:30:00").await;
    browser.wait_for_text(".hint", "Dates are in America/New_York").await;
    let blackout = async || server.request("GET", "/blackouts", &Value::Null).1["results"][0].clone();
    let stored = blackout().await;
    assert_eq!([&stored["from_date"], &stored["thru_date"]], ["2027-03-28 01:30:00", "2027-03-28 03:00:00"]);
    let id = stored["id"].as_str().map_or_else(|| stored["id"].to_string(), str::to_owned);
    let occurrences = server.request("GET", &format!("/blackouts/{id}/occurrences"), &Value::Null).1;
    assert_eq!(occurrences["results"][0]["from"], "2027-03-28T00:30:00Z", "{occurrences}");
    assert_eq!(occurrences["results"][0]["thru"], "2027-03-28T01:00:00Z", "{occurrences}");
    browser.click("tbody a").await;
    browser.wait_for_text("h1", "Edit blackout").await;
    let typed = "return document.querySelector('[name=thru_date]').value";
    assert_eq!(browser.eval(typed).await, "2027-03-27 21:00:00");
    // Whoever chooses another zone while a form is open has typed times of the one that it named.
    browser.goto(&server.url("/account/blackouts/new")).await;
    browser.eval("document.querySelector('[name=dates_in]').value = 'Asia/Tokyo'").await;
    browser.choose("[name=assoc_id]", "shop").await;
    browser.choose("[name=type]", "Alert").await;
    browser.wait_for_text("label[for=f-from_date]", "From date, in Asia/Tokyo").await;
    browser.fill("[name=from_date]", "2027-06-01 09:00:00").await;
    browser.fill("[name=thru_date]", "2027-06-01 10:00:00").await;
    browser.click("button.primary").await;
    browser.wait_for_text("tbody", "2027-05-31 20:00:00").await;
    browser.close().await;
}
