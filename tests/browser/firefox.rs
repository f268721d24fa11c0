//! Behaviour specific to Firefox: misbehaving pages and drivers, as `misbehaviour` tests them with Chromium, and
//! requests reported over `WebDriver BiDi`.

use nix::sys::signal::Signal;
use serde_json::json;
use vigie::browser::{BrowserKind, DeviceProfile};
use vigie::domain::{FailureKind, Observation, PageObject};
use vigie::forward_proxy::BlockedHosts;
use vigie::net::EgressPolicy;

use crate::browser::check::{Check, browsers};
use crate::browser::misbehaviour::{failure_detail, has_screenshot, play_seconds, signal_during_play};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

/// Returns Firefox when it is installed.
fn firefox(test: &str) -> Option<BrowserKind> {
    browsers(test).into_iter().find(|kind| *kind == BrowserKind::Firefox)
}

/// Returns the objects that step `at` loaded.
fn objects(observation: &Observation, at: usize) -> &[PageObject] {
    &observation.details.steps[at].browser_step.as_ref().unwrap().objects
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_or_killed_firefox_is_not_a_fault_of_the_site() {
    let site = Site::start().await;
    let Some(kind) = firefox("a_stopped_or_killed_firefox_is_not_a_fault_of_the_site") else {
        return;
    };
    let is_driver = |line: &str| line.split(' ').nth(1).unwrap_or_default().ends_with("driver");
    let is_browser = |line: &str| line.contains("-headless") && !line.contains("-contentproc");
    let observation = signal_during_play(&site, kind, "stopped", Signal::SIGSTOP, is_driver, 90).await;
    assert!(
        failure_detail(&observation).ends_with("the driver is stopped"),
        "{}",
        failure_detail(&observation)
    );
    let observation = signal_during_play(&site, kind, "halted", Signal::SIGSTOP, is_browser, 90).await;
    assert!(
        failure_detail(&observation).ends_with("the browser is stopped"),
        "{}",
        failure_detail(&observation)
    );
    signal_during_play(&site, kind, "dies", Signal::SIGKILL, is_driver, 90).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_computation_ends_with_the_step_in_firefox() {
    let site = Site::start().await;
    let Some(kind) = firefox("an_endless_computation_ends_with_the_step_in_firefox") else {
        return;
    };
    let steps = r#"<step name="One" timeout="8"><open url="/pages/spin"/><click id="spin"/><assert-title equals="Spin"/></step>"#;
    let observation = Check::new(kind, &site.url("/"), steps).fails(80).await;
    assert!(
        failure_detail(&observation).contains("was not done within 8 s"),
        "{}",
        failure_detail(&observation)
    );
    // Beside the 8 s, 12 s for what a busy browser never answers: whether it is alive, and the screenshot.
    assert!(play_seconds(&observation) < 23.0, "{}", play_seconds(&observation));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_million_nodes_is_searched_in_firefox() {
    let site = Site::start().await;
    let Some(kind) = firefox("a_page_of_a_million_nodes_is_searched_in_firefox") else { return };
    let steps = r#"<step name="One"><open url="/pages/nodes"/><assert-text id="end" equals="end"/><assert-count css="i" equals="1000000"/><click css="i" timeout="1"/></step>"#;
    let check = Check::new(kind, &site.url("/"), steps).with(json!({"timeout": 60}));
    let observation = check.fails(91).await;
    assert!(
        failure_detail(&observation).contains("matches 1000000 elements") && has_screenshot(&observation),
        "{}",
        failure_detail(&observation)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn most_pop_ups_of_a_storm_are_blocked_in_firefox() {
    let site = Site::start().await;
    let Some(kind) = firefox("most_pop_ups_of_a_storm_are_blocked_in_firefox") else { return };
    let steps = r#"<step name="One"><open url="/pages/popups"/><click id="storm"/><switch-window to="newest"/><assert-title equals="Popup"/><switch-window to="main"/><assert-title equals="Popups"/></step>"#;
    Check::new(kind, &site.url("/"), steps).passes().await;
    let opened = site.paths().iter().filter(|path| path.starts_with("/pages/popup?")).count();
    assert!((1..=30).contains(&opened), "{opened} of 50 were opened");
}

// Browsers report such a URL in full, several times.
#[tokio::test(flavor = "multi_thread")]
async fn a_url_of_megabytes_breaks_neither_check_nor_network_log() {
    let site = Site::start().await;
    each(browsers("a_url_of_megabytes_breaks_neither_check_nor_network_log"), async |kind| {
        let steps = r#"<step name="One"><open url="/pages/stay"/>
<run-js into="length">console.log('y'.repeat(6e6)); return fetch('data:text/plain,' + 'x'.repeat(6e6)).then(answer => answer.text()).then(text => text.length);</run-js>
<run-js>return fetch('/data?after').then(answer => answer.text());</run-js>
<wait-for-network-quiet quiet="0.5"/><type id="field" text="{{length}}" optional="true" timeout="0.1"/></step>
<step name="Two"><open url="/pages/objects"/></step>"#;
        let observation = Check::new(kind, &site.url("/"), steps).passes().await;
        let after = objects(&observation, 0).iter().find(|object| object.url.ends_with("/data?after"));
        assert_eq!(after.map(|object| object.http_status), Some(200), "{kind:?} {:?}", objects(&observation, 0));
        let pages = objects(&observation, 1).iter().filter(|object| object.url.contains("/pages/")).count();
        assert_eq!(pages, 4, "{kind:?} {:?}", objects(&observation, 1));
        let size = serde_json::to_string(&observation.details).unwrap().len();
        assert!(size < 100_000, "{kind:?} {size}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_a_page_opens_are_in_the_waterfall() {
    let site = Site::start().await;
    each(browsers("windows_that_a_page_opens_are_in_the_waterfall"), async |kind| {
        for opening in [
            "a.target = '_blank'; a.href = '/pages/objects'",
            "a.href = '#'; a.onclick = () => { window.open('/pages/objects'); return false; }",
        ] {
            let link = format!("const a = document.createElement('a'); a.id = 'away'; a.textContent = 'Away'; {opening}; document.body.append(a)").replace("=>", "=&gt;");
            let steps = format!(
                r#"<step name="Main"><open url="/pages/stay"/><run-js>{link}</run-js></step>
<step name="Window"><click id="away"/><switch-window to="newest"/><assert-title equals="Objects"/><wait-for-network-quiet quiet="0.5"/>
<run-js>return fetch('/data?inside').then(answer => answer.text());</run-js></step>
<step name="Next"><open url="/pages/late"/></step>
<step name="Back"><close-window/><run-js>return fetch('/data?back').then(answer => answer.text());</run-js></step>"#
            ).replace("=>", "=&gt;");
            let observation = Check::new(kind, &site.url("/"), &steps).passes().await;
            for (at, paths) in [
                (0, &["/pages/stay"][..]),
                (1, &["/pages/objects", "/pages/style", "/pages/script", "/pages/image", "/data?inside"]),
                (2, &["/pages/late"]),
                (3, &["/data?back"]),
            ] {
                let mut expected: Vec<(String, u16)> = paths.iter().map(|path| (site.url(path), 200)).collect();
                let mut found: Vec<(String, u16)> = objects(&observation, at)
                    .iter()
                    .filter(|object| !object.url.ends_with("/favicon.ico"))
                    .map(|object| (object.url.clone(), object.http_status))
                    .collect();
                expected.sort();
                found.sort();
                assert_eq!(found, expected, "{kind:?} {opening}");
            }
            assert_eq!(observation.details.steps[1].browser_step.as_ref().unwrap().http_status, 200, "{kind:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_of_the_proxy_are_not_responses_of_the_site() {
    let site = Site::start().await;
    let closed = crate::support::closed::ClosedPort::new();
    let dead = closed.at;
    each(browsers("refusals_of_the_proxy_are_not_responses_of_the_site"), async |kind| {
        let steps = format!(
            r#"<step name="One"><open url="/pages/stay"/>
<run-js>return Promise.allSettled(['http://{dead}/a', 'https://{dead}/b', 'http://127.0.0.9/c', 'https://127.0.0.9/d', 'http://localhost/e', 'https://localhost/f', '/status/403'].map(url =&gt; fetch(url, {{mode: 'no-cors'}})));</run-js>
<wait-for-network-quiet quiet="0.5"/></step>"#
        );
        let mut check = Check::new(kind, &site.url("/"), &steps).with(json!({"subtype": 1}));
        check.config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.9/32"]).unwrap();
        let blocked = BlockedHosts::parse(&["localhost"]).unwrap();
        check.devices = [(1, DeviceProfile { blocked_hosts: blocked, ..DeviceProfile::default() })].into();
        let observation = check.passes().await;
        // Requests that Vigie itself blocks have no failure, since they are not the fault of the site.
        for (url, status, failure) in [
            (format!("http://{dead}/a"), 0, Some(FailureKind::ConnectRefused)),
            (format!("https://{dead}/b"), 0, Some(FailureKind::ConnectRefused)),
            ("http://127.0.0.9/c".to_owned(), 0, None),
            ("https://127.0.0.9/d".to_owned(), 0, None),
            ("http://localhost/e".to_owned(), 0, None),
            ("https://localhost/f".to_owned(), 0, None),
            (site.url("/status/403"), 403, Some(FailureKind::HttpErrorStatus)),
        ] {
            let object = objects(&observation, 0).iter().find(|object| object.url == url);
            let object = object.unwrap_or_else(|| panic!("{kind:?} {url} {:?}", objects(&observation, 0)));
            let found = object.failure.as_ref().map(|failure| failure.kind);
            let actual = (object.http_status, found, object.blocked);
            assert_eq!(actual, (status, failure, failure.is_none()), "{kind:?} {object:?}");
        }
    })
    .await;
}
