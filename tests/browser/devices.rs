//! Emulated devices (fields.md 3, `subtype`) as seen by a site.

use serde_json::json;
use vigie::browser::{DeviceProfile, Emulation};
use vigie::forward_proxy::BlockedHosts;

use crate::browser::check::{Check, browsers, one};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

fn phone() -> DeviceProfile {
    DeviceProfile {
        name: "small phone".to_owned(),
        emulation: Emulation {
            viewport: (360, 640),
            device_pixel_ratio: 2.0,
            mobile_layout: true,
            touch_screen: true,
            user_agent: Some("Pocket/1.0 (Tests)".to_owned()),
            extra_headers: vec![("X-Carrier".to_owned(), "tin cans".to_owned())],
        },
        blocked_hosts: BlockedHosts::parse(&["localhost"]).unwrap(),
    }
}

// row: 2.2 browserscript.subtype
#[tokio::test(flavor = "multi_thread")]
async fn a_site_sees_the_device_of_the_subtype() {
    each(browsers("a_site_sees_the_device_of_the_subtype"), async |kind| {
        let site = Site::start().await;
        let elsewhere = format!("http://localhost:{}", site.at.port());
        let steps = format!(
            r#"<step name="Device"><open url="/pages/device"/><wait-for-network-quiet quiet="0.3"/>
<run-js into="size">return [innerWidth, innerHeight, devicePixelRatio].join(' ');</run-js>
<run-js into="touch">return [navigator.maxTouchPoints &gt; 0, matchMedia('(pointer: coarse)').matches, 'ontouchstart' in window].join(' ');</run-js>
<run-js into="blocked">return fetch('{elsewhere}/data?blocked', {{mode: 'no-cors'}}).then(answer => 'answer ' + answer.type, () => 'no answer');</run-js>
<type id="field" text="{{{{size}}}}/{{{{touch}}}}/{{{{blocked}}}}"/><assert-value id="field" matches="^360 640 2/true true true/"/></step>
<step name="Window"><click id="open"/><switch-window to="newest"/><assert-text id="width" equals="360"/></step>"#
        );
        let mut check = Check::new(kind, &site.url("/"), &steps).with(json!({"subtype": 2}));
        check.devices = [(2, phone())].into();
        let before = site.requests().len();
        let observation = check.passes().await;
        let facts = observation.details.browser.as_ref().unwrap();
        assert_eq!((facts.emulated_device.as_str(), facts.viewport), ("small phone", (360, 640)));
        assert_eq!(facts.user_agent, "Pocket/1.0 (Tests)");
        let requests = site.requests().split_off(before);
        let page = requests.iter().find(|(path, _)| path == "/pages/device").unwrap();
        assert_eq!(page.1["user-agent"], "Pocket/1.0 (Tests)");
        // The first request of a window that a page opens is sent before its headers can be set.
        let first = ["/favicon.ico", "/pages/narrow"];
        for (path, fields) in requests.iter().filter(|(path, _)| !first.contains(&path.as_str())) {
            assert_eq!(
                fields.get("x-carrier").map(String::as_str),
                Some("tin cans"),
                "{path} of {}",
                kind.name()
            );
        }
        assert!(requests.iter().any(|(path, _)| path == "/pages/image"), "{requests:?}");
        assert!(!requests.iter().any(|(path, _)| path.contains("blocked")), "{requests:?}");
        let plain =
            Check::new(kind, &site.url("/"), r#"<step name="Plain"><open url="/pages/device"/></step>"#);
        let observation = plain.passes().await;
        let facts = observation.details.browser.unwrap();
        assert_eq!((facts.emulated_device.as_str(), facts.viewport), ("", (1366, 768)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_device_profile_is_an_own_fault() {
    let Some(kind) = one("a_missing_device_profile_is_an_own_fault") else { return };
    let step = r#"<step name="One"><open url="/"/></step>"#;
    let observation =
        Check::new(kind, "http://127.0.0.1:1/", step).with(json!({"subtype": 3})).fails(95).await;
    assert!(observation.failure.unwrap().detail.contains("`mobile.profiles`"));
}
