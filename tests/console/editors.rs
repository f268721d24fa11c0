//! Editors of steps and assertions, and checks of what is not saved yet.

use serde_json::json;

use crate::console::browser::{Browser, Setup, flow_setups, usual_kind};
use crate::console::server::{Server, Site};

/// Returns the inputs of the field `name` of the API step `step`.
fn step_input(step: usize, name: &str) -> String {
    format!("[name='api_steps[{step}].{name}']")
}

async fn press(browser: &Browser, action: &str) {
    browser.click(&format!("button[value='{action}']")).await;
}

/// Opens the form of a new API check with two steps of `site`, of which the second expects the status `expected`.
async fn write_two_steps(browser: &Browser, server: &Server, site: &Site, expected: &str) {
    browser.goto(&server.url("/monitors/new?type=website-api")).await;
    browser.fill("[name=name]", "shop").await;
    for (step, name) in ["login", "cart"].iter().enumerate() {
        if step > 0 {
            press(browser, "add api_steps").await;
        }
        browser.wait_for_text(&format!("[data-path='api_steps[{step}]']"), "API step").await;
        browser.fill(&step_input(step, "step_name"), name).await;
        browser.fill(&step_input(step, "url"), &format!("http://127.0.0.1:{}/{name}", site.port)).await;
    }
    press(browser, "add api_steps[1].assertions").await;
    browser.wait_for_text("[data-path='api_steps[1].assertions[0]']", "Assertion 1").await;
    browser.choose(&step_input(1, "assertions[0].source"), "Status Code").await;
    browser.choose(&step_input(1, "assertions[0].comparison"), "equals").await;
    browser.fill(&step_input(1, "assertions[0].value"), expected).await;
}

