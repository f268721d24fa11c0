//! `transaction_trace`: requests to the site of the script have a W3C traceparent, others do not (fields.md 3).

use serde_json::json;
use vigie::browser::BrowserKind;

use crate::browser::check::{Check, browsers};
use crate::browser::site::Site;
use crate::support::side_by_side::each;

/// Checks a page of `site` with requests to itself and to the same server under another name, which is another site.
async fn check_traces(kind: BrowserKind, site: &Site) {
    let (own, other) = (site.url(""), site.url("").replace("127.0.0.1", "localhost"));
    let steps = format!(
        r#"<step name="Ask"><open url="/pages/objects?{0}"/>
<run-js into="said">return Promise.all([
fetch('/data?own'), fetch('/echo', {{method: 'POST', body: 'hello'}}).then(answer => answer.text()),
fetch('{other}/data?other', {{mode: 'no-cors'}})]).then(all => all[1]);</run-js>
<run-js>if ({{{{said}}}} !== 'hello') throw new Error({{{{said}}}});</run-js>
<wait-for-network-quiet quiet="0.3"/></step>"#,
        kind.name().replace(' ', "-")
    );
    let fields = json!({"transaction_trace": true, "verify_certificate": false});
    let check = Check::new(kind, &own, &steps).with(fields);
    let before = site.requests().len();
    let observation = check.passes().await;
    let trace = observation.details.browser.as_ref().unwrap().trace_id.clone().unwrap();
    assert_eq!(trace.len(), 32);
    let requests = site.requests().split_off(before);
    let mut spans = Vec::new();
    for (path, fields) in &requests {
        let parent = fields.get("traceparent");
        if fields["host"].starts_with("localhost") {
            assert_eq!(parent, None, "{path} of another site, {}", kind.name());
            continue;
        }
        let parts: Vec<&str> = parent.unwrap_or_else(|| panic!("{path} {fields:?}")).split('-').collect();
        assert_eq!((parts[0], parts[1], parts[3]), ("00", trace.as_str(), "01"), "{path}");
        spans.push(parts[2].to_owned());
    }
    let count = spans.len();
    spans.sort_unstable();
    spans.dedup();
    assert_eq!(spans.len(), count, "each request has a span of its own");
    for path in ["/pages/image", "/pages/script", "/data?own", "/echo", "/data?other"] {
        assert!(
            requests.iter().any(|(requested, _)| requested == path),
            "{path} of {}: {requests:?}",
            kind.name()
        );
    }
    if own.starts_with("https") {
        assert!(requests.iter().all(|(_, fields)| fields[":version"] == "HTTP/2.0"), "{requests:?}");
    }
    let second = check.passes().await;
    assert_ne!(second.details.browser.unwrap().trace_id.unwrap(), trace);
}

// row: 2.2 browserscript.transaction_trace
#[tokio::test(flavor = "multi_thread")]
async fn only_requests_to_the_own_site_are_traced() {
    each(browsers("only_requests_to_the_own_site_are_traced"), async |kind| {
        let (plain, secure) = (Site::start().await, Site::start_tls().await);
        check_traces(kind, &plain).await;
        check_traces(kind, &secure).await;
        let step = r#"<step name="Plain"><open url="/pages/stay?untraced"/></step>"#;
        let observation = Check::new(kind, &plain.url("/"), step).passes().await;
        assert_eq!(observation.details.browser.unwrap().trace_id, None);
        let requests = plain.requests();
        let (_, fields) = requests.iter().rev().find(|(path, _)| path == "/pages/stay?untraced").unwrap();
        assert!(!fields.contains_key("traceparent"));
    })
    .await;
}
