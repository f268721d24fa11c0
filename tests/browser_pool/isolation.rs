//! Browsers outside of this process's user and host: run as another user with their own sandbox, or at a remote
//! WebDriver endpoint.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, User};
use vigie::browser::{BrowserKind, RemoteWebDriver};
use vigie::net::IpNetwork;

use crate::browser_pool::test_pool::{Site, TestPool, browsers, processes_of, session_options};
use crate::support::lacking;
use crate::support::side_by_side::each;

/// An unprivileged user for browsers when the tests run as root.
const NOBODY: &str = "nobody";

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Whether unprivileged users may create user namespaces, which the sandbox of Chromium needs.
fn has_namespaces() -> bool {
    let mut command = Command::new(if is_root() { "setpriv" } else { "unshare" });
    if is_root() {
        command.args(["--reuid", NOBODY, "--regid", "nogroup", "--clear-groups", "unshare"]);
    }
    command.args(["--user", "true"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn a_browser_of_another_user_keeps_its_own_sandbox() {
    let test = "a_browser_of_another_user_keeps_its_own_sandbox";
    if !has_namespaces() {
        lacking::count(test, "user namespaces for everybody");
        return;
    }
    let site = Site::start(&[("/", "<title>Shop</title>")]);
    each(browsers(test), async |kind| {
        let test_pool = TestPool::with(|config| config.os_user = is_root().then(|| NOBODY.to_owned()));
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(test_pool.folder.path(), open).unwrap();
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        test_pool.while_serving(&forward, opened.driver_client.goto(&site.url("/"))).await.unwrap();
        assert_eq!(opened.driver_client.title().await.unwrap(), "Shop");
        let all = test_pool.processes();
        assert!(all.iter().all(|line| !line.contains("--no-sandbox")), "{all:#?}");
        let shows_page = |line: &&String| match kind {
            BrowserKind::Chrome => line.contains("--type=renderer"),
            _ => line.trim_end().ends_with(" tab"),
        };
        let pages: Vec<&String> = all.iter().filter(shows_page).collect();
        assert!(!pages.is_empty(), "{all:#?}");
        for page in pages {
            let process = Path::new(page.split(' ').next().unwrap());
            let status = std::fs::read_to_string(process.join("status")).unwrap();
            let user = User::from_name(NOBODY).unwrap().unwrap().uid;
            assert!(!is_root() || status.contains(&format!("Uid:\t{user}\t")), "{page}: {status}");
            // System call filters (seccomp(2)) apply to the code of a page.
            assert!(status.contains("Seccomp:\t2"), "{page}: {status}");
            let own = std::fs::read_link("/proc/self/ns/user").unwrap();
            assert!(
                kind != BrowserKind::Chrome || std::fs::read_link(process.join("ns/user")).unwrap() != own,
                "{page} shares our user namespace"
            );
        }
        drop(opened);
        test_pool.assert_empty().await;
    })
    .await;
}

#[tokio::test]
async fn a_remote_browser_uses_the_forward_proxy() {
    let test = "a_remote_browser_uses_the_forward_proxy";
    if !has_namespaces() {
        lacking::count(test, "user namespaces for everybody");
        return;
    }
    let site = Site::start(&[("/", "<title>Shop</title>")]);
    each(browsers(test), async |kind| {
        let remote_driver = RemoteDriver::start(kind);
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let remote = RemoteWebDriver {
            forward_proxy_ports: None,
            browser_kind: kind,
            url: format!("http://127.0.0.1:{}/", remote_driver.port).parse().unwrap(),
            forward_proxy_address: Some(loopback),
            client_networks: vec![IpNetwork::from_address(loopback)],
        };
        let test_pool = TestPool::with(|config| config.remotes = vec![remote]);
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        test_pool.while_serving(&forward, opened.driver_client.goto(&site.url("/"))).await.unwrap();
        assert_eq!(opened.driver_client.title().await.unwrap(), "Shop");
        let host = site.address.ip().to_string();
        assert_eq!(
            forward.target_connection(&host, site.address.port()).unwrap().peer_address,
            Some(site.address)
        );
        assert_eq!((test_pool.processes(), test_pool.profiles()), (Vec::new(), Vec::new()), "it is not ours");
        assert!(processes_of(remote_driver.folder.path()).len() > 1);
        opened.driver_client.close().await.unwrap();
        opened.browser_process.kill_and_remove().await;
        test_pool.assert_empty().await;
    })
    .await;
}

/// A driver that runs independently, like `systemd/vigie-webdriver.service`.
struct RemoteDriver {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl RemoteDriver {
    fn start(kind: BrowserKind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let driver = match kind {
            BrowserKind::Firefox => {
                crate::support::geckodriver::geckodriver().unwrap_or_else(|| "geckodriver".into())
            }
            _ => "chromedriver".into(),
        };
        let mut command = Command::new(if is_root() { "setpriv".into() } else { driver.clone() });
        if is_root() {
            command.args(["--reuid", NOBODY, "--regid", "nogroup", "--clear-groups"]).arg(driver);
            let user = User::from_name(NOBODY).unwrap().unwrap();
            std::os::unix::fs::chown(folder.path(), Some(user.uid.as_raw()), None).unwrap();
        }
        match kind {
            BrowserKind::Firefox => {
                command.args(["--host", "127.0.0.1", "--port", "0", "--websocket-port", "0"])
            }
            _ => command.args(["--port=0", "--log-level=WARNING"]),
        };
        command.env("HOME", folder.path()).env("TMPDIR", folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.by_ref().find_map(|line| {
            let after = line.split_once(" on port ").or_else(|| line.split_once("Listening on 127.0.0.1:"));
            after?.1.trim_end_matches('.').parse().ok().filter(|&port: &u16| port != 0)
        });
        // The driver continues to print, and must not block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port: port.expect("a driver that starts"), folder }
    }
}

impl Drop for RemoteDriver {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let _ = self.child.wait();
        // Processes that left its group have the folder in their command line; no other process reaps them.
        for line in processes_of(self.folder.path()) {
            let id = line.split('/').nth(2).and_then(|rest| rest.split(' ').next()?.parse().ok());
            if let Some(id) = id {
                let _ = nix::sys::signal::kill(Pid::from_raw(id), Signal::SIGKILL);
            }
        }
    }
}
