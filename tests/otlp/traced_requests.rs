//! `trace_requests`: requests name the trace of their check, and the exported spans are their parents.

use serde_json::{Value, json};

use super::collector::{spans, wait_for};
use crate::daemon::process::{Daemon, command, folder};
use crate::notify::receiver::{Receiver, Request, Response, status};
use crate::support::binary::{out, vigie};

/// Checks the website at `url` with these further fields; returns the result.
async fn check_website(url: String, fields: Value) -> Value {
    let mut monitor = json!({"type": "website", "url": url, "trace_requests": true});
    monitor.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    check(monitor).await
}

/// Checks `monitor` with the command line; returns the result.
async fn check(mut monitor: Value) -> Value {
    let common = json!({"key": "a", "name": "a", "billing_plancode": "x"});
    monitor.as_object_mut().unwrap().extend(common.as_object().unwrap().clone());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("monitor.yaml");
    std::fs::write(&file, json!([monitor]).to_string()).unwrap();
    let output =
        tokio::task::spawn_blocking(move || vigie(&["check", "--file", file.to_str().unwrap(), "--json"]))
            .await
            .unwrap();
    serde_json::from_str(&out(&output)).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Returns version, trace, span and flags of the header field of a request.
fn traceparent(request: &Request) -> [String; 4] {
    let value = request.header("traceparent").unwrap_or_else(|| panic!("{request:?}"));
    value.split('-').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_website_names_the_trace_in_the_result() {
    let target = Receiver::start(|number, _| match number {
        0 => Response::Status(302, vec![("Location", "/next".to_owned())], String::new()),
        _ => status(503),
    })
    .await;
    let result = check_website(target.url("/"), json!({"retry_on_failure": true})).await;
    let trace_id = result["trace_id"].as_str().unwrap();
    assert_eq!(trace_id.len(), 32);
    let requests = target.requests();
    assert_eq!(requests.len(), 3, "a redirect, its target, and the second attempt");
    let parents: Vec<_> = requests.iter().map(traceparent).collect();
    for [version, trace, span, flags] in &parents {
        assert_eq!((version.as_str(), trace.as_str(), flags.as_str()), ("00", trace_id, "01"));
        assert_eq!(span.len(), 16);
    }
    assert!(parents[0][2] != parents[1][2] && parents[1][2] != parents[2][2], "{parents:?}");
    assert!(requests.iter().all(|request| request.header("tracestate").is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_get_no_trace_and_a_header_of_the_monitor_takes_its_place() {
    let other = Receiver::always(200).await;
    let elsewhere = format!("http://localhost:{}/", other.address.port());
    let target = Receiver::start(move |_, _| {
        Response::Status(302, vec![("Location", elsewhere.clone())], String::new())
    })
    .await;
    let result = check_website(target.url("/"), json!({})).await;
    assert_eq!(result["outcome"], "ok", "{result}");
    assert!(target.only_request().header("traceparent").is_some());
    assert_eq!(other.only_request().header("traceparent"), None);

    let own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    let target = Receiver::always(200).await;
    let headers = json!([{"name": "traceparent", "value": own}]);
    let result = check_website(target.url("/"), json!({"http_headers": headers})).await;
    assert_eq!(target.only_request().header("traceparent"), Some(own));
    assert_eq!(result["trace_id"], Value::Null, "it is not that of Vigie");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_field_there_is_no_trace() {
    let target = Receiver::always(200).await;
    let result = check_website(target.url("/"), json!({"trace_requests": false})).await;
    assert_eq!(result["trace_id"], Value::Null);
    assert_eq!(target.only_request().header("traceparent"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_of_an_api_share_a_trace() {
    let target = Receiver::always(200).await;
    let step = |path: &str| json!({"url": target.url(path), "step_name": path});
    let own = json!({"headers": [{"name": "Traceparent", "value": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}]});
    let mut third = step("/c");
    third["head"] = own;
    let steps = json!([step("/a"), step("/b"), third]);
    let result = check(json!({"type": "website-api", "api_steps": steps, "trace_requests": true})).await;
    let requests = target.requests();
    let traces: Vec<_> = requests.iter().map(|request| traceparent(request)[1].clone()).collect();
    let trace_id = result["trace_id"].as_str().unwrap();
    assert_eq!(traces, [trace_id, trace_id, "0af7651916cd43dd8448eb211c80319c"], "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exported_spans_are_the_parents_that_the_target_was_told() {
    let receiver = Receiver::always(200).await;
    let target = Receiver::always(500).await;
    let monitor = format!(
        "- {{key: shop, type: website, name: Shop, billing_plancode: x, url: '{}', interval: 1, timeout: 5, retry_on_failure: false, trace_requests: true}}\n",
        target.url("/cart")
    );
    let folder = folder(&monitor);
    let mut command = command(folder.path());
    command.env("VIGIE_OTLP_ENDPOINT", receiver.url("")).env("VIGIE_OTLP_BATCH_SECONDS", "1");
    let daemon = tokio::task::spawn_blocking(move || Daemon::from_child(command.spawn().unwrap(), folder))
        .await
        .unwrap();
    let spans = wait_for(&receiver, |receiver| Some(spans(receiver)).filter(|spans| !spans.is_empty())).await;
    let [_, trace, span, _] = traceparent(&target.requests()[0]);
    let hex = |id: &[u8]| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(spans.iter().all(|exported| hex(&exported.trace_id) == trace), "{trace}: {spans:?}");
    let client = spans.iter().find(|exported| hex(&exported.span_id) == span).unwrap();
    assert_eq!((client.name.as_str(), client.kind), ("GET", 3));
    let attempt = spans.iter().find(|exported| exported.span_id == client.parent_span_id).unwrap();
    assert_eq!(attempt.name, "attempt");
    drop(daemon);
}
