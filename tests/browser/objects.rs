//! The kinds of the objects of a step, and the fault when they do not load.

use serde_json::{Value, json};
use vigie::browser::DeviceProfile;
use vigie::domain::Observation;
use vigie::forward_proxy::BlockedHosts;
use vigie::net::EgressPolicy;

use crate::browser::check::{Check, browsers};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

/// Returns the objects of all steps as results show them.
fn objects(observation: &Observation) -> Vec<Value> {
    let browser_steps = observation.details.steps.iter().filter_map(|step| step.browser_step.as_deref());
    browser_steps
        .flat_map(|browser_step| &browser_step.objects)
        .map(|object| serde_json::to_value(object).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_blocked_by_vigie_are_not_failures_of_the_site() {
    each(browsers("objects_blocked_by_vigie_are_not_failures_of_the_site"), async |kind| {
        let site = Site::start().await;
        let steps =
            r#"<step name="One"><open url="/pages/outside"/><wait-for-network-quiet quiet="0.5"/></step>"#;
        let view = json!([{"id": 7, "name": "Pictures", "notify_on_error": true, "inherit_global_errors": false, "url_patterns": ["/pages/image"]}]);
        let mut check = Check::new(kind, &site.url("/"), steps).with(
            json!({"subtype": 2, "interval_fullpage": 1, "notify_on_fullpage_errors": true, "content_views": view}),
        );
        let device = DeviceProfile { blocked_hosts: BlockedHosts::parse(&["localhost"]).unwrap(), ..DeviceProfile::default() };
        check.devices = [(2, device)].into();
        check.config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.2/32"]).unwrap();
        let before = site.paths().len();
        let observation = check.passes().await;
        assert_eq!((&observation.warnings[..], observation.details.content_views[0].status.0), (&[][..], 0));
        let objects = objects(&observation);
        for from in ["http://localhost", "https://localhost", "http://127.0.0.2"] {
            let url = format!("{from}:{}/pages/image", site.at.port());
            let object = objects.iter().find(|object| object["url"] == url.as_str());
            let object = object.unwrap_or_else(|| panic!("{url} of {}: {objects:#?}", kind.name()));
            let actual = (&object["blocked"], &object["http_status"], object.get("failure"));
            assert_eq!(actual, (&json!(true), &json!(0), None), "{url} of {}", kind.name());
        }
        assert!(!site.paths()[before..].contains(&"/pages/image".to_owned()));
        // Without blocking, they fail.
        let mut check =
            check.with(json!({"subtype": 0, "notify_on_fullpage_errors": false, "content_views": []}));
        check.config.egress_policy = EgressPolicy::default();
        assert!(!check.passes().await.warnings.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_distinguished_from_other_objects() {
    let site = Site::start().await;
    each(browsers("documents_are_distinguished_from_other_objects"), async |kind| {
        let other = site.url("/pages/frames").replace("127.0.0.1", "localhost");
        let steps = format!(
            r#"<step name="One"><open url="/to-account"/><open url="/pages/objects"/><wait-for-network-quiet quiet="0.3"/>
<open url="{other}"/><wait-for-network-quiet quiet="0.3"/></step>"#
        );
        let check = Check::new(kind, &site.url("/"), &steps).with(json!({"interval_fullpage": 1}));
        let observation = check.passes().await;
        let all = objects(&observation);
        let classified = |url: &str| {
            let found = all.iter().find(|object| object["url"] == url);
            let found = found.unwrap_or_else(|| panic!("{url} of {}: {all:#?}", kind.name()));
            (found["kind"].as_str().unwrap(), found["third_party"] == true)
        };
        let inner = site.url("/pages/inner").replace("127.0.0.1", "localhost");
        for (url, expected) in [
            (&site.url("/to-account"), ("document", false)),
            (&site.url("/login"), ("document", false)),
            (&site.url("/pages/objects"), ("document", false)),
            (&site.url("/pages/image"), ("image", false)),
            (&other, ("document", false)),
            (&inner, ("frame", false)),
        ] {
            assert_eq!(classified(url), expected, "{url} of {}", kind.name());
        }
        let page = &observation.details.page_load.as_ref().unwrap().objects;
        let mut urls: Vec<&str> = page.iter().map(|object| object.url.as_str()).collect();
        urls.sort_unstable();
        let mut expected_urls: Vec<String> =
            ["/pages/image", "/pages/script", "/pages/style"].iter().map(|path| site.url(path)).collect();
        expected_urls.push(inner);
        expected_urls.sort_unstable();
        assert_eq!(urls, expected_urls, "{}", kind.name());
    })
    .await;
}
