//! A person at a browser: what they open, type, press and see.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;
use vigie::browser::BrowserKind;

use crate::console::server::Server;
use crate::console::shared_browsers::SharedBrowser;
use crate::support::daemon::Daemon;
use crate::support::geckodriver::geckodriver;
use crate::support::long_tests::full;
use crate::support::side_by_side::browser_permit;

/// How long a person waits for what they expect to see, while other browsers take the processors.
const PATIENCE: Duration = Duration::from_mins(1);

/// Returns the kind of browser that flows are walked with: Chromium, or Firefox when `VIGIE_TEST_CONSOLE_BROWSER` is
/// `firefox`, as in the second walk of `tests/run --full`.
pub fn usual_kind() -> BrowserKind {
    match std::env::var("VIGIE_TEST_CONSOLE_BROWSER").as_deref() {
        Err(_) | Ok("chromium") => BrowserKind::Chrome,
        Ok("firefox") => BrowserKind::Firefox,
        Ok(other) => panic!("VIGIE_TEST_CONSOLE_BROWSER is `{other}`, not `chromium` or `firefox`"),
    }
}

/// Returns the setups that a flow is walked with: one whose pages run scripts, and in a long run one whose pages run none.
pub fn flow_setups() -> Vec<Setup> {
    let without_scripts = Setup { without_scripts: true, ..Setup::default() };
    if full() { vec![Setup::default(), without_scripts] } else { vec![Setup::default()] }
}

/// How a browser is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Whether pages may run scripts.
    pub without_scripts: bool,
    /// Whether it is a telephone, 390 px wide.
    pub is_phone: bool,
    /// The language that it asks for; its own for none.
    pub language: Option<&'static str>,
}

/// A browser with one page.
pub struct Browser {
    pub client: Client,
    kind: BrowserKind,
    process: Process,
    _room: Option<SemaphorePermit<'static>>,
}

/// Who else uses a browser.
enum Process {
    /// The tests before and after this one.
    Shared(SharedBrowser),
    /// Nobody: it ends with the test.
    Own { _driver: Daemon, _profile: TempDir },
}

impl Browser {
    pub async fn open(kind: BrowserKind, setup: Setup) -> Self {
        Self::start(kind, setup, Some(browser_permit().await)).await
    }

    async fn start(kind: BrowserKind, setup: Setup, room: Option<SemaphorePermit<'static>>) -> Self {
        if kind == BrowserKind::Chrome && setup == Setup::default() {
            let shared = SharedBrowser::take().await;
            let client = shared.client.clone();
            return Self { client, kind, process: Process::Shared(shared), _room: room };
        }
        let profile = tempfile::tempdir().unwrap();
        let (driver, port) = start_driver(kind, &[]);
        let client = connect(kind, setup, profile.path(), port).await;
        Self { client, kind, process: Process::Own { _driver: driver, _profile: profile }, _room: room }
    }

    /// Opens another browser within the permit of this one.
    pub async fn beside(other: &Self) -> Self {
        Self::start(other.kind, Setup::default(), None).await
    }

    /// Opens a browser whose person signs in as the host, and sees the list of monitors.
    pub async fn signed_in(kind: BrowserKind, setup: Setup, server: &Server) -> Self {
        let browser = Self::open(kind, setup).await;
        browser.sign_in(server).await;
        browser
    }

    /// Signs in as the host, and waits for the list of monitors.
    pub async fn sign_in(&self, server: &Server) {
        self.goto(&server.sign_in_link()).await;
        self.click("main button").await;
        self.wait_for_text("h1", "Monitors").await;
    }

    /// Ends the browser. Chromium's must have reported no violation of the policy of the pages, and no error.
    pub async fn close(self) {
        let complaints = self.complaints().await;
        match self.process {
            Process::Shared(shared) => shared.give_back().await,
            Process::Own { .. } => self.client.close().await.unwrap(),
        }
        assert!(complaints.is_empty(), "the browser complained: {complaints:#?}");
    }

