//! Pages over a slow network.

use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::json;
use vigie::browser::BrowserKind;

use crate::console::browser::{Browser, Setup};
use crate::console::server::{Server, Site};
use crate::support::long_tests::full;

/// Slows the network of Chromium: how long each request takes at least, in milliseconds, and bytes per second.
#[derive(Debug)]
struct SlowNetwork(u32, u32);

/// Makes it as fast as it is again.
#[derive(Debug)]
struct UsualNetwork;

/// Returns where the driver is told about the network.
fn conditions_url(base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
    base.join(&format!("session/{}/chromium/network_conditions", session.unwrap_or_default()))
}

impl WebDriverCompatibleCommand for SlowNetwork {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        conditions_url(base, session)
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        let Self(latency, throughput) = self;
        let conditions = json!({"offline": false, "latency": latency, "download_throughput": throughput, "upload_throughput": throughput});
        (Method::POST, Some(json!({"network_conditions": conditions}).to_string()))
    }
}

impl WebDriverCompatibleCommand for UsualNetwork {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        conditions_url(base, session)
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        (Method::DELETE, None)
    }
}

#[tokio::test]
async fn a_slow_network_delays_a_page_and_takes_nothing_from_it() {
    if !full() {
        return;
    }
    let site = Site::start();
    let server = Server::start(&site.monitor("a", "first"));
    let browser = Browser::signed_in(BrowserKind::Chrome, Setup::default(), &server).await;
    // A telephone far from a mast. Each script that another one imports is another request.
    browser.client.issue_cmd(SlowNetwork(400, 40_000)).await.unwrap();
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("#live-state", "Live").await;
    browser.type_into("[name=q]", "fi").await;
    browser.wait_until("return location.search === '?q=fi'").await;
    server.write_monitors(&[site.monitor("a", "first"), site.monitor("b", "fifth")].concat());
    browser.wait_for_text("#rows", "fifth").await;
    let typed = "return document.activeElement.name + '=' + document.activeElement.value";
    assert_eq!(browser.eval(typed).await, "q=fi");
    // A person who presses twice creates one monitor.
    browser.goto(&server.url("/monitors/new?type=website")).await;
    browser.fill("[name=name]", "once").await;
    browser.fill("[name=url]", &format!("http://127.0.0.1:{}/", site.port)).await;
    browser.eval("document.querySelectorAll('.submit button')[0].click(); document.querySelectorAll('.submit button')[0].click()").await;
    browser.wait_for_text("h1", "once").await;
    browser.goto(&server.url("/?q=once")).await;
    browser.wait_for_text("#rows", "once").await;
    assert_eq!(browser.eval("return document.querySelectorAll('#rows tbody tr').length").await, 1);
    browser.client.issue_cmd(UsualNetwork).await.unwrap();
    browser.close().await;
}
