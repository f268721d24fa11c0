//! The page of a monitor: its state in a sentence, its charts, the same numbers without scripts, and going back to an older
//! version.

use std::time::{Duration, Instant};

use crate::console::accessible::findings;
use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};
use crate::support::long_tests::full;

/// Whether both charts are drawn, each with a pixel of a colour of its legend.
const ARE_DRAWN: &str = "
    const figures = [...document.querySelectorAll('.figures figure')];
    const isDrawn = (figure) => {
        const canvas = figure.querySelector('.chart canvas');
        if (!canvas) return false;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) seen.add(`${data[at]}, ${data[at + 1]}, ${data[at + 2]}`);
        return [...figure.querySelectorAll('[data-key]')].some((key) => {
            const style = getComputedStyle(key);
            const colour = key.localName === 'path' ? style.stroke : style.backgroundColor;
            return seen.has(colour.match(/\\d+, \\d+, \\d+/)?.[0]);
        });
    };
    return figures.length === 2 && figures.every(isDrawn);
";

/// Applies the monitor of the site with the name `name`.
fn apply(server: &Server, site: &Site, name: &str) {
    let folder = server.folder.path().join("applied");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("all.yaml"), site.frequent_monitor("shop", name)).unwrap();
    server.run(&["apply", folder.to_str().unwrap()]);
}

/// Waits until a run of the plan has passed: the first check of a monitor is in no statistics.
async fn wait_for_statistics(server: &Server, name: &str) {
    let until = Instant::now() + Duration::from_mins(3);
    loop {
        let rows = server.run(&["report", name, "--json"]);
        if rows.lines().any(|line| line.contains("\"p95_us\": ") && !line.contains("null")) {
            return;
        }
        assert!(Instant::now() < until, "no run passed: {rows}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test]
async fn durations_are_drawn_and_stand_in_tables_and_an_older_version_comes_back() {
    let site = Site::start();
    let server = Server::start("[]\n");
    apply(&server, &site, "first");
    wait_for_statistics(&server, "first").await;
    apply(&server, &site, "second");
    let on_phone = full().then_some(Setup { is_phone: true, ..Setup::default() });
    for setup in std::iter::once(Setup::default()).chain(on_phone) {
        let browser = Browser::signed_in(usual_kind(), setup, &server).await;
        browser.wait_for_text("#rows", "second").await;
        browser.click("#rows a").await;
        browser.wait_for_text("#state", "Up").await;
        browser.wait_until(ARE_DRAWN).await;
        for theme in ["light", "dark"] {
            browser.click(&format!(".theme button[value={theme}]")).await;
            browser.wait_until(ARE_DRAWN).await;
            browser
                .eval("document.querySelectorAll('.latency details').forEach((fold) => fold.open = true)")
                .await;
            assert_eq!(findings(&browser).await, [] as [String; 0], "{theme}");
            let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.eval(wide).await, 0, "the page is wider than the window");
        }
        browser.click(".choices a[href*='span=90d']").await;
        browser.wait_until("return location.search === '?span=90d'").await;
        browser.wait_until(ARE_DRAWN).await;
        assert!(browser.text("#durations").await.contains("by day"));
        browser.close().await;
    }

    let setup = Setup { without_scripts: true, ..Setup::default() };
    let browser = Browser::signed_in(usual_kind(), setup, &server).await;
    browser.click("#rows a").await;
    browser.wait_for_text("#state", "Up").await;
    browser.click(".figures summary").await;
    let shown = "return document.querySelectorAll('.figures tbody tr').length === 48
        && document.querySelector('.figures td[data-us]').checkVisibility()
        && !document.querySelector('.chart').checkVisibility() && !document.querySelector('canvas')";
    browser.wait_until(shown).await;
    assert!(
        browser.text(".marks").await.contains("change by host: name"),
        "{}",
        browser.text(".marks").await
    );

    browser.click(".heading a").await;
    browser.wait_for_text("h1", "History of second").await;
    browser.click("main td a.button").await;
    browser.wait_for_text("h1", "Go back to an older version of second?").await;
    assert_eq!((browser.text("del").await, browser.text("ins").await), ("second".into(), "first".into()));
    browser.click(".submit button").await;
    browser.wait_for_text("h1", "History of first").await;
    browser.close().await;
}

#[tokio::test]
async fn a_monitor_of_a_file_has_no_way_back_on_the_pages() {
    let site = Site::start();
    let server = Server::start(&site.monitor("shop", "first"));
    let browser = Browser::signed_in(usual_kind(), Setup::default(), &server).await;
    browser.wait_for_text("#rows", "first").await;
    server.write_monitors(&site.monitor("shop", "second"));
    browser.wait_for_text("#rows", "second").await;
    browser.click("#rows a").await;
    browser.wait_for_text("h1", "second").await;
    browser.click(".heading a").await;
    browser.wait_for_text("del", "first").await;
    assert!(!browser.text("main").await.contains("Go back"));
    browser.goto(&format!("{}/1/revert", browser.client.current_url().await.unwrap())).await;
    browser.wait_for_text("main", "managed by a file").await;
    browser.close().await;
}
