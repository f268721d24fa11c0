//! Base URLs that contain variables.

use serde_json::json;

use crate::browser::check::{Check, browsers_for_common_code, one};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

fn script(base: &str, value: &str, steps: &str) -> String {
    format!(r#"<script version="1" base="{base}"><variable name="host" value="{value}"/>{steps}</script>"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_may_have_placeholders() {
    each(browsers_for_common_code("a_base_may_have_placeholders"), async |kind| {
        let site = Site::start().await;
        let host = site.at.to_string();
        let steps = r#"<step name="One"><open url="stay"/><assert-title equals="Stay"/><open url="/login"/><assert-title equals="Login"/></step>"#;
        for (base, value) in [("http://{{host}}/pages/", host.clone()), ("{{host}}", site.url("/pages/"))] {
            let before = site.requests().len();
            let check = Check::with_script(kind, &script(base, &value, steps));
            check.with(json!({"transaction_trace": true})).passes().await;
            let requests = site.requests().split_off(before);
            let (_, fields) = requests.iter().find(|(path, _)| path == "/pages/stay").unwrap();
            assert!(fields.contains_key("traceparent"), "the site of the trace is that of the base");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_base_fails_with_its_value() {
    let site = Site::start().await;
    let Some(kind) = one("an_invalid_base_fails_with_its_value") else { return };
    let steps = r#"<step name="One"><open url="stay"/></step>"#;
    let observation = Check::with_script(kind, &script("{{host}}", "shop.example", steps)).fails(96).await;
    let detail = observation.failure.unwrap().detail;
    assert!(detail.contains("`base`") && detail.contains("`shop.example`"), "{detail}");
    // An absolute URL needs no base.
    let steps = format!(r#"<step name="One"><open url="{}"/></step>"#, site.url("/pages/stay"));
    Check::with_script(kind, &script("{{host}}", "shop.example", &steps)).passes().await;
}
