//! Pages and drivers that misbehave: each check has the right status, names the reason, captures a screenshot of the
//! page if it can, and ends in time. [`SetChecked::run`] asserts that no process and no profile is left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::time::Instant;
use vigie::browser::BrowserKind;
use vigie::domain::{CapturedFile, Observation, Phase};

use crate::browser::check::{Check, browsers, one};
use crate::browser::site::Site;
use crate::support::processes::processes_of;
use crate::support::side_by_side::each;

/// Returns the detail of the failure.
pub fn failure_detail(observation: &Observation) -> &str {
    &observation.failure.as_ref().unwrap().detail
}

pub fn has_screenshot(observation: &Observation) -> bool {
    observation
        .captures
        .iter()
        .any(|file| file.media_type == "image/jpeg" && file.loaded_content_bytes() > 500)
}

/// Returns the duration of the play phase in seconds, with the inspection at its end. The start of a browser is left
/// out, since it may take long on a busy machine.
pub fn play_seconds(observation: &Observation) -> f64 {
    f64::from(observation.phases.micros(Phase::RunScript).unwrap()) / 1e6
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_never_loads_fails_with_a_screenshot() {
    let site = Site::start().await;
    let Some(kind) = one("a_page_that_never_loads_fails_with_a_screenshot") else { return };
    for page in ["/never", "/hanging"] {
        let check = Check::without_script(kind, json!({"url": site.url(page), "timeout": 2}));
        let observation = check.fails(82).await;
        assert!(
            failure_detail(&observation).contains("the page load was not done within 2 s"),
            "{}",
            failure_detail(&observation)
        );
        assert!(has_screenshot(&observation), "{page}: {:?}", observation.captures);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_in_a_loop_fail_as_an_unexpected_dialog() {
    let site = Site::start().await;
    each(browsers("alerts_in_a_loop_fail_as_an_unexpected_dialog"), async |kind| {
        for page in ["alerts", "alerting"] {
            let steps = format!(
                r#"<step name="One"><open url="/pages/{page}"/><wait-for id="never" timeout="10"/></step>"#
            );
            let observation = Check::new(kind, &site.url("/"), &steps).fails(93).await;
            assert!(
                failure_detail(&observation).ends_with("in line 1: it says `again`"),
                "{}",
                failure_detail(&observation)
            );
            assert!(has_screenshot(&observation), "{page}: {:?}", observation.captures);
            assert!(play_seconds(&observation) < 20.0, "{}", play_seconds(&observation));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_names_its_act_even_when_it_quotes_the_same_text() {
    let site = Site::start().await;
    let Some(kind) = one("a_failure_names_its_act_even_when_it_quotes_the_same_text") else { return };
    let steps = r#"<step name="One"><open url="/pages/stay"/><wait-for-text contains="`wait-for-text` in line 1" timeout="0.5"/></step>"#;
    let observation = Check::new(kind, &site.url("/"), steps).fails(85).await;
    assert!(
        failure_detail(&observation).starts_with("`wait-for-text` in line 1: "),
        "{}",
        failure_detail(&observation)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_computation_ends_with_the_step() {
    let site = Site::start().await;
    let Some(kind) = one("an_endless_computation_ends_with_the_step") else { return };
    let steps = r#"<step name="One" timeout="3"><open url="/pages/spin"/><click id="spin"/><assert-title equals="Spin"/></step>"#;
    let observation = Check::new(kind, &site.url("/"), steps).fails(80).await;
    assert!(
        failure_detail(&observation).contains("was not done within 3 s"),
        "{}",
        failure_detail(&observation)
    );
    // Firefox takes no screenshot of a page that does not respond.
    assert!(has_screenshot(&observation) || kind == BrowserKind::Firefox, "{:?}", observation.captures);
    assert!(play_seconds(&observation) < 15.0, "{}", play_seconds(&observation));
}

/// Waits until the site has received a request for `path`.
async fn wait_for_request(site: &Site, path: &str) {
    while !site.paths().iter().any(|requested| requested == path) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Sends `signal` to the processes of `folder` whose command line `fits`, once one exists.
async fn signal_when_started(folder: &Path, signal: Signal, fits: impl Fn(&str) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let all = processes_of(folder);
        let matching: Vec<&String> = all.iter().filter(|line| fits(line)).collect();
        for line in &matching {
            let id = line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(id), signal);
        }
        if !matching.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "no such process: {all:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Plays until the page requests a mark, sends `signal` to the processes that `fits` selects, and expects `status`.
pub async fn signal_during_play(
    site: &Site,
    kind: BrowserKind,
    mark: &str,
    signal: Signal,
    fits: impl Fn(&str) -> bool,
    status: u16,
) -> Observation {
    let steps = format!(
        r#"<step name="One" timeout="8"><open url="/pages/stay"/><run-js>fetch('/data?{mark}')</run-js><wait-for id="never"/></step>"#
    );
    let check = Check::new(kind, &site.url("/"), &steps);
    let folder = check.folder();
    let send_signal = async {
        wait_for_request(site, &format!("/data?{mark}")).await;
        signal_when_started(&folder, signal, fits).await;
    };
    // The check has time limits; how long it waits for a free browser depends on the other tests.
    let mut play = std::pin::pin!(check.fails(status));
    tokio::select! {
        observation = &mut play => panic!("it ended before the signal: {:?}", observation.failure),
        () = send_signal => {}
    }
    let observation = play.await;
    assert!(play_seconds(&observation) < 25.0, "{}", play_seconds(&observation));
    observation
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_tab_is_not_a_fault_of_the_site() {
    let site = Site::start().await;
    each(browsers("a_crashed_tab_is_not_a_fault_of_the_site"), async |kind| {
        let renders = |line: &str| match kind {
            BrowserKind::Chrome => line.contains("--type=renderer"),
            _ => line.contains("-contentproc") && line.trim_end().ends_with(" tab"),
        };
        let mark = kind.name().split(' ').next().unwrap();
        let observation = signal_during_play(&site, kind, mark, Signal::SIGKILL, renders, 90).await;
        // Firefox under automation ends as a whole.
        let text = if kind == BrowserKind::Firefox { "the browser ended" } else { "the tab crashed" };
        assert!(failure_detail(&observation).ends_with(text), "{kind:?} {}", failure_detail(&observation));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_or_killed_driver_is_not_a_fault_of_the_site() {
    let site = Site::start().await;
    let Some(kind) = one("a_stopped_or_killed_driver_is_not_a_fault_of_the_site") else { return };
    let is_driver = |line: &str| line.split(' ').nth(1).unwrap_or_default().ends_with("driver");
    let observation = signal_during_play(&site, kind, "hangs", Signal::SIGSTOP, is_driver, 90).await;
    assert!(
        failure_detail(&observation).ends_with("the driver is stopped"),
        "{}",
        failure_detail(&observation)
    );
    signal_during_play(&site, kind, "dies", Signal::SIGKILL, is_driver, 90).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_over_its_memory_limit_is_killed_and_reported() {
    let site = Site::start().await;
    let Some(kind) = one("a_browser_over_its_memory_limit_is_killed_and_reported") else { return };
    let steps = r#"<step name="One"><open url="/pages/greedy"/><wait-for id="never"/></step>"#;
    let check = Check::new(kind, &site.url("/"), steps)
        .with_pool_config(|config| config.max_memory_bytes_per_browser = 900 << 20);
    let observation = check.fails(90).await;
    assert!(
        failure_detail(&observation).contains("MiB; `browser.memory_mb` is 900"),
        "{}",
        failure_detail(&observation)
    );
    assert!(observation.details.browser.as_ref().unwrap().peak_memory_bytes.unwrap() > 900 << 20);
    // The step in progress has the same failure.
    let step = &observation.details.steps[0];
    assert_eq!((step.status.0, step.failures.first()), (90, observation.failure.as_ref()));
    assert!(
        step.duration_us > 0
            && f64::from(u32::try_from(step.duration_us).unwrap()) / 1e6 <= play_seconds(&observation)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_million_nodes_is_searched() {
    let site = Site::start().await;
    let Some(kind) = one("a_page_of_a_million_nodes_is_searched") else { return };
    let steps = r#"<step name="One"><open url="/pages/nodes"/><assert-text id="end" equals="end"/><assert-count css="i" equals="1000000"/><click css="i" timeout="1"/></step>"#;
    let check = Check::new(kind, &site.url("/"), steps).with(json!({"timeout": 60}));
    let observation = check.fails(91).await;
    assert!(
        failure_detail(&observation).contains("matches 1000000 elements"),
        "{}",
        failure_detail(&observation)
    );
    let size: usize = observation.captures.iter().map(CapturedFile::loaded_content_bytes).sum();
    assert!(has_screenshot(&observation) && size < 2 << 20, "{size}");
}

/// Returns the files below `folder` that a download has left.
fn downloads(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            } else if name.starts_with("big") || name.contains(".crdownload") {
                found.push(entry.path());
            }
        }
    }
    found
}

// A browser writes only below its profile, which is searched while it plays.
#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_refused_and_print_dialogs_do_not_block() {
    let site = Site::start().await;
    each(browsers("downloads_are_refused_and_print_dialogs_do_not_block"), async |kind| {
        let steps = r#"<step name="Print" timeout="10"><open url="/pages/print"/><click id="print"/><assert-title equals="Printed"/></step>
<step name="Get"><open url="/pages/download"/><click id="get"/><wait-for-network-quiet quiet="0.5"/><assert-title equals="Download"/></step>
<step name="Open" timeout="10"><open url="/download"/></step>"#;
        let check = Check::new(kind, &site.url("/"), steps);
        let folder = check.folder();
        let mut found = Vec::new();
        let watch = async {
            loop {
                found.extend(downloads(&folder));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let observation = tokio::select! { observation = check.run() => observation, () = watch => unreachable!() };
        // Firefox has started the download before it can be cancelled; its file is deleted with the profile.
        assert!(kind == BrowserKind::Firefox || found.is_empty(), "{found:?}");
        let statuses: Vec<u16> = observation.details.steps.iter().map(|step| step.status.0).collect();
        assert_eq!(statuses, [0, 0, 3], "{kind:?} {:?}", observation.failure);
        assert!(failure_detail(&observation).ends_with("it is a download, and those are refused"), "{}", failure_detail(&observation));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn most_pop_ups_of_a_storm_are_blocked() {
    let site = Site::start().await;
    let Some(kind) = one("most_pop_ups_of_a_storm_are_blocked") else { return };
    let steps = r#"<step name="One"><open url="/pages/popups"/><click id="storm"/><switch-window to="newest"/><assert-title equals="Popup"/><switch-window to="main"/><assert-title equals="Popups"/></step>"#;
    Check::new(kind, &site.url("/"), steps).passes().await;
    let opened = site.paths().iter().filter(|path| path.starts_with("/pages/popup?")).count();
    assert!((1..=3).contains(&opened), "{opened} of 50 were opened");
}

// An error page of the browser is reported with its cause, however it was reached.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_page_after_a_click_is_reported_with_its_cause() {
    let site = Site::start().await;
    let closed = crate::support::closed::ClosedPort::new();
    let dead = closed.at;
    let Some(kind) = one("an_error_page_after_a_click_is_reported_with_its_cause") else { return };
    let assert = r#"<assert-title equals="Never" timeout="0.5"/>"#;
    for (scheme, after) in [("https", ""), ("https", assert), ("http", assert)] {
        let link = format!(
            "document.body.insertAdjacentHTML('beforeend', '[a id=dead href={scheme}://{dead}/]Away[/a]'.replaceAll('[', String.fromCharCode(60)).replaceAll(']', String.fromCharCode(62)))"
        );
        let steps = format!(
            r#"<step name="One"><open url="/pages/stay"/><run-js>{link}</run-js><click id="dead" expect="location"/>{after}</step>"#
        );
        let observation = Check::new(kind, &site.url("/"), &steps).fails(1).await;
        assert!(failure_detail(&observation).contains(&dead.to_string()), "{}", failure_detail(&observation));
    }
}
