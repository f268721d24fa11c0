//! Monitors as code in the browser: what a text would change, and the change.

use serde_json::Value;

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

async fn send(browser: &Browser, text: &str, button: &str) {
    // As pasted: typing would take long.
    let fill = "document.querySelector('#text').value = arguments[0]";
    browser.client.execute(fill, vec![text.into()]).await.unwrap();
    browser.click(&format!("[name=do][value={button}]")).await;
}

#[tokio::test]
async fn a_text_is_looked_at_and_then_applied() {
    let site = Site::start();
    let server = Server::start("[]\n");
    let monitor = |key: &str, name: &str| {
        let url = format!("http://127.0.0.1:{}/", site.port);
        format!(
            "- {{key: {key}, type: website, name: '{name}', billing_plancode: x, url: '{url}', interval: 5}}\n"
        )
    };
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.goto(&server.url("/monitors/new")).await;
    browser.click("main a[href='/apply']").await;
    browser.wait_for_text("h1", "Apply monitors").await;
    // Each fault has its line, and nothing typed is lost.
    send(&browser, "- key: a\n  type: websit\n  name: x\n- {key: a, type: tcp, colour: red}\n", "show").await;
    browser.wait_for_text(".notice.error", "2: ").await;
    let errors = browser.text(".notice.error").await;
    assert!(errors.contains("website") && errors.contains("4: ") && errors.contains("colour"), "{errors}");
    assert!(
        browser
            .eval("return document.querySelector('#text').value")
            .await
            .as_str()
            .unwrap()
            .contains("websit\n")
    );
    send(&browser, "- {key: a, type: tcp, name: x, hostname: {file: /etc/passwd}, port: 1}", "show").await;
    browser.wait_for_text(".notice.error", "1: ").await;

    let both = [monitor("a", "<b>first"), monitor("b", "second")].concat();
    send(&browser, &both, "show").await;
    browser.wait_for_text("#changes + p", "2 created, 0 changed, 0 removed, 0 unchanged").await;
    browser.wait_for_text("main table", "<b>first").await;
    let stored = || server.request("GET", "/monitors", &Value::Null).1["results"].as_array().unwrap().len();
    assert_eq!(stored(), 0, "nothing is saved yet");
    // Something else than what was seen is not applied.
    send(&browser, &monitor("a", "first"), "apply").await;
    browser.wait_for_text(".notice.error", "This is not what you saw").await;
    assert_eq!(stored(), 0);
    browser.wait_for_text("#changes + p", "1 created").await;
    send(&browser, &both, "show").await;
    browser.wait_for_text("#changes + p", "2 created").await;
    browser.click("[name=do][value=apply]").await;
    browser.wait_for_text(".notice", "Done: 2 created").await;
    assert_eq!(stored(), 2);

    browser.goto(&server.url("/apply")).await;
    browser.click("[name=prune]").await;
    send(&browser, &monitor("a", "renamed"), "show").await;
    browser.wait_for_text("#changes + p", "0 created, 1 changed, 1 removed, 0 unchanged").await;
    assert!(browser.text("main table del").await.contains("<b>first"));
    assert!(browser.text("main table ins").await.contains("renamed"));
    browser.click("[name=do][value=apply]").await;
    browser.wait_for_text(".notice", "Done:").await;
    browser.click("main table a").await;
    browser.wait_for_text("h1", "renamed").await;
    assert_eq!(stored(), 1);
    browser.close().await;
}
