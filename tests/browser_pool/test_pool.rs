//! A browser pool with its folder, a site, and the processes and files left on the host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OnceCell, SemaphorePermit};
use vigie::browser::{BrowserKind, BrowserPool, BrowserPoolConfig, Emulation, OpenBrowser, SessionOptions};
use vigie::domain::Failure;
use vigie::forward_proxy::{BlockedHosts, ForwardProxy};
use vigie::net::{AddressFamily, Deadline, Net, NetConfig, PublicRoots, TrustConfig};

use crate::support::lacking;
pub use crate::support::processes::processes_of;
use crate::support::processes::profiles_in;
use crate::support::side_by_side::browser_permit;

/// A browser pool with a folder of its own.
pub struct TestPool {
    pub folder: tempfile::TempDir,
    pub pool: BrowserPool,
    pub net: Net,
    /// Held from the first browser on.
    room: OnceCell<SemaphorePermit<'static>>,
}

pub fn session_options(kind: BrowserKind) -> SessionOptions {
    SessionOptions {
        browser_kind: kind,
        headful: false,
        emulation: Emulation::default(),
        address_family: AddressFamily::Any,
        upstream_proxy_id: None,
        verify_certificates: true,
        ca_id: None,
        client_certificate_id: None,
        trace_id: None,
    }
}

pub fn net() -> Net {
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap()
}

impl TestPool {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut BrowserPoolConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = BrowserPoolConfig {
            profiles_folder: Some(folder.path().join("b")),
            ..BrowserPoolConfig::default()
        };
        // The folder is closed to other users.
        config.os_user = nix::unistd::geteuid().is_root().then(|| "root".to_owned());
        config.geckodriver = crate::support::geckodriver::geckodriver();
        change(&mut config);
        Self { pool: BrowserPool::new(config), folder, net: net(), room: OnceCell::new() }
    }

    pub async fn forward(&self, options: &SessionOptions) -> ForwardProxy {
        ForwardProxy::bind(self.pool.proxy_config(options, BlockedHosts::default()).unwrap()).await.unwrap()
    }

    pub async fn open(
        &self,
        options: &SessionOptions,
        forward: &ForwardProxy,
    ) -> Result<OpenBrowser, Failure> {
        self.open_within(options, forward, Duration::from_mins(1)).await
    }

    pub async fn open_within(
        &self,
        options: &SessionOptions,
        forward: &ForwardProxy,
        time: Duration,
    ) -> Result<OpenBrowser, Failure> {
        self.room.get_or_init(browser_permit).await;
        self.while_serving(
            forward,
            self.pool.open_browser(options, &self.net, forward, Deadline::within(time)),
        )
        .await
    }

    /// Runs `work` while the forward proxy is served.
    pub async fn while_serving<F: Future>(&self, forward: &ForwardProxy, work: F) -> F::Output {
        tokio::select! {
            output = work => output,
            never = forward.serve(&self.net) => match never {},
        }
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("b")
    }

    /// Returns the profiles and locks in the folder.
    pub fn profiles(&self) -> Vec<String> {
        profiles_in(&self.folder())
    }

    /// Returns the processes, zombies included, that have the folder in their command line or environment.
    pub fn processes(&self) -> Vec<String> {
        processes_of(&self.folder())
    }

    /// Asserts that nothing of any browser remains, after a wait.
    pub async fn assert_empty(&self) {
        assert!(self.pool.wait_until_all_closed(Duration::from_secs(30)).await, "{:?}", self.processes());
        assert_eq!(self.processes(), Vec::<String>::new());
        assert_eq!(self.profiles(), Vec::<String>::new());
    }
}

/// Returns the installed browsers. A missing one is recorded as left out.
pub fn browsers(test: &str) -> Vec<BrowserKind> {
    let mut kinds = Vec::new();
    for (kind, browser, driver) in [
        (BrowserKind::Chrome, "chromium", "chromedriver"),
        (BrowserKind::Firefox, "firefox-esr", "geckodriver"),
    ] {
        let is_installed = |program: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(program).exists())
        };
        if is_installed(browser)
            && (is_installed(driver)
                || kind == BrowserKind::Firefox && crate::support::geckodriver::geckodriver().is_some())
        {
            kinds.push(kind);
        } else {
            let want = format!("{browser} with {driver}");
            match kind {
                // geckodriver is built from source, which needs a registry.
                BrowserKind::Firefox => lacking::count(test, &want),
                _ => lacking::lacks(test, &want, "tests/run installs it"),
            }
        }
    }
    kinds
}

/// Returns the TCP ports that the processes of the browser listen on, read apart from the code under test.
pub fn listening_ports(processes: &[String]) -> BTreeSet<u16> {
    let folders = processes.iter().map(|line| line.split(' ').next().unwrap());
    let links = folders.flat_map(|folder| fs::read_dir(format!("{folder}/fd")).into_iter().flatten());
    let sockets: BTreeSet<String> = links
        .filter_map(|link| fs::read_link(link.unwrap().path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields[3] == "0A" && sockets.contains(&format!("socket:[{}]", fields[9])))
        .map(|fields| u16::from_str_radix(fields[1].rsplit(':').next().unwrap(), 16).unwrap())
        .collect()
}

/// A site that responds with the page of each path and records the requests.
pub struct Site {
    pub address: SocketAddr,
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn start(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pages: BTreeMap<String, String> =
            pages.iter().map(|(path, page)| (path.to_string(), page.to_string())).collect();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, log) = (pages.clone(), Arc::clone(&log));
                std::thread::spawn(move || respond(stream, &pages, &log));
            }
        });
        Self { address, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn respond(mut stream: std::net::TcpStream, pages: &BTreeMap<String, String>, log: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(length) if length > 0 => head.extend_from_slice(&part[..length]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap().push(head);
    let (status, page) = match pages.get(&path) {
        Some(page) => ("200 OK", page.as_str()),
        None => ("404 Not Found", ""),
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
}
