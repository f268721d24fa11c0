//! The performance alerts of a monitor: made, changed and removed in the browser.

use serde_json::json;

use crate::console::browser::{Browser, flow_setups, usual_kind};
use crate::console::server::{Server, Site};

async fn save(browser: &Browser) {
    browser.click("button.primary").await;
}

#[tokio::test]
async fn a_performance_alert_is_made_changed_and_removed_from_the_page_of_its_monitor() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "<shop>"));
    for setup in flow_setups() {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.wait_for_text("#rows", "<shop>").await;
        browser.click("#rows tbody a").await;
        browser.wait_for_text("h1", "<shop>").await;
        let monitor = browser.path().await;
        browser.click(".heading a[href$='/performance-alerts']").await;
        browser.wait_for_text("h1", "Performance alerts").await;
        browser.wait_for_text(".notice", "There are none yet").await;
        let above = "return [...document.querySelectorAll('.breadcrumbs a')].map((one) => one.pathname)";
        assert_eq!(browser.eval(above).await, json!(["/", monitor]));
        browser.click(".heading .button").await;
        browser.wait_for_text("h1", "New performance alert").await;
        browser.click(&format!(".breadcrumbs a[href='{monitor}/performance-alerts']")).await;
        browser.wait_for_text("h1", "Performance alerts").await;
        browser.click(".heading .button").await;
        browser.wait_for_text("h1", "New performance alert").await;
        save(&browser).await;
        browser.wait_for_text(".wrong .error", "`type`").await;
        if !setup.without_scripts {
            // The days are those of the mean that a dynamic one compares with.
            let is_hidden = "return document.getElementById('f-days').closest('.input').hidden";
            browser.choose("[name=type]", "static").await;
            browser.wait_until(is_hidden).await;
            browser.choose("[name=type]", "dynamic").await;
            assert_eq!(browser.eval(is_hidden).await, false);
        }
        browser.choose("[name=type]", "dynamic").await;
        browser.fill("[name=threshold]", "150").await;
        browser.fill("[name=days]", "3").await;
        save(&browser).await;
        browser.wait_for_text("tbody", "150").await;
        assert_eq!(browser.path().await, format!("{monitor}/performance-alerts"));
        // On a telephone, where no head stands above them, cells say what they are.
        let name = "return document.querySelector('tbody td:nth-child(2)').dataset.h";
        assert_eq!(browser.eval(name).await, "Threshold");
        browser.click("tbody a").await;
        browser.wait_for_text("h1", "Edit performance alert").await;
        browser.fill("[name=threshold]", "2.5").await;
        save(&browser).await;
        browser.wait_for_text("tbody", "2.5").await;
        browser.click("tbody a").await;
        browser.click(".submit a[href$='/remove']").await;
        browser.wait_for_text("h1", "Remove this performance alert?").await;
        browser.click(".danger").await;
        browser.wait_for_text(".notice", "There are none yet").await;
        assert_eq!(browser.path().await, format!("{monitor}/performance-alerts"));
        assert_eq!(browser.complaints().await, [] as [String; 0]);
        browser.close().await;
    }
}
