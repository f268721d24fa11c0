//! Slow pages: the conditions of waits and their time limits.

use serde_json::json;
use vigie::browser::BrowserKind;
use vigie::domain::Phase;

use crate::browser::check::{Check, browsers, is_here, one};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

// A busy page is waited for until it responds. Its computing counts against the limit of the step, not against that of
// a single command. In the last step, the page starts to compute when Vigie reads its title at the end of the step,
// since a timer set by the click can fire after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_computing_page_is_waited_for_up_to_the_step_timeout() {
    let site = Site::start().await;
    each(browsers("a_computing_page_is_waited_for_up_to_the_step_timeout"), async |kind| {
        let steps = r#"<step name="Assert" timeout="40"><open url="/pages/computing"/><click id="go"/><assert-text id="said" equals="worked"/></step>
<step name="Skip" timeout="40"><click id="go"/><click id="absent" optional="true" timeout="0.5"/><assert-text id="said" equals="worked again"/></step>
<step name="End" timeout="40"><click id="title"/></step>"#;
        let observation = Check::new(kind, &site.url("/"), steps).passes().await;
        for step in &observation.details.steps {
            assert!(step.duration_us > 5_900_000, "{} took {} us: it did not wait", step.name, step.duration_us);
        }
        let last = observation.details.steps.last().and_then(|step| step.browser_step.as_ref());
        assert_eq!(last.map(|step| step.title.as_str()), Some("Computed"));
    })
    .await;
}

// The requests of a page that computes meanwhile are not lost, and its keyword is not searched too early.
#[tokio::test(flavor = "multi_thread")]
async fn a_computing_page_is_not_idle() {
    let site = Site::start().await;
    each(browsers("a_computing_page_is_not_idle"), async |kind| {
        let computes = "setTimeout(() =&gt; { const end = Date.now() + 4500; while (Date.now() &lt; end); document.title = 'Computed'; document.body.append('Computed'); }, 50);";
        let steps = format!(
            r#"<step name="Quiet" timeout="40"><open url="/pages/stay"/>
<run-js>fetch('/slow/9000').then(() =&gt; {{ document.title = 'Fetched'; }}); {computes}</run-js>
<wait-for-network-quiet quiet="1"/><assert-title equals="Fetched" timeout="0.3"/></step>
<step name="End" timeout="40"><open url="/pages/stay"/><run-js>{computes}</run-js></step>"#
        );
        let keyword = json!({"keyword_string": "Computed", "keyword_action": "Continue waiting"});
        Check::new(kind, &site.url("/"), &steps).with(keyword).passes().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_may_have_a_shorter_timeout() {
    let site = Site::start().await;
    let Some(kind) = one("an_open_may_have_a_shorter_timeout") else { return };
    let steps =
        r#"<step name="One" timeout="15"><open url="/pages/stay"/><open url="/never" timeout="1.5"/></step>"#;
    let observation = Check::new(kind, &site.url("/"), steps).fails(82).await;
    let detail = &observation.failure.as_ref().unwrap().detail;
    assert!(detail.contains("the page load was not done within 1.5 s"), "{detail}");
    let play_micros = observation.phases.micros(Phase::RunScript).unwrap();
    assert!(play_micros < 10_000_000, "{play_micros}");
    // A longer timeout does not extend that of the monitor.
    let long = r#"<step name="One" timeout="15"><open url="/never" timeout="9"/></step>"#;
    let observation = Check::new(kind, &site.url("/"), long).with(json!({"timeout": 2})).fails(82).await;
    assert!(observation.failure.unwrap().detail.contains("within 2 s"));
}

// Internet Explorer is such a browser.
#[tokio::test(flavor = "multi_thread")]
async fn waits_work_in_browsers_without_promises() {
    let kind = BrowserKind::Chrome;
    if !is_here(kind, "waits_work_in_browsers_without_promises") {
        return;
    }
    let site = Site::start().await;
    let steps = r#"<step name="Late"><open url="/pages/late"/><run-js>delete window.Promise;</run-js>
<wait-for id="guest" state="visible"/><wait-for-text id="state" equals="ready"/><wait-for-event event="shop-ready"/>
<run-js>if (typeof Promise !== 'undefined') throw new Error('it has promises');</run-js></step>"#;
    Check::new(kind, &site.url("/"), steps).with(json!({"user_experience_enabled": true})).passes().await;
}
