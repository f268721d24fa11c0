//! Pages and drivers that misbehave: each check has the right status, says why in words, keeps a picture where there is
//! a page, and is over in its time. That no process and no profile is left is seen by [`Check::run`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::time::Instant;
use vigie::browser::BrowserKind;
use vigie::domain::{Capture, Observation, Phase};

use crate::browser::check::{Check, browsers, one};
use crate::browser::site::Site;
use crate::support::processes::processes_of;
use crate::support::side_by_side::each;

/// Why it failed.
pub fn why(observation: &Observation) -> &str {
    &observation.failure.as_ref().unwrap().detail
}

pub fn has_picture(observation: &Observation) -> bool {
    observation.captures.iter().any(|file| file.mimetype == "image/jpeg" && file.content_len() > 500)
}

/// Seconds that were played, with all that was looked at afterwards; the start of a browser may take long where others
/// are at work.
pub fn played(observation: &Observation) -> f64 {
    f64::from(observation.phases.micros(Phase::Play).unwrap()) / 1e6
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_never_loads_is_told_with_a_picture_of_what_there_was() {
    let site = Site::start().await;
    let Some(kind) = one("a_page_that_never_loads_is_told_with_a_picture_of_what_there_was") else { return };
    for page in ["/never", "/hanging"] {
        let check = Check::bare(kind, json!({"url": site.url(page), "timeout": 2}));
        let observation = check.fails(82).await;
        assert!(why(&observation).contains("the page load was not done within 2 s"), "{}", why(&observation));
        assert!(has_picture(&observation), "{page}: {:?}", observation.captures);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_in_a_loop_are_a_dialog_that_nobody_asked_for() {
    let site = Site::start().await;
    each(browsers("alerts_in_a_loop_are_a_dialog_that_nobody_asked_for"), async |kind| {
        for page in ["alerts", "alerting"] {
            let steps = format!(
                r#"<step name="One"><open url="/pages/{page}"/><wait-for id="never" timeout="10"/></step>"#
            );
            let observation = Check::of(kind, &site.url("/"), &steps).fails(93).await;
            assert!(why(&observation).ends_with("in line 1: it says `again`"), "{}", why(&observation));
            assert!(has_picture(&observation), "{page}: {:?}", observation.captures);
            assert!(played(&observation) < 20.0, "{}", played(&observation));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_names_its_act_also_where_it_quotes_the_same_words() {
    let site = Site::start().await;
    let Some(kind) = one("a_failure_names_its_act_also_where_it_quotes_the_same_words") else { return };
    let steps = r#"<step name="One"><open url="/pages/stay"/><wait-for-text contains="`wait-for-text` in line 1" timeout="0.5"/></step>"#;
    let observation = Check::of(kind, &site.url("/"), steps).fails(85).await;
    assert!(why(&observation).starts_with("`wait-for-text` in line 1: "), "{}", why(&observation));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_never_ends_to_compute_ends_with_the_step() {
    let site = Site::start().await;
    let Some(kind) = one("a_page_that_never_ends_to_compute_ends_with_the_step") else { return };
    let steps = r#"<step name="One" timeout="3"><open url="/pages/spin"/><click id="spin"/><assert-title equals="Spin"/></step>"#;
    let observation = Check::of(kind, &site.url("/"), steps).fails(80).await;
    assert!(why(&observation).contains("was not done within 3 s"), "{}", why(&observation));
    // Firefox gives none of a page that does not answer.
    assert!(has_picture(&observation) || kind == BrowserKind::Firefox, "{:?}", observation.captures);
    assert!(played(&observation) < 15.0, "{}", played(&observation));
}

/// Waits until the site was asked for `path`.
async fn asked(site: &Site, path: &str) {
    let asked = async {
        while !site.paths().iter().any(|asked| asked == path) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let within = tokio::time::timeout(Duration::from_mins(2), asked).await;
    within.unwrap_or_else(|_| panic!("nobody asked for {path}"));
}

/// Sends `signal` to the processes of `folder` whose command line `fits`, as soon as there is one.
async fn signalled(folder: &Path, signal: Signal, fits: impl Fn(&str) -> bool) {
    let ends = Instant::now() + Duration::from_secs(20);
    loop {
        let all = processes_of(folder);
        let chosen: Vec<&String> = all.iter().filter(|line| fits(line)).collect();
        for line in &chosen {
            let id = line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(id), signal);
        }
        if !chosen.is_empty() {
            return;
        }
        assert!(Instant::now() < ends, "no such process: {all:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Plays until the page asks for a mark, sends `signal` to what `fits`, and expects `status`.
pub async fn hit(
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
    let check = Check::of(kind, &site.url("/"), &steps);
    let folder = check.folder();
    let hit = async {
        asked(site, &format!("/data?{mark}")).await;
        signalled(&folder, signal, fits).await;
    };
    let (observation, ()) = tokio::join!(check.fails(status), hit);
    assert!(played(&observation) < 25.0, "{}", played(&observation));
    observation
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_crashes_is_no_fault_of_the_site() {
    let site = Site::start().await;
    each(browsers("a_tab_that_crashes_is_no_fault_of_the_site"), async |kind| {
        let renders = |line: &str| match kind {
            BrowserKind::Chrome => line.contains("--type=renderer"),
            _ => line.contains("-contentproc") && line.trim_end().ends_with(" tab"),
        };
        let mark = kind.name().split(' ').next().unwrap();
        let observation = hit(&site, kind, mark, Signal::SIGKILL, renders, 90).await;
        // Firefox ends as a whole where somebody automates it.
        let text = if kind == BrowserKind::Firefox { "the browser ended" } else { "the tab crashed" };
        assert!(why(&observation).ends_with(text), "{kind:?} {}", why(&observation));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_driver_that_hangs_or_dies_is_no_fault_of_the_site() {
    let site = Site::start().await;
    let Some(kind) = one("a_driver_that_hangs_or_dies_is_no_fault_of_the_site") else { return };
    let is_driver = |line: &str| line.split(' ').nth(1).unwrap_or_default().ends_with("driver");
    let observation = hit(&site, kind, "hangs", Signal::SIGSTOP, is_driver, 90).await;
    assert!(why(&observation).ends_with("the driver is stopped"), "{}", why(&observation));
    hit(&site, kind, "dies", Signal::SIGKILL, is_driver, 90).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_grows_past_its_limit_is_ended_and_told() {
    let site = Site::start().await;
    let Some(kind) = one("a_browser_that_grows_past_its_limit_is_ended_and_told") else { return };
    let steps = r#"<step name="One"><open url="/pages/greedy"/><wait-for id="never"/></step>"#;
    let check = Check::of(kind, &site.url("/"), steps).housed(|config| config.memory_bytes = 900 << 20);
    let observation = check.fails(90).await;
    assert!(why(&observation).contains("MiB, and `browser.memory_mb` is 900"), "{}", why(&observation));
    assert!(observation.details.browser.as_ref().unwrap().memory_bytes.unwrap() > 900 << 20);
    // The step that was under way says so too.
    let step = &observation.details.steps[0];
    assert_eq!((step.status.0, step.failures.first()), (90, observation.failure.as_ref()));
    assert!(
        step.total_us > 0 && f64::from(u32::try_from(step.total_us).unwrap()) / 1e6 <= played(&observation)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_nodes_are_looked_through() {
    let site = Site::start().await;
    let Some(kind) = one("a_million_nodes_are_looked_through") else { return };
    let steps = r#"<step name="One"><open url="/pages/nodes"/><assert-text id="end" equals="end"/><assert-count css="i" equals="1000000"/><click css="i" timeout="1"/></step>"#;
    let check = Check::of(kind, &site.url("/"), steps).with(json!({"timeout": 60}));
    let observation = check.fails(91).await;
    assert!(why(&observation).contains("matches 1000000 elements"), "{}", why(&observation));
    let held: usize = observation.captures.iter().map(Capture::content_len).sum();
    assert!(has_picture(&observation) && held < 2 << 20, "{held}");
}

/// Files below `folder` that a download leaves.
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

/// Everything that a browser writes is below its profile, which is searched as long as it plays.
#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_refused_and_a_print_dialog_holds_nothing_up() {
    let site = Site::start().await;
    each(browsers("downloads_are_refused_and_a_print_dialog_holds_nothing_up"), async |kind| {
        let steps = r#"<step name="Print" timeout="10"><open url="/pages/print"/><click id="print"/><assert-title equals="Printed"/></step>
<step name="Get"><open url="/pages/download"/><click id="get"/><wait-for-network-quiet quiet="0.5"/><assert-title equals="Download"/></step>
<step name="Open" timeout="10"><open url="/download"/></step>"#;
        let check = Check::of(kind, &site.url("/"), steps);
        let folder = check.folder();
        let mut found = Vec::new();
        let watch = async {
            loop {
                found.extend(downloads(&folder));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let seen = tokio::select! { seen = check.run() => seen, () = watch => unreachable!() };
        // Firefox has begun when it can be told to end; what it wrote goes with the profile.
        assert!(kind == BrowserKind::Firefox || found.is_empty(), "{found:?}");
        let statuses: Vec<u16> = seen.details.steps.iter().map(|step| step.status.0).collect();
        assert_eq!(statuses, [0, 0, 3], "{kind:?} {:?}", seen.failure);
        assert!(why(&seen).ends_with("it is a download, and those are refused"), "{}", why(&seen));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_pop_ups_is_calmed() {
    let site = Site::start().await;
    let Some(kind) = one("a_storm_of_pop_ups_is_calmed") else { return };
    let steps = r#"<step name="One"><open url="/pages/popups"/><click id="storm"/><switch-window to="newest"/><assert-title equals="Popup"/><switch-window to="main"/><assert-title equals="Popups"/></step>"#;
    Check::of(kind, &site.url("/"), steps).passes().await;
    let opened = site.paths().iter().filter(|path| path.starts_with("/pages/popup?")).count();
    assert!((1..=3).contains(&opened), "{opened} of 50 were opened");
}

/// A page that the browser puts in place of the site's is told as what it stands for, however it was come to.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_page_behind_a_click_is_told_as_what_it_stands_for() {
    let site = Site::start().await;
    let closed = crate::support::closed::ClosedPort::new();
    let dead = closed.at;
    let Some(kind) = one("an_error_page_behind_a_click_is_told_as_what_it_stands_for") else { return };
    let assert = r#"<assert-title equals="Never" timeout="0.5"/>"#;
    for (scheme, after) in [("https", ""), ("https", assert), ("http", assert)] {
        let link = format!(
            "document.body.insertAdjacentHTML('beforeend', '[a id=dead href={scheme}://{dead}/]Away[/a]'.replaceAll('[', String.fromCharCode(60)).replaceAll(']', String.fromCharCode(62)))"
        );
        let steps = format!(
            r#"<step name="One"><open url="/pages/stay"/><run-js>{link}</run-js><click id="dead" expect="location"/>{after}</step>"#
        );
        let observation = Check::of(kind, &site.url("/"), &steps).fails(1).await;
        assert!(why(&observation).contains(&dead.to_string()), "{}", why(&observation));
    }
}
