//! What axe-core finds on the pages: rules of WCAG 2.2 that a program can check. The rest takes a look; see the page
//! "Console" of the manual.

use aws_lc_rs::digest;
use serde_json::{Value, json};
use vigie::browser::BrowserKind;
use vigie::domain::to_hex;

use crate::console::browser::{Browser, Setup, usual_kind};
use crate::console::server::{Server, Site};
use crate::support::long_tests::full;

/// Checks the page against WCAG 2.2 A and AA and the practices of axe-core; returns what it finds.
const CHECK: &str = "
    const done = arguments[arguments.length - 1];
    axe.run({resultTypes: ['violations']}).then((found) => done(found.violations.flatMap((rule) =>
        rule.nodes.map((node) => `${rule.id}: ${rule.help}: ${node.html.slice(0, 200)}`))));
";

/// Returns what axe-core finds on the page.
pub(super) async fn findings(browser: &Browser) -> Vec<String> {
    browser.eval(include_str!("vendor/axe.min.js")).await;
    let found = browser.client.execute_async(CHECK, vec![]).await.unwrap();
    found.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Returns the names and the paths of one page of each kind.
async fn pages(browser: &Browser, server: &Server) -> Vec<(String, String)> {
    browser.goto(&server.url("/")).await;
    browser.wait_for_text("#rows .pill", "ok").await;
    let href = async |css: &str| {
        let script = "return document.querySelector(arguments[0]).getAttribute('href')";
        let path = browser.client.execute(script, vec![json!(css)]).await.unwrap();
        path.as_str().unwrap().to_owned()
    };
    let monitor = href("#rows a").await;
    browser.goto(&server.url(&monitor)).await;
    let result = href("#results tbody a").await;
    browser.goto(&server.url(&result)).await;
    browser.click(".share button").await;
    browser.wait_for_text("h1", "is shared").await;
    let link = browser.eval("return new URL(document.getElementById('link').value).pathname").await;
    let shared = link.as_str().unwrap().to_owned();
    let others = [
        "/",
        "/shares",
        "/shared/nothing",
        "/?q=nothing",
        "/?sort=name&column=id,key,type,target,last-run,duration,phases,day,day-durations,reason,since",
        "/?group=team",
        "/locations",
        "/preferences",
        "/apply",
        "/account",
        "/account/recipients",
        "/account/recipients/new",
        "/account/notifier-groups/new",
        "/account/blackouts/new",
        "/account/settings",
        "/account/views",
        "/manual/",
        "/manual/alerting",
        "/api/v3/docs?q=blackout",
        "/nothing",
        "/monitors/new",
        "/monitors/new?type=website",
        "/monitors/new?type=browserscript",
        "/monitors/new?type=website-api",
    ];
    let others = others.map(|path| (picture_name(path), path.to_owned()));
    let (history, alerts) = (format!("{monitor}/history"), format!("{monitor}/performance-alerts"));
    server.request("POST", &alerts, &json!({"type": "static", "threshold": 2.5}));
    let new_alert = format!("{alerts}/new");
    let named = [
        ("monitor", monitor),
        ("history", history),
        ("performance-alerts", alerts),
        ("performance-alerts-new", new_alert),
        ("result", result),
        ("shared", shared),
    ];
    named.into_iter().map(|(name, path)| (name.to_owned(), path)).chain(others).collect()
}

/// Returns the name of the picture of the page with this path, such as `monitors-new-type-website`.
fn picture_name(path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "list".to_owned() } else { name.chars().take(60).collect() }
}

/// Keeps a picture of the page, for people who look at it: in `target/tmp/console`, by screen and theme.
async fn keep_picture(browser: &Browser, folder: &str, name: &str) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("console").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), browser.client.screenshot().await.unwrap()).unwrap();
}

async fn choose_language(browser: &Browser, server: &Server, name: &str) {
    browser.goto(&server.url("/preferences")).await;
    browser.choose("#language", name).await;
    browser.click(".submit button").await;
    browser.wait_for_text("footer", name).await;
}

/// Looks at every page in `theme`, and in the other one in a long run.
async fn check_every_page(kind: BrowserKind, setup: Setup, theme: &str) {
    let other = if theme == "light" { "dark" } else { "light" };
    let themes = if full() { vec![theme, other] } else { vec![theme] };
    let site = Site::start();
    // With two locations, the header has the switch.
    let settings = "locations:\n- {id: 2, name: Lyon, region: 2}\n";
    let server = Server::start_with(&site.monitor("shop", "shop"), settings);
    let browser = Browser::open(kind, setup).await;
    let mut found = Vec::new();
    for theme in themes {
        browser.goto(&server.url("/sign-in")).await;
        browser.click(&format!(".theme button[value={theme}]")).await;
        found.extend(findings(&browser).await);
        browser.goto(&server.sign_in_link()).await;
        found.extend(findings(&browser).await);
        browser.click("main button").await;
        browser.wait_for_text("h1", "Monitors").await;
        let pages = pages(&browser, &server).await;
        let folder = format!("{}-{theme}", if setup.is_phone { "phone" } else { "wide" });
        // One of the two screens is read in German, whose words are longer.
        if setup.is_phone {
            choose_language(&browser, &server, "Deutsch").await;
        }
        for (name, path) in pages {
            browser.goto(&server.url(&path)).await;
            let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.eval(wide).await, Value::from(0), "{path} is wider than the window");
            if full() {
                keep_picture(&browser, &folder, &name).await;
            }
            found.extend(findings(&browser).await.iter().map(|text| format!("{path}, {theme}: {text}")));
        }
        if setup.is_phone {
            assert_eq!(browser.eval("return document.documentElement.lang").await, "de");
            choose_language(&browser, &server, "English").await;
        }
        browser.click(".session button").await;
        browser.wait_for_text("h1", "Sign in").await;
    }
    assert!(found.is_empty(), "{found:#?}");
    browser.close().await;
}

#[tokio::test]
async fn axe_finds_nothing_on_a_wide_screen() {
    // A telephone in dark shows nearly every fault, and each screen takes a quarter of a minute.
    if !full() {
        return;
    }
    check_every_page(usual_kind(), Setup::default(), "light").await;
}

#[tokio::test]
async fn axe_finds_nothing_on_a_telephone() {
    // Only chromedriver emulates one.
    check_every_page(BrowserKind::Chrome, Setup { is_phone: true, ..Setup::default() }, "dark").await;
}

#[test]
fn axe_is_the_one_whose_checksum_stands_beside_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console/vendor");
    let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    for (sum, name) in sums.lines().map(|line| line.split_once("  ").unwrap()) {
        let content = std::fs::read(folder.join(name)).unwrap();
        assert_eq!(to_hex(digest::digest(&digest::SHA256, &content).as_ref()), sum, "{name}");
    }
}
