//! Creating, changing and removing monitors in the browser.

use crate::console::browser::{Browser, Setup, flow_setups, usual_kind};
use crate::console::server::{Server, Site};

/// Replaces what stands in the input `name`.
async fn fill(browser: &Browser, name: &str, text: &str) {
    let css = format!("[name={name}]");
    let field = browser.client.find(fantoccini::Locator::Css(&css)).await.unwrap();
    field.clear().await.unwrap();
    field.send_keys(text).await.unwrap();
}

#[tokio::test]
async fn a_monitor_is_created_corrected_changed_and_removed() {
    let site = Site::start();
    let server = Server::start("[]\n");
    for setup in flow_setups() {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.click(".heading .button").await;
        browser.click(".types a[href$='=website']").await;
        browser.wait_for_text("h1", "One HTTP request").await;
        fill(&browser, "name", "<shop>").await;
        fill(&browser, "url", "no address").await;
        browser.click(".submit button").await;
        // What is wrong stands at its input, and nothing typed is lost.
        browser.wait_for_text(".wrong", "URL").await;
        assert!(browser.text(".wrong .error").await.contains("`url`"), "{}", browser.text(".wrong").await);
        let name = browser.client.find(fantoccini::Locator::Css("[name=name]")).await.unwrap();
        assert_eq!(name.prop("value").await.unwrap().unwrap(), "<shop>");
        fill(&browser, "url", &format!("http://127.0.0.1:{}/", site.port)).await;
        browser.click(".submit button").await;
        browser.wait_for_text("h1", "<shop>").await;
        browser.goto(&format!("{}/edit", browser.client.current_url().await.unwrap())).await;
        browser.wait_for_text("h1", "Edit <shop>").await;
        fill(&browser, "name", "renamed").await;
        browser.click("[name=enabled]").await;
        browser.click(".submit button").await;
        browser.wait_for_text("h1", "renamed").await;
        browser.wait_for_text("#facts", "Enabledno").await;
        browser.click("#buttons a[href$='/remove']").await;
        browser.wait_for_text("h1", "Remove renamed?").await;
        browser.click(".danger").await;
        browser.wait_for_text("#rows", "There are no monitors yet").await;
        browser.close().await;
    }
}

#[tokio::test]
async fn a_change_of_somebody_else_is_not_overwritten() {
    let site = Site::start();
    let server = Server::start("[]\n");
    let monitor = format!(
        r#"{{"key": "a", "type": "website", "name": "first", "billing_plancode": "x", "url": "http://127.0.0.1:{}/", "interval": 5}}"#,
        site.port
    );
    let applied = server.folder.path().join("applied");
    std::fs::create_dir(&applied).unwrap();
    let apply = |monitor: &str| {
        std::fs::write(applied.join("all.yaml"), format!("[{monitor}]")).unwrap();
        server.run(&["apply", applied.to_str().unwrap()]);
    };
    apply(&monitor);
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "first").await;
    browser.click("#rows a").await;
    browser.click("#buttons a[href$='/edit']").await;
    browser.wait_for_text("h1", "Edit first").await;
    apply(&monitor.replace("first", "second"));
    fill(&browser, "name", "third").await;
    browser.click(".submit button").await;
    browser.wait_for_text(".notice.error", "Somebody else changed this").await;
    let notice = browser.text(".notice.error").await;
    assert!(notice.contains("in: Name. Save again"), "{notice}");
    let name = browser.client.find(fantoccini::Locator::Css("[name=name]")).await.unwrap();
    assert_eq!(name.prop("value").await.unwrap().unwrap(), "third", "what was typed is still there");
    browser.click(".submit button").await;
    browser.wait_for_text("h1", "third").await;
    browser.close().await;
}

#[tokio::test]
async fn a_monitor_of_a_file_has_no_form_and_secrets_are_never_shown() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "shop").await;
    browser.click("#rows a").await;
    browser.wait_for_text("h1", "shop").await;
    assert!(!browser.text("#buttons").await.contains("Edit"));
    browser.goto(&format!("{}/edit", browser.client.current_url().await.unwrap())).await;
    browser.wait_for_text("main", "managed by a file").await;
    browser.goto(&server.url("/monitors/new?type=website")).await;
    fill(&browser, "name", "guarded").await;
    fill(&browser, "url", &format!("http://127.0.0.1:{}/", site.port)).await;
    browser.eval("document.querySelectorAll('details').forEach((fold) => fold.open = true)").await;
    fill(&browser, "realm_password", "correct horse").await;
    fill(&browser, "url", "no address").await;
    browser.click(".submit button").await;
    // The secret is not sent back as it is, and the form says that it is kept.
    let placeholder = "return document.querySelector('[name=realm_password]').placeholder";
    browser.wait_until(&format!("{placeholder}.includes('typed')")).await;
    assert!(!browser.client.source().await.unwrap().contains("correct horse"));
    fill(&browser, "url", &format!("http://127.0.0.1:{}/", site.port)).await;
    browser.click(".submit button").await;
    browser.wait_for_text("h1", "guarded").await;
    browser.click("#buttons a[href$='/edit']").await;
    browser.wait_for_text("h1", "Edit guarded").await;
    assert!(!browser.client.source().await.unwrap().contains("correct horse"));
    assert!(browser.eval(placeholder).await.as_str().unwrap().contains("stored"));
    browser.close().await;
}

