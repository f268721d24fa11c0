//! The walk of somebody who has never seen Vigie: an API check from nothing to muted, click by click.

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};

/// Most clicks of the whole walk. A choice in a list counts twice: it is opened, then an option clicked.
const MAX_CLICKS: usize = 40;

struct Walker {
    browser: Browser,
    clicks: usize,
}

impl Walker {
    async fn click(&mut self, css: &str) {
        self.clicks += 1;
        self.browser.click(css).await;
    }

    async fn choose(&mut self, css: &str, label: &str) {
        self.clicks += 2;
        self.browser.choose(css, label).await;
    }

    /// Clicks into an input, and types.
    async fn fill(&mut self, css: &str, text: &str) {
        self.clicks += 1;
        self.browser.fill(css, text).await;
    }

    async fn sees(&self, css: &str, part: &str) {
        self.browser.wait_for_text(css, part).await;
    }
}

#[tokio::test]
async fn an_api_check_is_made_seen_failing_fixed_and_muted_within_forty_clicks() {
    let site = Site::start();
    let server = Server::start("[]\n");
    let browser = Browser::open(usual_kind(), Setup::default()).await;
    // Signs in with the link that `vigie open` prints.
    browser.goto(&server.sign_in_link()).await;
    let mut walker = Walker { browser, clicks: 0 };
    walker.click("main button").await;
    walker.sees("h1", "Monitors").await;
    walker.click(".heading a[href='/monitors/new']").await;
    walker.click(".types a[href$='=website-api']").await;
    walker.fill("[name=name]", "Shop").await;
    walker.fill("[name='api_steps[0].step_name']", "Log in").await;
    walker.fill("[name='api_steps[0].url']", &format!("http://127.0.0.1:{}/login", site.port)).await;
    walker.click("button[value='add api_steps']").await;
    walker.sees("[data-path='api_steps[1]']", "API step 2").await;
    walker.fill("[name='api_steps[1].step_name']", "Open the cart").await;
    walker.fill("[name='api_steps[1].url']", &format!("http://127.0.0.1:{}/cart", site.port)).await;
    walker.click("button[value='add api_steps[1].assertions']").await;
    walker.sees("[data-path='api_steps[1].assertions[0]']", "Assertion 1").await;
    walker.choose("[name='api_steps[1].assertions[0].source']", "Status Code").await;
    walker.choose("[name='api_steps[1].assertions[0].comparison']", "equals").await;
    walker.fill("[name='api_steps[1].assertions[0].value']", "201").await;
    walker.click("button.primary").await;
    // It fails, and its result says why.
    walker.sees("#results .pill", "error").await;
    walker.click("#results tbody a").await;
    walker.sees(".verdict", "200").await;
    let verdict = walker.browser.text(".verdict").await;
    assert!(verdict.contains("Open the cart") && verdict.contains("201"), "{verdict}");
    walker.click(".breadcrumbs li:last-child a").await;
    walker.click("#buttons a[href$='/edit']").await;
    walker.fill("[name='api_steps[1].assertions[0].value']", "200").await;
    walker.click("button.primary").await;
    walker.sees("#results .pill", "ok").await;
    walker.choose("#buttons select[name=seconds]", "1 hour").await;
    walker.click("#buttons form[action$='/pause'] button").await;
    walker.sees("#facts", "Paused").await;
    println!("the walk took {} clicks", walker.clicks);
    assert!(walker.clicks <= MAX_CLICKS, "{} clicks", walker.clicks);
    walker.browser.close().await;
}
