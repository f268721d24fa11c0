//! However a check ends, nothing of its browser is left.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use vigie::browser::{BrowserKind, BrowserPoolConfig};
use vigie::domain::FailureKind;
use vigie::forward_proxy::BlockedHosts;

use crate::browser_house::world::{Site, World, browsers, processes_of, wish};
use crate::support::side_by_side::each;

#[tokio::test]
async fn a_check_that_is_dropped_takes_its_browser_with_it() {
    each(browsers("a_check_that_is_dropped_takes_its_browser_with_it"), async |kind| {
        let world = World::new();
        let options = wish(kind);
        let forward = world.forward(&options).await;
        let opened = world.open(&options, &forward).await.unwrap();
        assert!(!world.processes().is_empty() && !world.profiles().is_empty());
        drop(opened);
        world.empty().await;
    })
    .await;
}

#[tokio::test]
async fn a_check_that_is_dropped_while_its_browser_starts_leaves_nothing() {
    each(browsers("a_check_that_is_dropped_while_its_browser_starts_leaves_nothing"), async |kind| {
        for millis in [1, 60, 250] {
            let world = World::new();
            let options = wish(kind);
            let forward = world.forward(&options).await;
            let opening = world.open(&options, &forward);
            // The moment is arbitrary, and what is looked for holds at each.
            let early = tokio::time::timeout(Duration::from_millis(millis), opening).await;
            drop(early);
            world.empty().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_driver_or_browser_that_is_killed_or_stopped_is_told_and_leaves_nothing() {
    each(
        browsers("a_driver_or_browser_that_is_killed_or_stopped_is_told_and_leaves_nothing"),
        async |kind| {
            let headless = if kind == BrowserKind::Firefox { "-headless" } else { "--headless" };
            for (victim, signal, text) in [
                ("driver ", Signal::SIGKILL, "SIGKILL"),
                (headless, Signal::SIGKILL, "the browser ended"),
                ("driver ", Signal::SIGSTOP, "the driver is stopped"),
                (headless, Signal::SIGSTOP, "the browser is stopped"),
            ] {
                let world = World::new();
                let options = wish(kind);
                let forward = world.forward(&options).await;
                let mut opened = world.open(&options, &forward).await.unwrap();
                let all = world.processes();
                let first = |line: &&String| {
                    line.contains(victim) && !line.contains(" --type=") && !line.contains("-contentproc")
                };
                let line = all.iter().find(first).unwrap_or_else(|| panic!("{all:#?}"));
                let id = line.split('/').nth(2).unwrap().split(' ').next().unwrap().parse().unwrap();
                kill(Pid::from_raw(id), signal).unwrap();
                let lost = tokio::time::timeout(Duration::from_secs(20), opened.process.wait_for_failure())
                    .await
                    .unwrap();
                assert_eq!(lost.kind, FailureKind::BrowserFailed, "{kind:?} {lost}");
                assert!(lost.detail.contains(text), "{kind:?} {lost}");
                drop(opened);
                world.empty().await;
            }
        },
    )
    .await;
}

#[tokio::test]
async fn a_page_that_takes_memory_without_end_is_ended() {
    let page = "<script>let all = []; setInterval(() => all.push(new Uint8Array(3e7).fill(1)), 20)</script>";
    let site = Site::start(&[("/", page)]);
    each(browsers("a_page_that_takes_memory_without_end_is_ended"), async |kind| {
        let world = World::with(|config| config.memory_bytes = 1 << 30);
        let options = wish(kind);
        let forward = world.forward(&options).await;
        let mut opened = world.open(&options, &forward).await.unwrap();
        let growing = async {
            // The response does not matter: the page grows whether it is whole or not.
            let _ = opened.client.goto(&site.url("/")).await;
            std::future::pending::<()>().await;
        };
        let lost = world.beside(&forward, async {
            tokio::select! {
                lost = opened.process.wait_for_failure() => lost,
                () = growing => unreachable!(),
            }
        });
        let lost = tokio::time::timeout(Duration::from_mins(1), lost).await.unwrap();
        assert_eq!(lost.kind, FailureKind::BrowserTooLarge, "{lost}");
        assert!(opened.process.peak_memory_bytes().unwrap() > 1 << 30);
        drop(opened);
        world.empty().await;
    })
    .await;
}

/// What is killed below: opens a browser in the folder that it is told, and stays.
#[tokio::test]
#[ignore = "part of another test, which runs it"]
async fn a_process_with_a_browser() {
    let folder = std::env::var("VIGIE_TEST_FOLDER").unwrap();
    let world = World::with(|config| config.folder = Some(folder.into()));
    let kind = BrowserKind::from_name(&std::env::var("VIGIE_TEST_BROWSER").unwrap()).unwrap();
    let forward = world.forward(&wish(kind)).await;
    let opened = world.open(&wish(kind), &forward).await.unwrap();
    println!("\nready");
    world.beside(&forward, std::future::pending::<()>()).await;
    drop(opened);
}

#[tokio::test]
async fn what_a_killed_process_left_is_ended_by_the_next_and_nothing_else() {
    for kind in browsers("what_a_killed_process_left_is_ended_by_the_next_and_nothing_else") {
        let world = World::new();
        // One of a process that lives stays, though it is in the same folder.
        let options = wish(kind);
        let forward = world.forward(&options).await;
        let living = world.open(&options, &forward).await.unwrap();
        let own = world.profiles();
        let mut other = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "browser_house::endings::a_process_with_a_browser", "--ignored", "--nocapture"])
            .env("VIGIE_TEST_FOLDER", world.folder())
            .env("VIGIE_TEST_BROWSER", kind.name())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "it ended before it was ready");
        assert!(world.profiles().len() > own.len());
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(world.pool.reap_orphans(), 1);
        assert_eq!(world.profiles(), own, "{kind:?}");
        let strangers: Vec<_> =
            world.processes().into_iter().filter(|line| !line.contains(&token(&own))).collect();
        let left: Vec<_> =
            strangers.iter().filter(|line| line.contains(&*world.folder().to_string_lossy())).collect();
        assert!(left.is_empty(), "{left:#?}");
        assert_eq!(world.pool.reap_orphans(), 0);
        assert!(living.client.title().await.is_ok(), "the other browser is dead");
        drop(living);
        world.empty().await;
    }
}

fn token(profiles: &[String]) -> String {
    profiles.iter().find(|name| !name.contains(".lock")).unwrap().clone()
}

#[tokio::test]
async fn a_driver_that_does_not_do_its_work_is_told_in_time() {
    use std::os::unix::fs::PermissionsExt;
    // Says that a browser of another version is not for it.
    let refusing = refusing_driver().await;
    let ready = format!("echo 'ChromeDriver was started successfully on port {refusing}.'; exec sleep 60");
    // Finds its port taken so many times. Its marks are beside it.
    let late = |times: usize| {
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
        (&ready, FailureKind::BrowserMissing, "only supports Chrome version 120"),
        (&late(1), FailureKind::BrowserFailed, "the driver printed: all is well"),
        (&late(2), FailureKind::BrowserFailed, "the driver printed: all is well"),
        (&late(3), FailureKind::BrowserFailed, "bind() failed: Address already in use"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join("driver");
        std::fs::write(&driver, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&driver, PermissionsExt::from_mode(0o755)).unwrap();
        // Only those that are late have to be so soon.
        let start = if kind == FailureKind::BrowserTimedOut { 1 } else { 20 };
        let world = World::with(|config| {
            *config = BrowserPoolConfig {
                chromium: Some("/bin/sh".into()),
                chromedriver: Some(driver),
                start_timeout: Duration::from_secs(start),
                ..config.clone()
            };
        });
        let options = wish(BrowserKind::Chrome);
        let forward = world.forward(&options).await;
        let failure = world.open(&options, &forward).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{script}: {failure}");
        assert!(failure.detail.contains(text), "{script}: {failure}");
        world.empty().await;
        assert_eq!(processes_of(folder.path()), Vec::<String>::new());
    }
}

/// A driver's port that answers every request with the error of a version that does not fit.
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
async fn what_is_not_there_is_named_with_its_remedy() {
    let nowhere = |config: &mut BrowserPoolConfig| {
        config.chromium = Some("/nowhere/chromium".into());
        config.geckodriver = Some("/etc/passwd".into());
        config.firefox = Some("/bin/sh".into());
        config.user = None;
    };
    for (kind, text) in [
        (BrowserKind::Chrome, "`browser.chromium`: `/nowhere/chromium` is not an executable file"),
        (BrowserKind::Firefox, "`browser.geckodriver`: `/etc/passwd` is not an executable file"),
        (BrowserKind::InternetExplorer, "`browser.remote`"),
    ] {
        let world = World::with(nowhere);
        let forward = world.forward(&wish(kind)).await;
        let failure = world.open(&wish(kind), &forward).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::BrowserMissing, "{failure}");
        assert!(failure.detail.contains(text), "{failure}");
        world.empty().await;
    }
    let world = World::with(|config| config.user = Some("nobody-of-this-name".to_owned()));
    let failure = world.pool.proxy_config(&wish(BrowserKind::Chrome), BlockedHosts::default()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotConfigured, "{failure}");
}
