//! However a check ends, nothing of its browser remains.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use vigie::browser::{BrowserKind, BrowserPoolConfig};
use vigie::domain::FailureKind;
use vigie::forward_proxy::BlockedHosts;

use crate::browser_pool::test_pool::{Site, TestPool, browsers, processes_of, session_options};
use crate::support::side_by_side::each;

#[tokio::test]
async fn dropping_a_check_ends_its_browser() {
    each(browsers("dropping_a_check_ends_its_browser"), async |kind| {
        let test_pool = TestPool::new();
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let opened = test_pool.open(&options, &forward).await.unwrap();
        assert!(!test_pool.processes().is_empty() && !test_pool.profiles().is_empty());
        drop(opened);
        test_pool.assert_empty().await;
    })
    .await;
}

#[tokio::test]
async fn dropping_a_check_while_its_browser_starts_leaves_nothing() {
    each(browsers("dropping_a_check_while_its_browser_starts_leaves_nothing"), async |kind| {
        for millis in [1, 60, 250] {
            let test_pool = TestPool::new();
            let options = session_options(kind);
            let forward = test_pool.forward(&options).await;
            let opened = test_pool.open(&options, &forward);
            // The moment is arbitrary; the assertions hold at any moment.
            let result = tokio::time::timeout(Duration::from_millis(millis), opened).await;
            drop(result);
            test_pool.assert_empty().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_killed_or_stopped_driver_or_browser_is_reported() {
    each(browsers("a_killed_or_stopped_driver_or_browser_is_reported"), async |kind| {
        let headless = if kind == BrowserKind::Firefox { "-headless" } else { "--headless" };
        for (victim, signal, text) in [
            ("driver ", Signal::SIGKILL, "SIGKILL"),
            (headless, Signal::SIGKILL, "the browser ended"),
            ("driver ", Signal::SIGSTOP, "the driver is stopped"),
            (headless, Signal::SIGSTOP, "the browser is stopped"),
        ] {
            let test_pool = TestPool::new();
            let options = session_options(kind);
            let forward = test_pool.forward(&options).await;
            let mut opened = test_pool.open(&options, &forward).await.unwrap();
            let all = test_pool.processes();
            let is_main = |line: &&String| {
                line.contains(victim) && !line.contains(" --type=") && !line.contains("-contentproc")
            };
            let line = all.iter().find(is_main).unwrap_or_else(|| panic!("{all:#?}"));
            let id = line.split('/').nth(2).unwrap().split(' ').next().unwrap().parse().unwrap();
            kill(Pid::from_raw(id), signal).unwrap();
            let failure =
                tokio::time::timeout(Duration::from_secs(20), opened.browser_process.wait_for_failure())
                    .await
                    .unwrap();
            assert_eq!(failure.kind, FailureKind::BrowserFailed, "{kind:?} {failure}");
            assert!(failure.detail.contains(text), "{kind:?} {failure}");
            drop(opened);
            test_pool.assert_empty().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_page_that_uses_memory_without_end_is_killed() {
    let page = "<script>let all = []; setInterval(() => all.push(new Uint8Array(3e7).fill(1)), 20)</script>";
    let site = Site::start(&[("/", page)]);
    each(browsers("a_page_that_uses_memory_without_end_is_killed"), async |kind| {
        let test_pool = TestPool::with(|config| config.max_memory_bytes_per_browser = 1 << 30);
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let mut opened = test_pool.open(&options, &forward).await.unwrap();
        let growing = async {
            // The response does not matter: the page grows whether it is complete or not.
            let _ = opened.driver_client.goto(&site.url("/")).await;
            std::future::pending::<()>().await;
        };
        let failure = test_pool.while_serving(&forward, async {
            tokio::select! {
                failure = opened.browser_process.wait_for_failure() => failure,
                () = growing => unreachable!(),
            }
        });
        let failure = tokio::time::timeout(Duration::from_mins(1), failure).await.unwrap();
        assert_eq!(failure.kind, FailureKind::BrowserOutOfMemory, "{failure}");
        assert!(opened.browser_process.peak_memory_bytes().unwrap() > 1 << 30);
        drop(opened);
        test_pool.assert_empty().await;
    })
    .await;
}

/// The process that is killed below: opens a browser in the given folder and stays.
#[tokio::test]
#[ignore = "part of another test, which runs it"]
async fn a_process_with_a_browser() {
    let folder = std::env::var("VIGIE_TEST_FOLDER").unwrap();
    let test_pool = TestPool::with(|config| config.profiles_folder = Some(folder.into()));
    let kind = BrowserKind::from_name(&std::env::var("VIGIE_TEST_BROWSER").unwrap()).unwrap();
    let forward = test_pool.forward(&session_options(kind)).await;
    let opened = test_pool.open(&session_options(kind), &forward).await.unwrap();
    println!("\nready");
    test_pool.while_serving(&forward, std::future::pending::<()>()).await;
    drop(opened);
}

#[tokio::test]
async fn orphans_of_a_killed_process_are_reaped_and_nothing_else() {
    for kind in browsers("orphans_of_a_killed_process_are_reaped_and_nothing_else") {
        let test_pool = TestPool::new();
        // A browser of a living process stays, though it is in the same folder.
        let options = session_options(kind);
        let forward = test_pool.forward(&options).await;
        let living = test_pool.open(&options, &forward).await.unwrap();
        let own = test_pool.profiles();
        let mut other = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "browser_pool::cleanup::a_process_with_a_browser", "--ignored", "--nocapture"])
            .env("VIGIE_TEST_FOLDER", test_pool.folder())
            .env("VIGIE_TEST_BROWSER", kind.name())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "it ended before it was ready");
        assert!(test_pool.profiles().len() > own.len());
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(test_pool.pool.reap_orphans(), 1);
        assert_eq!(test_pool.profiles(), own, "{kind:?}");
        let others: Vec<_> =
            test_pool.processes().into_iter().filter(|line| !line.contains(&token(&own))).collect();
        let left: Vec<_> =
            others.iter().filter(|line| line.contains(&*test_pool.folder().to_string_lossy())).collect();
        assert!(left.is_empty(), "{left:#?}");
        assert_eq!(test_pool.pool.reap_orphans(), 0);
        assert!(living.driver_client.title().await.is_ok(), "the other browser is dead");
        drop(living);
        test_pool.assert_empty().await;
    }
}

fn token(profiles: &[String]) -> String {
    profiles.iter().find(|name| !name.contains(".lock")).unwrap().clone()
}

#[tokio::test]
async fn a_broken_driver_is_reported_in_time() {
    use std::os::unix::fs::PermissionsExt;
    // Reports that it does not support this version of the browser.
    let refusing = refusing_driver().await;
    let ready = format!("echo 'ChromeDriver was started successfully on port {refusing}.'; exec sleep 60");
    // Finds its port in use this many times. It counts the tries in a file beside it.
    let busy_port = |times: usize| {
        format!(
            "echo . >> $0.tries; if [ $(wc -l < $0.tries) -le {times} ]; then \
             echo 'bind() failed: Address already in use (98)'; echo 'IPv4 port not available. Exiting...'; exit 1; \
             fi; echo all is well; exit 3"
        )
    };
    for (script, kind, text) in [
        ("exec sleep 60", FailureKind::BrowserTimedOut, "not ready within 1 s"),
        (
            "echo who knows; echo why >&2; exit 3",
            FailureKind::BrowserFailed,
            "the driver printed: who knows; why",
        ),
        ("while :; do echo nonsense; done", FailureKind::BrowserTimedOut, "the driver printed: nonsense;"),
        ("echo 'started successfully on port 99999.'; exec sleep 60", FailureKind::BrowserTimedOut, "99999"),
        (
            "echo 'started successfully on port 1.'; exec sleep 60",
            FailureKind::BrowserFailed,
            "did not respond",
        ),
        (&ready, FailureKind::BrowserNotInstalled, "only supports Chrome version 120"),
        (&busy_port(1), FailureKind::BrowserFailed, "the driver printed: all is well"),
        (&busy_port(2), FailureKind::BrowserFailed, "the driver printed: all is well"),
        (&busy_port(3), FailureKind::BrowserFailed, "bind() failed: Address already in use"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join("driver");
        std::fs::write(&driver, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&driver, PermissionsExt::from_mode(0o755)).unwrap();
        // Only cases that expect a timeout have a short one.
        let start = if kind == FailureKind::BrowserTimedOut { 1 } else { 20 };
        let test_pool = TestPool::with(|config| {
            *config = BrowserPoolConfig {
                chromium: Some("/bin/sh".into()),
                chromedriver: Some(driver),
                start_timeout: Duration::from_secs(start),
                ..config.clone()
            };
        });
        let options = session_options(BrowserKind::Chrome);
        let forward = test_pool.forward(&options).await;
        let failure = test_pool.open(&options, &forward).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{script}: {failure}");
        assert!(failure.detail.contains(text), "{script}: {failure}");
        test_pool.assert_empty().await;
        assert_eq!(processes_of(folder.path()), Vec::<String>::new());
    }
}

/// Starts a fake driver that responds to every request with the error for an unsupported version.
async fn refusing_driver() -> u16 {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let message = "session not created: This version of ChromeDriver only supports Chrome version 120";
    let value = json!({ "value": { "error": "session not created", "message": message, "stacktrace": "" } });
    let body = value.to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut read = [0; 16384];
            let _ = stream.read(&mut read).await;
            let head = format!(
                "HTTP/1.1 500 Error\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    port
}

#[tokio::test]
async fn a_missing_browser_or_driver_is_named_with_its_setting() {
    let nowhere = |config: &mut BrowserPoolConfig| {
        config.chromium = Some("/nowhere/chromium".into());
        config.geckodriver = Some("/etc/passwd".into());
        config.firefox = Some("/bin/sh".into());
        config.os_user = None;
    };
    for (kind, text) in [
        (BrowserKind::Chrome, "`browser.chromium`: `/nowhere/chromium` is not an executable file"),
        (BrowserKind::Firefox, "`browser.geckodriver`: `/etc/passwd` is not an executable file"),
        (BrowserKind::InternetExplorer, "`browser.remote`"),
    ] {
        let test_pool = TestPool::with(nowhere);
        let forward = test_pool.forward(&session_options(kind)).await;
        let failure = test_pool.open(&session_options(kind), &forward).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::BrowserNotInstalled, "{failure}");
        assert!(failure.detail.contains(text), "{failure}");
        test_pool.assert_empty().await;
    }
    let test_pool = TestPool::with(|config| config.os_user = Some("nobody-of-this-name".to_owned()));
    let failure = test_pool
        .pool
        .proxy_config(&session_options(BrowserKind::Chrome), BlockedHosts::default())
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotConfigured, "{failure}");
}
