//! Browsers of a browser host (`vigie browser-host`), which serves a Unix socket.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use vigie::browser::{BrowserKind, RemoteWebDriver};
use vigie::domain::FailureKind;
use vigie::net::{ConnectionTrace, Deadline, Endpoint};

use crate::browser_pool::test_pool::{
    Site, TestPool, browsers, listening_ports, processes_of, session_options,
};
use crate::support::side_by_side::each;

/// A running browser host with folders of its own.
struct BrowserHost {
    child: Child,
    folder: tempfile::TempDir,
}

impl BrowserHost {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Another user may have to reach its profile.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
        command.arg("browser-host").arg("--socket").arg(folder.path().join("socket"));
        command.env("VIGIE_BROWSER_FOLDER", folder.path().join("b"));
        if let Some(geckodriver) = crate::support::geckodriver::geckodriver() {
            command.env("VIGIE_BROWSER_GECKODRIVER", geckodriver);
        }
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let host = Self { child, folder };
        let until = Instant::now() + Duration::from_secs(20);
        while !host.socket().exists() {
            assert!(Instant::now() < until, "no socket");
            std::thread::sleep(Duration::from_millis(10));
        }
        host
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn pool(&self, browser_kind: BrowserKind) -> TestPool {
        let url = format!("unix:{}", self.socket().display()).parse().unwrap();
        let remote = RemoteWebDriver {
            browser_kind,
            url,
            forward_proxy_address: None,
            client_networks: Vec::new(),
            forward_proxy_ports: None,
        };
        TestPool::with(|config| config.remotes = vec![remote])
    }

    fn processes(&self) -> Vec<String> {
        let own = format!("/proc/{} ", self.child.id());
        let mut processes = processes_of(&self.folder.path().join("b"));
        processes.retain(|process| !process.starts_with(&own));
        processes
    }

    fn assert_no_browser(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.processes().is_empty() {
            assert!(Instant::now() < until, "{:#?}", self.processes());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for BrowserHost {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_browser_of_a_host_uses_the_forward_proxy_of_its_check() {
    let site = Site::start(&[("/", "<title>Shop</title>")]);
    each(browsers("a_browser_of_a_host_uses_the_forward_proxy_of_its_check"), async |kind| {
        let host = BrowserHost::start();
        let mode = std::fs::metadata(host.socket()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "nobody else can open the socket");
        let test_pool = host.pool(kind);
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let mut opened = test_pool.open(&options, &forward).await.unwrap();
        let url = site.url("/");
        let visit = async {
            tokio::select! {
                visited = opened.driver_client.goto(&url) => visited.unwrap(),
                failure = opened.browser_process.wait_for_failure() => panic!("{failure}"),
            }
        };
        test_pool.while_serving(&forward, visit).await;
        assert_eq!(opened.driver_client.title().await.unwrap(), "Shop");
        let host_name = site.address.ip().to_string();
        let connection = forward.target_connection(&host_name, site.address.port()).unwrap();
        assert_eq!(connection.peer_address, Some(site.address));
        assert_eq!(test_pool.processes(), Vec::<String>::new(), "it is not a process of this server");
        assert!(host.processes().len() > 1);
        opened.driver_client.close().await.unwrap();
        opened.browser_process.kill_and_remove().await;
        host.assert_no_browser();
    })
    .await;
}

#[tokio::test]
async fn checks_do_not_reach_the_ports_of_a_hosted_browser() {
    each(browsers("checks_do_not_reach_the_ports_of_a_hosted_browser"), async |kind| {
        let host = BrowserHost::start();
        let test_pool = host.pool(kind);
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let mut opened = test_pool.open(&options, &forward).await.unwrap();
        let driver = listening_ports(&host.processes());
        assert!(!driver.is_empty());
        // Reported within half a second; the host may be busy.
        let reported = async {
            let until = tokio::time::Instant::now() + Duration::from_secs(20);
            while !are_all_denied(&test_pool, &driver).await {
                assert!(tokio::time::Instant::now() < until, "{driver:?}");
                tokio::select! {
                    failure = opened.browser_process.wait_for_failure() => panic!("{failure}"),
                    () = tokio::time::sleep(Duration::from_millis(20)) => {}
                }
            }
        };
        test_pool.while_serving(&forward, reported).await;
        drop(opened);
        host.assert_no_browser();
    })
    .await;
}

/// Whether no check may connect to any of these ports of this host.
async fn are_all_denied(test_pool: &TestPool, ports: &BTreeSet<u16>) -> bool {
    for port in ports {
        let (deadline, mut trace) = (Deadline::within(Duration::from_secs(5)), ConnectionTrace::default());
        let connected = test_pool.net.connect(&Endpoint::new("127.0.0.1", *port), deadline, &mut trace).await;
        if !connected.is_err_and(|failure| failure.kind == FailureKind::EgressDenied) {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn the_end_of_a_hosted_browser_is_a_failure_that_says_so() {
    each(browsers("the_end_of_a_hosted_browser_is_a_failure_that_says_so"), async |kind| {
        let host = BrowserHost::start();
        let test_pool = host.pool(kind);
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let mut opened = test_pool.open(&options, &forward).await.unwrap();
        for process in host.processes() {
            let id = process.split('/').nth(2).and_then(|rest| rest.split(' ').next()?.parse().ok());
            let _ = kill(Pid::from_raw(id.unwrap()), Signal::SIGKILL);
        }
        let waited = tokio::time::timeout(Duration::from_secs(30), opened.browser_process.wait_for_failure());
        let failure = test_pool.while_serving(&forward, waited).await.unwrap();
        assert_eq!(failure.kind, FailureKind::BrowserFailed, "{failure}");
        assert!(failure.detail.contains("ended"), "{failure}");
        drop(opened);
        host.assert_no_browser();
    })
    .await;
}

#[tokio::test]
async fn a_host_that_does_not_run_is_named() {
    let mut host = BrowserHost::start();
    kill(Pid::from_raw(host.child.id().cast_signed()), Signal::SIGTERM).unwrap();
    host.child.wait().unwrap();
    let test_pool = host.pool(BrowserKind::Chrome);
    let options = session_options(BrowserKind::Chrome);
    let forward = test_pool.forward(&options).await;
    let failure = test_pool.open(&options, &forward).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotConfigured, "{failure}");
    assert!(
        failure.detail.contains("is `vigie browser-host` (vigie-webdriver.service) running"),
        "{failure}"
    );
}
