//! Status codes 80 to 97, each with a script that reaches it.

use std::fmt::Write;

use serde_json::json;
use vigie::browser::BrowserKind;

use crate::browser::check::{Check, browsers, is_here, one};
use crate::browser::site::Site;
use crate::support::long_tests::full;
use crate::support::side_by_side::each;

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_has_its_status_in_chromium() {
    check_each_failure(BrowserKind::Chrome, "each_failure_has_its_status_in_chromium").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_has_its_status_in_firefox() {
    check_each_failure(BrowserKind::Firefox, "each_failure_has_its_status_in_firefox").await;
}

/// Checks each failure; those that Vigie itself decides, in Firefox with the long tests only. Each browser has its own
/// test, so that they run concurrently.
async fn check_each_failure(kind: BrowserKind, test: &str) {
    if !is_here(kind, test) {
        return;
    }
    let site = Site::start().await;
    let closed = crate::support::closed::ClosedPort::new();
    let dead = closed.at;
    let refused = format!(r#"<open url="http://{dead}/"/>"#);
    let browser_decides: &[(u16, &str)] = &[
        (80, r#"<open url="/pages/stay"/><click id="covered" timeout="0.5"/>"#),
        (80, r#"<open url="/pages/stay"/><run-js>return new Promise(() => {});</run-js>"#),
        (93, r#"<open url="/pages/dialogs"/><click id="confirm"/><assert-title equals="Dialogs"/>"#),
        (97, r#"<open url="/pages/stay"/><click id="nowhere" timeout="0.5"/>"#),
        (5, r#"<open url="/pages/stay"/><run-js>throw new Error('mine');</run-js>"#),
        (7, r#"<open url="/status/503"/>"#),
        (1, &refused),
        (51, r#"<open url="http://nowhere.invalid/"/>"#),
    ];
    let vigie_decides: &[(u16, &str)] = &[
        (83, r#"<open url="/pages/stay"/><click id="nothing" expect="event:fired" timeout="0.5"/>"#),
        (84, r#"<open url="/pages/stay"/><click id="nothing" expect="location" timeout="0.5"/>"#),
        (84, r#"<open url="/pages/stay"/><wait-for-url contains="elsewhere" timeout="0.5"/>"#),
        (85, r#"<open url="/pages/stay"/><click id="nothing" expect="update" timeout="0.5"/>"#),
        (85, r#"<open url="/pages/stay"/><wait-for-text contains="never said" timeout="0.5"/>"#),
        (86, r#"<open url="/pages/busy"/><wait-for-network-quiet quiet="0.5" timeout="1.5"/>"#),
        (91, r#"<open url="/pages/stay"/><click css=".twin" timeout="0.5"/>"#),
        (
            92,
            r#"<open url="/pages/stay"/><click id="a" optional="true" timeout="0.1"/><click id="b" optional="true" timeout="0.1"/><click id="c" optional="true" timeout="0.1"/><click id="d" optional="true" timeout="0.1"/><click id="e" optional="true" timeout="0.1"/><click id="f" optional="true" timeout="0.1"/>"#,
        ),
        (5, r#"<open url="/pages/stay"/><assert-text css="h1" equals="Go" timeout="0.2"/>"#),
        (7, r#"<open url="/pages/missing"/>"#),
    ];
    let common = if kind == BrowserKind::Chrome || full() { vigie_decides } else { &[] };
    for (status, acts) in browser_decides.iter().chain(common) {
        let step = format!(r#"<step name="One" timeout="6">{acts}</step>"#);
        let observation = Check::new(kind, &site.url("/"), &step).fails(*status).await;
        assert_eq!(observation.details.steps[0].status.0, *status, "{acts}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_skipped_once_too_often_is_recorded_as_a_failure() {
    let site = Site::start().await;
    let Some(kind) = one("an_act_skipped_once_too_often_is_recorded_as_a_failure") else { return };
    let script = format!(
        r#"<script version="1" base="{}" most-skipped="1"><step name="One"><open url="/pages/stay"/>
<click id="a" optional="true" timeout="0.1"/><click id="b" optional="true" timeout="0.1"/></step></script>"#,
        site.url("/")
    );
    let observation = Check::with_script(kind, &script).fails(92).await;
    let names: Vec<&str> = observation.captures.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["step-01-act-03.jpg", "step-01-act-03.html", "step-01-act-03-headers.txt"]);
    let step = observation.details.steps[0].browser_step.as_ref().unwrap();
    assert_eq!(step.title, "Stay", "what there was is told");
    let acts: Vec<(u16, bool)> =
        step.actions.iter().map(|result| (result.status.0, result.skipped)).collect();
    assert_eq!(acts, [(0, false), (0, true), (92, false)]);
}

// row: 2.2 browserscript.step_timeout; 2.2 browserscript.continue_playback_on_timeout
#[tokio::test(flavor = "multi_thread")]
async fn each_time_limit_has_its_status() {
    let site = Site::start().await;
    each(browsers("each_time_limit_has_its_status"), async |kind| {
        let page = |fields, steps: &str| Check::new(kind, &site.url("/"), steps).with(fields);
        let never = r#"<step name="One"><open url="/never"/></step>"#;
        page(json!({"timeout": 2}), never).fails(82).await;
        page(json!({"timeout": 20, "step_timeout": 2}), never).fails(80).await;
        let opens = r#"<step name="One"><open url="/slow/900"/><open url="/slow/900"/><open url="/slow/900"/></step>"#;
        page(json!({"timeout": 2}), opens).fails(81).await;
        let two = r#"<step name="Late" timeout="1"><open url="/pages/stay"/><wait-for id="nowhere" timeout="5"/></step><step name="Next"><open url="/pages/late"/></step>"#;
        let observation = page(json!({"continue_playback_on_timeout": true}), two).fails(80).await;
        let statuses: Vec<u16> = observation.details.steps.iter().map(|step| step.status.0).collect();
        assert_eq!(statuses, [80, 0]);
        let observation = page(json!({"continue_playback_on_timeout": false}), two).fails(80).await;
        assert_eq!(observation.details.steps.len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_scripts_start_no_browser() {
    let Some(kind) = one("invalid_scripts_start_no_browser") else { return };
    let many = r#"<step name="x"><open url="/"/></step>"#.repeat(60);
    Check::new(kind, "http://127.0.0.1:1/", &many).fails(94).await;
    Check::new(kind, "http://127.0.0.1:1/", &many)
        .with(json!({"transaction_steps_allowed": 10}))
        .fails(94)
        .await;
    let observation =
        Check::with_script(kind, "<script version=\"1\">\n<step><jump/></step></script>").fails(96).await;
    assert!(observation.failure.unwrap().detail.contains("line 2"));
    let mut laughs = "<!ENTITY l0 \"ha\">".to_owned();
    for at in 1..10 {
        write!(laughs, "<!ENTITY l{at} \"{}\">", format!("&l{};", at - 1).repeat(10)).unwrap();
    }
    for (script, text) in [
        (format!("<!DOCTYPE x [{laughs}]><script><step name=\"&l9;\"/></script>"), "line 1"),
        (format!("<script>{}", "<step>".repeat(100_000)), "line 1"),
        ("<script><step name=\"x\"><open url=\"http://a/\"/></step><step name=\"y\"><clikc id=\"a\"/></step></script>".to_owned(), "clikc"),
        ("not a script".to_owned(), "line 1"),
    ] {
        let check = Check::with_script(kind, &script);
        let observation = check.fails(96).await;
        let detail = observation.failure.unwrap().detail;
        assert!(detail.contains(text) && detail.len() < 2000, "{detail}");
        assert!(observation.duration < std::time::Duration::from_secs(1) && !check.folder().exists(), "a browser was started");
    }
}
