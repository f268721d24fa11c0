//! What an account has beside its monitors: made, changed and removed in the browser.

use serde_json::json;

use crate::console::browser::{Browser, Setup, flow_setups, usual_kind};
use crate::console::server::{Server, Site};

async fn open(browser: &Browser, server: &Server, path: &str) {
    browser.goto(&server.url(&format!("/account/{path}"))).await;
}

async fn save(browser: &Browser) {
    browser.click("button.primary").await;
}

#[tokio::test]
async fn recipients_groups_and_properties_are_made_changed_and_removed() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    for setup in flow_setups() {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.click(".sections a[href='/account']").await;
        browser.click(".types a[href='/account/recipients']").await;
        browser.wait_for_text(".notice", "There are none yet").await;
        browser.click(".heading .button").await;
        browser.wait_for_text("h1", "New recipient").await;
        browser.fill("[name=name]", "<on call>").await;
        browser.choose("[name=method_id]", "JSON POST").await;
        browser.fill("[name=recipient]", "no address").await;
        browser.fill("[name=password]", "correct horse").await;
        save(&browser).await;
        browser.wait_for_text(".wrong .error", "`recipient`").await;
        browser.fill("[name=recipient]", &format!("http://127.0.0.1:{}/", site.port)).await;
        save(&browser).await;
        browser.wait_for_text("tbody", "<on call>").await;
        browser.wait_for_text("tbody", "JSON POST").await;
        browser.click("tbody a").await;
        browser.wait_for_text("h1", "Edit recipient").await;
        let placeholder = "return document.querySelector('[name=password]').placeholder";
        assert!(browser.eval(placeholder).await.as_str().unwrap().contains("stored"));
        assert!(!browser.client.source().await.unwrap().contains("correct horse"));
        browser.fill("[name=name]", "night shift").await;
        save(&browser).await;
        browser.wait_for_text("tbody", "night shift").await;
        // A group names the recipient and the monitor, by their names.
        open(&browser, &server, "notifier-groups/new").await;
        browser.fill("[name=name]", "nights").await;
        for (list, label) in [("monitors", "shop"), ("recipients", "night shift")] {
            browser.click(&format!("button[value='add {list}']")).await;
            browser.wait_for_text(&format!("[data-path='{list}[0]']"), "1").await;
            browser.choose(&format!("[name='{list}[0].id']"), label).await;
        }
        save(&browser).await;
        browser.wait_for_text("tbody", "nights").await;
        // A custom property with two values, of which one goes again.
        open(&browser, &server, "properties/new").await;
        browser.fill("[name=name]", "team").await;
        for (place, value) in ["red", "blue"].iter().enumerate() {
            browser.click("button[value='add values']").await;
            browser.wait_for_text(&format!("[data-path='values[{place}]']"), "Value").await;
            browser.fill(&format!("[name='values[{place}].value']"), value).await;
        }
        save(&browser).await;
        browser.wait_for_text("tbody td:nth-child(2)", "2").await;
        browser.click("tbody a").await;
        browser.click("button[value='remove values[0]']").await;
        browser.wait_until("return document.querySelectorAll('[data-path]').length === 1").await;
        save(&browser).await;
        browser.wait_for_text("tbody td:nth-child(2)", "1").await;
        for path in ["properties", "notifier-groups", "recipients"] {
            open(&browser, &server, path).await;
            browser.click("tbody a").await;
            browser.click(".submit a[href$='/remove']").await;
            browser.wait_for_text("h1", "Remove the").await;
            browser.click(".danger").await;
            browser.wait_for_text(".notice", "There are none yet").await;
        }
        browser.close().await;
    }
}

#[tokio::test]
async fn after_a_change_of_somebody_else_a_form_says_what_it_would_overwrite() {
    let server = Server::start("[]\n");
    let recipient = json!({"name": "anna", "recipient": "anna@example.com"});
    let (_, created) = server.request("POST", "/recipients", &recipient);
    let path = format!("recipients/{}", created["id"].as_str().unwrap());
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    open(&browser, &server, &path).await;
    let change = json!({"name": "night shift", "stop_threshold": 3});
    assert_eq!(server.request("PATCH", &format!("/{path}"), &change).0, 200);
    browser.fill("[name=name]", "day shift").await;
    save(&browser).await;
    browser.wait_for_text(".notice.error", "Yours differs from it in: Name, Stop threshold.").await;
    assert_eq!(server.request("GET", &format!("/{path}"), &json!({})).1["name"], "night shift");
    assert_eq!(browser.eval("return document.querySelector('[name=name]').value").await, "day shift");
    save(&browser).await;
    browser.wait_for_text("tbody", "day shift").await;
    browser.close().await;
}

/// Returns the certificate of an authority, as PEM.
fn certificate() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, "authority.example");
    params.self_signed(&key).unwrap().pem()
}

#[tokio::test]
async fn blackouts_are_about_monitors_or_recipients_and_a_secret_is_shown_once() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    open(&browser, &server, "recipients/new").await;
    browser.fill("[name=name]", "anna").await;
    browser.fill("[name=recipient]", "anna@example.com").await;
    save(&browser).await;
    browser.wait_for_text("tbody", "anna").await;
    open(&browser, &server, "blackouts/new").await;
    browser.choose("[name=type]", "Notifier").await;
    // What can be chosen follows the type.
    browser.wait_until("return [...document.querySelectorAll('[name=assoc_id] option')].some((one) => one.text === 'anna')").await;
    browser.choose("[name=assoc_id]", "anna").await;
    browser.click("[name=persistent]").await;
    browser.wait_until("return document.getElementById('f-from_date').closest('.input').hidden").await;
    browser.choose("[name=start_day]", "Monday").await;
    browser.fill("[name=start_time]", "22:00").await;
    browser.choose("[name=end_day]", "Tuesday").await;
    browser.fill("[name=end_time]", "06:00").await;
    save(&browser).await;
    browser.wait_for_text("tbody a", "anna").await;
    browser.wait_for_text("tbody", "22:00").await;
    open(&browser, &server, "blackouts/new").await;
    browser.choose("[name=type]", "Monitor").await;
    browser.wait_until("return [...document.querySelectorAll('[name=assoc_id] option')].some((one) => one.text === 'shop')").await;
    browser.choose("[name=assoc_id]", "shop").await;
    browser.fill("[name=from_date]", "2030-01-01 00:00:00").await;
    browser.fill("[name=thru_date]", "2030-01-01 01:00:00").await;
    save(&browser).await;
    browser.wait_for_text("tbody", "shop").await;
    open(&browser, &server, "locations/new").await;
    browser.fill("[name=name]", "lyon").await;
    save(&browser).await;
    browser.wait_for_text("main", "This is shown once").await;
    assert!(browser.text(".facts").await.contains("Enrolment secret"));
    browser.click("main p a").await;
    browser.wait_for_text("tbody", "lyon").await;
    // A certificate has many lines, which an input of one line would lose.
    open(&browser, &server, "certificates/new").await;
    browser.fill("[name=name]", "authority").await;
    browser.choose("[name=kind]", "authority").await;
    browser.fill("textarea[name=pem]", &certificate()).await;
    save(&browser).await;
    browser.wait_for_text("tbody", "CN=authority.example").await;
    open(&browser, &server, "nothing").await;
    browser.wait_for_text("main", "This page does not exist").await;
    open(&browser, &server, "recipients/999").await;
    browser.wait_for_text("main", "It does not exist").await;
    browser.close().await;
}
