//! Every act; on both browsers, what they do themselves.

use crate::browser::check::{Check, browsers, browsers_for_common_code};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

#[tokio::test(flavor = "multi_thread")]
async fn a_login_with_a_protected_password_reaches_the_account() {
    let site = Site::start().await;
    each(browsers("a_login_with_a_protected_password_reaches_the_account"), async |kind| {
        let steps = r##"
<variable name="who" value="anna"/><variable name="word" value="s3cret!" protected="true"/>
<step name="Log in"><open url="/login"/><type id="user" text="{{who}}"/><type name="password" text="{{word}}"/>
<click id="go" expect="location"/></step>
<step name="Account"><wait-for-text contains="Hello, {{who}}"/><assert-title equals="Account of {{who}}"/><assert-url contains="/account"/>
<assert-count css="tr.order" equals="2"/><assert-text css="#orders tr:nth-child(2) td:first-child" equals="A-17"/>
<extract into="sum" from="text" xpath="//tr[td='A-18']/td[2]" pattern="(\d+)\."/>
<run-js into="double">return String(Number({{sum}}) * 2);</run-js>
<assert-element link="Preferences" state="visible"/>
<click link="Preferences" expect="location"/><type id="field" text="{{double}}"/><assert-value id="field" equals="old14"/></step>"##;
        let observation = Check::new(kind, &site.url("/"), steps).passes().await;
        assert_eq!(observation.details.steps.len(), 2);
        let second = &observation.details.steps[1];
        assert_eq!(second.variable_names, ["sum", "double"]);
        let browser_step = second.browser_step.as_ref().unwrap();
        assert_eq!((browser_step.title.as_str(), browser_step.http_status), ("Preferences", 200));
        let browser = observation.details.browser.as_ref().unwrap();
        assert_eq!(browser.name, kind.name());
        assert!(!serde_json::to_string(&observation.details).unwrap().contains("s3cret"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soft_action_fails_the_check_at_its_end() {
    let site = Site::start().await;
    each(browsers_for_common_code("a_soft_action_fails_the_check_at_its_end"), async |kind| {
        let steps = r#"<step name="First"><open url="/login"/><assert-title equals="Never" soft="true"/>
<assert-element id="nowhere" soft="true"/><type id="user" text="x"/><assert-value id="user" equals="x"/></step>
<step name="Second"><assert-value id="user" equals="x"/></step>"#;
        let observation = Check::new(kind, &site.url("/"), steps).fails(5).await;
        let failure = observation.failure.as_ref().unwrap();
        assert!(failure.detail.contains("Never"), "the first failure is told: {failure}");
        let statuses: Vec<_> = observation.details.steps.iter().map(|step| step.status.0).collect();
        assert_eq!(statuses, [5, 0], "the second step runs and passes");
        let actions = &observation.details.steps[0].browser_step.as_ref().unwrap().actions;
        let statuses: Vec<_> = actions.iter().map(|action| action.status.0).collect();
        assert_eq!(statuses, [0, 5, 5, 0, 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_keys_and_the_pointer_work() {
    let site = Site::start().await;
    each(browsers("fields_keys_and_the_pointer_work"), async |kind| {
        let steps = r#"<step name="Form"><open url="/pages/forms"/>
<select id="color" value="g"/><assert-text id="log" contains="color=g;"/>
<select id="color" label="Blue"/><assert-value id="color" equals="b"/>
<select id="late" index="0"/><assert-value id="late" equals="x"/>
<check id="news"/><assert-text id="log" contains="news=true;"/><check id="news" on="false"/><assert-text id="log" contains="news=false;"/>
<check id="small"/><run-js>if (!document.getElementById('small').checked) throw new Error('not checked');</run-js>
<clear id="field"/><type id="field" text="new"/><press key="Control+a" id="field"/><press key="Backspace"/><assert-value id="field" equals=""/>
<assert-text id="log" contains="key=C-a;"/>
<double-click id="twice"/><assert-text id="log" contains="double;"/>
<hover id="menu"/><wait-for id="entry" state="visible"/>
<scroll id="bottom"/><assert-title equals="Scrolled"/><assert-attribute id="bottom" attribute="data-mark" equals="deep"/>
<scroll y="-5000"/>
</step>"#;
        Check::new(kind, &site.url("/"), steps).passes().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_windows_and_dialogs_are_switched_to_and_answered() {
    let site = Site::start().await;
    each(browsers("frames_windows_and_dialogs_are_switched_to_and_answered"), async |kind| {
        let steps = r#"<step name="Frames"><open url="/pages/frames"/>
<switch-frame id="inner"/><click id="in"/><assert-text id="where" equals="clicked"/>
<switch-frame index="0"/><assert-text id="deep" equals="deepest"/><switch-frame to="parent"/><assert-text id="where" equals="clicked"/>
<switch-frame to="top"/><switch-frame id="second"/><assert-text id="in2" equals="Second"/></step>
<step name="Windows"><open url="/pages/windows"/><click id="open"/><switch-window to="newest"/><assert-text id="popup" equals="Another window"/>
<switch-window to="main"/><assert-title equals="Windows"/><switch-window to="title" equals="Popup"/><close-window/><assert-title equals="Windows"/></step>
<step name="Dialogs"><open url="/pages/dialogs"/><click id="alert"/><accept-dialog/><assert-text id="said" equals="alerted"/>
<click id="confirm"/><dismiss-dialog/><assert-text id="said" equals="confirmed false"/>
<click id="prompt"/><answer-dialog text="Anna"/><assert-text id="said" equals="prompted Anna"/></step>"#;
        let observation = Check::new(kind, &site.url("/"), steps).passes().await;
        assert_eq!(observation.details.steps.len(), 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_end_as_soon_as_their_condition_holds() {
    let site = Site::start().await;
    each(browsers_for_common_code("waits_end_as_soon_as_their_condition_holds"), async |kind| {
        let steps = r#"<step name="Late"><open url="/pages/late"/>
<wait-for id="guest" state="visible"/><wait-for-text id="state" equals="ready"/><wait-for-url contains="moved"/><wait-for-event event="shop-ready"/></step>
<step name="Quiet"><open url="/pages/quiets"/><wait-for-network-quiet quiet="0.6"/><assert-text id="n" equals="3"/></step>
<step name="Expect"><open url="/pages/stay"/><click id="move" expect="location"/><click id="grow" expect="update"/><click id="fire" expect="event:fired"/>
<click><by css=".twin"/><by name="chosen"/></click><click optional="true" timeout="0.2" id="nowhere"/></step>"#;
        let observation = Check::new(kind, &site.url("/"), steps).passes().await;
        let acts = &observation.details.steps[2].browser_step.as_ref().unwrap().actions;
        assert!(acts.last().unwrap().skipped, "{acts:?}");
    })
    .await;
}