/// Signs out in another window, and in again where `again` says so.
async fn sign_out_elsewhere(browser: &Browser, server: &Server, again: bool) {
    let form = browser.client.window().await.unwrap();
    let other = browser.client.new_window(true).await.unwrap();
    browser.client.switch_to_window(other.handle).await.unwrap();
    browser.goto(&server.url("/account")).await;
    browser.click(".session button").await;
    browser.wait_for_text("h1", "Sign in").await;
    if again {
        browser.sign_in(server).await;
    }
    browser.client.close_window().await.unwrap();
    browser.client.switch_to_window(form).await.unwrap();
}

#[tokio::test]
async fn what_was_typed_outlives_signing_out() {
    let site = Site::start();
    let server = Server::start("[]\n");
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    let value_of =
        async |css: &str| browser.eval(&format!("return document.querySelector('{css}').value")).await;
    browser.goto(&server.url("/monitors/new?type=website")).await;
    fill(&browser, "name", "<b> half done").await;
    fill(&browser, "url", &format!("http://127.0.0.1:{}/?a=ü&b", site.port)).await;
    browser.eval("document.querySelectorAll('details').forEach((fold) => fold.open = true)").await;
    fill(&browser, "realm_password", "typed secret").await;
    sign_out_elsewhere(&browser, &server, false).await;
    browser.click(".submit button").await;
    browser.wait_for_text(".notice", "what you typed is kept").await;
    assert!(!browser.client.source().await.unwrap().contains("typed secret"));
    // A wrong password loses nothing.
    browser.fill("[name=login]", "nobody").await;
    browser.fill("[name=password]", "wrong").await;
    browser.click(".sign-in button").await;
    browser.wait_for_text(".notice", "wrong").await;
    let form = browser.client.window().await.unwrap();
    let other = browser.client.new_window(true).await.unwrap();
    browser.client.switch_to_window(other.handle).await.unwrap();
    browser.sign_in(&server).await;
    browser.client.close_window().await.unwrap();
    browser.client.switch_to_window(form).await.unwrap();
    browser.click(".sign-in button[formnovalidate]").await;
    browser.wait_for_text("h1", "Signed in").await;
    browser.click("main button").await;
    browser.wait_for_text(".notice.error", "Nothing is saved yet").await;
    assert_eq!(value_of("[name=name]").await, "<b> half done");
    browser.click(".submit button").await;
    browser.wait_for_text("h1", "<b> half done").await;
    assert!(browser.text("#facts").await.contains("a=%C3%BC&b"), "{}", browser.text("#facts").await);

    // Of an earlier session, it is shown again, and not saved.
    browser.goto(&server.url("/account/properties/new")).await;
    fill(&browser, "name", "team").await;
    sign_out_elsewhere(&browser, &server, true).await;
    browser.click(".submit button").await;
    browser.wait_for_text(".notice.error", "Nothing is saved yet").await;
    assert_eq!(value_of("[name=name]").await, "team");
    let (_, properties) = server.request("GET", "/properties", &serde_json::Value::Null);
    assert_eq!(properties["results"], serde_json::json!([]));
    browser.close().await;
}

#[tokio::test]
async fn warnings_are_shown_before_and_after_saving() {
    let server = Server::start("[]\n");
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.goto(&server.url("/monitors/new?type=browserscript")).await;
    fill(&browser, "name", "<b>shop").await;
    browser.fill("[name=script]", "<script><step><clik css='a'/></step></script>").await;
    browser.click("[name=do][value='show yaml']").await;
    browser.wait_for_text(".warnings", "checks end with status 96").await;
    browser.click("button.primary").await;
    browser.wait_for_page("<b>shop was saved").await;
    // Loading the page again saves nothing.
    browser.client.refresh().await.unwrap();
    assert!(browser.path().await.ends_with("/saved"));
    assert!(
        browser.text(".warnings").await.contains("did you mean `click`"),
        "{}",
        browser.text(".warnings").await
    );
    browser.click("main p a").await;
    browser.wait_for_text("h1", "<b>shop").await;
    browser.close().await;
}