    /// Returns what the browser reported of its pages: violations of their policy, and errors of their scripts. That a
    /// server is away is none.
    pub async fn complaints(&self) -> Vec<String> {
        if self.kind != BrowserKind::Chrome {
            return Vec::new();
        }
        let log = self.client.issue_cmd(ReadLog).await.unwrap();
        let entries = log.as_array().cloned().unwrap_or_default();
        // What Chromium recommends is none of its errors.
        let is_error = |entry: &&Value| entry["source"] != "recommendation";
        let texts = entries
            .iter()
            .filter(is_error)
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned());
        let is_about_server = |text: &String| {
            ["Failed to load resource", "net::ERR_", "htmx:sse:error"].iter().any(|part| text.contains(part))
        };
        texts.filter(|text| !is_about_server(text)).collect()
    }

    pub async fn goto(&self, url: &str) {
        self.client.goto(url).await.unwrap();
    }

    /// Runs `script`, the body of a function, in the page.
    pub async fn eval(&self, script: &str) -> Value {
        self.client.execute(script, vec![]).await.unwrap()
    }

    /// Returns the text of the first element of `css`, with single spaces; empty when there is none, and between two pages.
    pub async fn text(&self, css: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.textContent ?? ''";
        let text = self.client.execute(script, vec![json!(css)]).await.unwrap();
        text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Waits until `script`, the body of a function, returns true.
    pub async fn wait_until(&self, script: &str) {
        let until = Instant::now() + PATIENCE;
        while self.eval(script).await != true {
            assert!(Instant::now() < until, "never true: {script}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the text of the first element of `css` contains `part`.
    pub async fn wait_for_text(&self, css: &str, part: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = self.text(css).await;
            if text.contains(part) {
                return;
            }
            assert!(Instant::now() < until, "`{css}` shows `{text}`, not `{part}`");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a key or a click has led to the page with this heading, and its scripts listen.
    pub async fn wait_for_page(&self, heading: &str) {
        self.wait_for_text("h1", heading).await;
        self.wait_until("return document.readyState === 'complete'").await;
    }

    pub async fn click(&self, css: &str) {
        self.client.find(Locator::Css(css)).await.unwrap().click().await.unwrap();
    }

    /// Chooses the option `label` of the choice `css`.
    pub async fn choose(&self, css: &str, label: &str) {
        self.client.find(Locator::Css(css)).await.unwrap().select_by_label(label).await.unwrap();
    }

    /// Replaces what stands in the input `css`.
    pub async fn fill(&self, css: &str, text: &str) {
        let field = self.client.find(Locator::Css(css)).await.unwrap();
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    pub async fn type_into(&self, css: &str, text: &str) {
        self.client.find(Locator::Css(css)).await.unwrap().send_keys(text).await.unwrap();
    }

    /// Returns the path and the query of the page.
    pub async fn path(&self) -> String {
        let url = self.client.current_url().await.unwrap();
        url[url::Position::BeforePath..].to_owned()
    }
}

/// How often a driver is started: it takes a free port of IPv4 first and then the same one of IPv6, and ends when that one
/// has been taken meanwhile.
const DRIVER_STARTS: usize = 5;

/// Starts a driver with these options; returns the port that it listens on.
pub fn start_driver(kind: BrowserKind, options: &[&str]) -> (Daemon, u16) {
    let marks = ["started successfully on port ", "Listening on 127.0.0.1:"];
    let port_in = |line: &str| {
        let rest = marks.iter().find_map(|mark| Some(line.split_once(mark)?.1))?;
        rest.trim().trim_end_matches('.').parse::<u16>().ok()
    };
    for _ in 0..DRIVER_STARTS {
        let mut command = if kind == BrowserKind::Chrome {
            let mut command = Command::new("chromedriver");
            command.arg("--port=0");
            command
        } else {
            let mut command = Command::new(geckodriver().expect("a geckodriver"));
            command.args(["--port", "0"]);
            command
        };
        let driver = Daemon::start(command.args(options));
        if let Ok(line) = driver.try_line(|line| port_in(line).is_some()) {
            return (driver, port_in(&line).unwrap());
        }
    }
    panic!("no driver of {kind:?} starts");
}

/// Starts a browser with the driver at `port`.
pub async fn connect(kind: BrowserKind, setup: Setup, profile: &Path, port: u16) -> Client {
    let mut client = ClientBuilder::new(HttpConnector::new());
    let client = client.capabilities(capabilities(kind, setup, profile));
    client.connect(&format!("http://127.0.0.1:{port}")).await.unwrap()
}

fn capabilities(kind: BrowserKind, setup: Setup, profile: &Path) -> Capabilities {
    let mut capabilities = Capabilities::new();
    let size = if setup.is_phone { (390, 844) } else { (1280, 900) };
    if kind == BrowserKind::Chrome {
        let mut options = json!({
            "args": [
                "--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking",
                format!("--window-size={},{}", size.0, size.1),
                format!("--user-data-dir={}", profile.display()),
            ],
            "prefs": {"profile.managed_default_content_settings.javascript": if setup.without_scripts { 2 } else { 1 }},
        });
        if let Some(language) = setup.language {
            options["prefs"]["intl.accept_languages"] = json!(language);
        }
        if setup.is_phone {
            options["mobileEmulation"] =
                json!({"deviceMetrics": {"width": size.0, "height": size.1, "pixelRatio": 2, "touch": true}});
        }
        capabilities.insert("browserName".to_owned(), json!("chrome"));
        capabilities.insert("goog:chromeOptions".to_owned(), options);
        capabilities.insert("goog:loggingPrefs".to_owned(), json!({"browser": "ALL"}));
    } else {
        let mut options = json!({
            "args": ["-headless", format!("--width={}", size.0), format!("--height={}", size.1)],
            "prefs": {"javascript.enabled": !setup.without_scripts},
        });
        if let Some(language) = setup.language {
            options["prefs"]["intl.accept_languages"] = json!(language);
        }
        capabilities.insert("browserName".to_owned(), json!("firefox"));
        capabilities.insert("moz:firefoxOptions".to_owned(), options);
    }
    capabilities
}

/// Reads the log of Chromium since the last call.
#[derive(Debug)]
struct ReadLog;

impl WebDriverCompatibleCommand for ReadLog {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}
