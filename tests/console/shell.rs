//! What surrounds every page: navigation, theme, and that pages work without scripts.

use crate::browser_pool::test_pool::browsers;
use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};
use crate::support::side_by_side::each;

#[tokio::test]
async fn a_person_finds_their_way_and_the_browser_has_nothing_to_complain_about() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "shop"));
    each(browsers("console"), async |kind| {
        let browser = Browser::open(kind, Setup::default()).await;
        browser.goto(&server.url("/")).await;
        assert!(browser.path().await.starts_with("/sign-in?next="), "a page needs a session");
        browser.goto(&server.sign_in_link()).await;
        browser.click("main button").await;
        browser.wait_for_text("#rows", "shop").await;
        browser.wait_for_text("#rows .pill", "ok").await;
        browser.wait_for_text("#live-state", "Live").await;
        assert_eq!(browser.text(".sections [aria-current=page]").await, "Monitors");
        browser.click("#rows a").await;
        browser.wait_for_text("h1", "shop").await;
        assert_eq!(browser.text(".breadcrumbs").await, "Monitors");
        browser.wait_for_text("#live-state", "Live").await;
        browser.click("#results tbody a").await;
        browser.wait_for_text(".breadcrumbs", "shop").await;
        browser.click(".breadcrumbs li:nth-child(2) a").await;
        browser.wait_for_text("h1", "shop").await;
        for (link, heading) in [(2, "Locations"), (3, "Account"), (4, "Vigie")] {
            browser.click(&format!(".sections a:nth-child({link})")).await;
            browser.wait_for_text("h1", heading).await;
        }
        browser.close().await;
    })
    .await;
}

#[tokio::test]
async fn the_theme_is_kept_by_the_browser() {
    let server = Server::start("[]\n");
    let browser = Browser::open(usual_kind(), Setup::default()).await;
    let background = "return getComputedStyle(document.body).backgroundColor";
    browser.goto(&server.url("/sign-in")).await;
    let mut seen = Vec::new();
    for theme in ["dark", "light"] {
        browser.click(&format!(".theme button[value={theme}]")).await;
        browser.wait_for_text("h1", "Sign in").await;
        assert_eq!(browser.text(".theme [aria-pressed=true]").await, theme);
        seen.push(browser.eval(background).await);
        assert_eq!(browser.path().await, "/sign-in");
    }
    assert_ne!(seen[0], seen[1]);
    browser.goto(&server.url("/sign-in")).await;
    assert_eq!(browser.text(".theme [aria-pressed=true]").await, "light");
    browser.close().await;
}

#[tokio::test]
async fn every_page_and_form_works_without_scripts() {
    let site = Site::start();
    let server = Server::start(&[site.monitor("a", "red shop"), site.monitor("b", "blue shop")].concat());
    let setup = Setup { without_scripts: true, ..Setup::default() };
    let browser = Browser::signed_in(usual_kind(), setup, &server).await;
    browser.wait_for_text("#rows", "red shop").await;
    browser.type_into("[name=q]", "blue").await;
    browser.click(".filter button").await;
    browser.wait_until("return location.search.includes('q=blue')").await;
    browser.wait_for_text("#rows", "blue shop").await;
    assert!(!browser.text("#rows").await.contains("red shop"));
    browser.click(".theme button[value=dark]").await;
    browser
        .wait_until(
            "return document.documentElement.dataset.theme === 'dark' && document.readyState === 'complete'",
        )
        .await;
    assert!(browser.path().await.contains("q=blue"), "the page is still the same");
    browser.click("#rows a").await;
    browser.wait_for_text("h1", "blue shop").await;
    browser.click(".session button").await;
    browser.wait_for_text("h1", "Sign in").await;
    browser.close().await;
}

#[tokio::test]
async fn the_first_key_skips_to_the_content() {
    let server = Server::start("[]\n");
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.type_into("body", "\u{e004}").await;
    assert_eq!(browser.eval("return document.activeElement.className").await, "skip");
    browser.type_into(".skip", "\u{e007}").await;
    assert_eq!(browser.eval("return document.activeElement.id").await, "main");
    browser.close().await;
}