/// Returns the names of the steps in the form, in order.
async fn step_names(browser: &Browser) -> String {
    let script =
        "return [...document.querySelectorAll('[name$=\"].step_name\"]')].map((input) => input.value).join()";
    browser.eval(script).await.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn steps_are_written_ordered_tried_and_saved() {
    let site = Site::start();
    let server = Server::start("[]\n");
    for setup in flow_setups() {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        write_two_steps(&browser, &server, &site, "201").await;
        // Nothing typed is lost by a change of a list.
        assert_eq!(step_names(&browser).await, "login,cart");
        press(&browser, "up api_steps[1]").await;
        browser.wait_for_text("[data-path='api_steps[0]'] strong", "API step 1: cart").await;
        assert_eq!(step_names(&browser).await, "cart,login");
        press(&browser, "copy api_steps[0]").await;
        browser.wait_for_text("[data-path='api_steps[2]'] strong", "API step 3: login").await;
        press(&browser, "remove api_steps[1]").await;
        browser.wait_for_text("[data-path='api_steps[1]'] strong", "API step 2: login").await;
        assert_eq!(step_names(&browser).await, "cart,login");
        // The first step alone fails, and the page says why; nothing is saved.
        press(&browser, "try api_steps[0]").await;
        if setup.without_scripts {
            let link = "return document.querySelector('#test a')?.href ?? ''";
            let link = browser.eval(link).await.as_str().unwrap().to_owned();
            // The form beside it holds what is waited for as well.
            let wait = async |part: &str| {
                while !browser.text("#test").await.contains(part) {
                    browser.goto(&link).await;
                }
            };
            if !link.is_empty() {
                tokio::time::timeout(std::time::Duration::from_secs(30), wait("201")).await.unwrap();
            }
        }
        browser.wait_for_text("#test", "201").await;
        let steps = "return document.querySelector('#test').textContent.includes('/login')";
        assert_eq!(browser.eval(steps).await, false, "the later step ran too");
        let headings =
            "return [document.querySelectorAll('h1').length, document.querySelectorAll('#test h2').length]";
        assert_eq!(
            browser.eval(headings).await,
            json!([1, 1]),
            "the result stands below the heading of the page"
        );
        browser.goto(&server.url("/")).await;
        browser.wait_for_text("#rows", "There are no monitors yet").await;
        write_two_steps(&browser, &server, &site, "200").await;
        browser.click("button.primary").await;
        browser.wait_for_text("h1", "shop").await;
        browser.click("#buttons a[href$='/remove']").await;
        browser.click(".danger").await;
        browser.wait_for_text("#rows", "There are no monitors yet").await;
        browser.close().await;
    }
}

#[tokio::test]
async fn a_secret_that_was_typed_is_kept_sealed_until_it_is_saved() {
    let site = Site::start();
    let server = Server::start("[]\n");
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    write_two_steps(&browser, &server, &site, "200").await;
    browser.eval("document.querySelectorAll('details').forEach((fold) => fold.open = true)").await;
    browser.fill(&step_input(0, "head.http_basic_auth_username"), "anna").await;
    browser.fill(&step_input(0, "head.http_basic_auth_password"), "correct horse").await;
    press(&browser, "down api_steps[0]").await;
    browser.wait_for_text("[data-path='api_steps[1]'] strong", "API step 2: login").await;
    let placeholder = |step| {
        format!(
            "return document.querySelector(\"{}\").placeholder",
            step_input(step, "head.http_basic_auth_password")
        )
    };
    assert!(browser.eval(&placeholder(1)).await.as_str().unwrap().contains("typed"));
    assert!(!browser.client.source().await.unwrap().contains("correct horse"));
    browser.click("button.primary").await;
    browser.wait_for_text("h1", "shop").await;
    let edit = format!("{}/edit", browser.client.current_url().await.unwrap());
    browser.goto(&edit).await;
    assert!(browser.eval(&placeholder(1)).await.as_str().unwrap().contains("stored"));
    assert_eq!(browser.eval(&placeholder(0)).await, "");
    // The stored secret goes with its step.
    press(&browser, "up api_steps[1]").await;
    browser.wait_for_text("[data-path='api_steps[0]'] strong", "API step 1: login").await;
    assert!(browser.eval(&placeholder(0)).await.as_str().unwrap().contains("stored"));
    browser.click("button.primary").await;
    browser.wait_for_text("h1", "shop").await;
    browser.goto(&edit).await;
    assert_eq!(step_names(&browser).await, "login,cart");
    assert!(browser.eval(&placeholder(0)).await.as_str().unwrap().contains("stored"));
    browser.close().await;
}

#[tokio::test]
async fn changes_are_checked_before_they_are_saved_and_shown_for_other_tools() {
    let site = Site::start();
    let server = Server::start("[]\n");
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.goto(&server.url("/monitors/new?type=website")).await;
    browser.fill("[name=name]", "shop").await;
    browser.fill("[name=url]", &format!("http://127.0.0.1:{}/", site.port)).await;
    browser.click("button.primary").await;
    browser.wait_for_text("#results .pill", "ok").await;
    browser.click("#buttons a[href$='/edit']").await;
    browser.wait_for_text("h1", "Edit shop").await;
    // Inputs without effect are hidden until they have one.
    let is_hidden = "return document.getElementById('f-post_body').closest('.input').hidden";
    assert_eq!(browser.eval(is_hidden).await, true);
    browser.eval("document.querySelectorAll('details').forEach((fold) => fold.open = true)").await;
    browser.choose("[name=http_method]", "POST").await;
    browser.wait_until(&format!("return !({})", &is_hidden["return ".len()..])).await;
    browser.choose("[name=http_method]", "GET").await;
    browser.fill("[name=keyword_string]", "welcome").await;
    press(&browser, "check").await;
    browser.wait_for_text("#test .pill", "error").await;
    assert!(browser.text("#test .verdict").await.contains("welcome"), "{}", browser.text("#test").await);
    for (form, part) in [
        ("yaml", "keyword_string: welcome"),
        ("curl", "-X PATCH --json @- http://127.0.0.1:"),
        ("vigie", "vigie apply monitors"),
    ] {
        press(&browser, &format!("show {form}")).await;
        browser.wait_for_text(".shown-as", part).await;
    }
    // What is stored is as it was.
    browser.click(".submit a").await;
    browser.wait_for_text("h1", "shop").await;
    browser.wait_for_text("#results .pill", "ok").await;
    browser.close().await;
}
