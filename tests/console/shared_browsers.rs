//! Browsers that one test after the other uses: to start one takes the processors for seconds.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex};

use fantoccini::Client;
use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use vigie::browser::BrowserKind;

use crate::console::browser::{Setup, connect, start_driver};
use crate::support::daemon::Daemon;

/// A Chromium as it starts, and its driver.
pub struct SharedBrowser {
    pub client: Client,
    _driver: Daemon,
}

/// Those that no test uses.
static IDLE: Mutex<Vec<SharedBrowser>> = Mutex::new(Vec::new());

/// Speaks with the drivers: the runtime of a test ends with it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
});

/// The folder of their profiles, and the process that ends them and removes it when this one has ended: nothing of a
/// `static` is dropped.
static PROFILES: LazyLock<(TempDir, Child)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    // The folder is in the command lines of drivers and browsers, and in its environment only.
    let script = "cat; pkill -f -- \"$PROFILES\"; for turn in $(seq 50); do \
                  pgrep -f -- \"$PROFILES\" || break; sleep 0.1; done; \
                  pkill -KILL -f -- \"$PROFILES\"; rm -rf \"$PROFILES\"";
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).env("PROFILES", folder.path());
    // Its input ends with this process.
    let cleaner = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (folder, cleaner)
});

impl SharedBrowser {
    /// Returns one that no test uses, or starts another one.
    pub async fn take() -> Self {
        let idle = IDLE.lock().unwrap().pop();
        match idle {
            Some(browser) => browser,
            None => RUNTIME.spawn(Self::start(PROFILES.0.path())).await.unwrap(),
        }
    }

    async fn start(profiles: &Path) -> Self {
        let profile = tempfile::tempdir_in(profiles).unwrap().keep();
        let log = format!("--log-path={}", profiles.join("driver.log").display());
        let (driver, port) = start_driver(BrowserKind::Chrome, &[&log]);
        let client = connect(BrowserKind::Chrome, Setup::default(), &profile, port).await;
        Self { client, _driver: driver }
    }

    /// Leaves it to the next test, with one empty window and without cookies.
    pub async fn give_back(self) {
        self.clean().await.unwrap();
        IDLE.lock().unwrap().push(self);
    }

    async fn clean(&self) -> Result<(), CmdError> {
        let mut windows = self.client.windows().await?;
        let first = windows.swap_remove(0);
        for window in windows {
            self.client.switch_to_window(window).await?;
            self.client.close_window().await?;
        }
        self.client.switch_to_window(first).await?;
        self.client.goto("about:blank").await?;
        self.client.issue_cmd(ClearCookies).await.map(drop)
    }
}

/// Removes the cookies of all sites.
#[derive(Debug)]
struct ClearCookies;

impl WebDriverCompatibleCommand for ClearCookies {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({"cmd": "Network.clearBrowserCookies", "params": {}}).to_string()))
    }
}
