//! Evaluation of responses: statuses, assertions, the end of an attempt, and time limits.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::domain::{FailureKind, Phase, WarningKind};

use crate::probe_api::check::{Check, failed, get, passed, run, with};
use crate::probe_api::service::{Request, Response, Service, respond, respond_json};

fn asserts(source: &str, property: &str, comparison: &str, value: &str) -> Value {
    json!({"source": source, "property": property, "comparison": comparison, "value": value})
}

/// Responds with the status that the path contains.
fn by_path(request: &Request) -> Response {
    match request.target.trim_start_matches('/') {
        "stall" => Response::Stall,
        "close" => Response::Close,
        "loop" => respond(302, "Location: /loop\r\n", ""),
        "ftp" => respond(302, "Location: ftp://127.0.0.1/\r\n", ""),
        status => respond(status.parse().unwrap_or(200), "", "body"),
    }
}

#[tokio::test]
async fn a_status_decides_unless_an_assertion_on_it_does() {
    let service = Service::start(by_path).await;
    let step =
        |path: &str, assertions: Value| with(get("S", &service.url(path)), json!({"assertions": assertions}));
    let on_status = |value: &str| json!([asserts("Status Code", "", "equals", value)]);
    for (path, assertions, expected) in [
        ("/200", json!([]), None),
        ("/404", json!([]), Some((FailureKind::HttpErrorStatus, 7))),
        (
            "/500",
            json!([asserts("Response", "", "contains", "body")]),
            Some((FailureKind::HttpErrorStatus, 7)),
        ),
        ("/404", on_status("404"), None),
        ("/404", on_status("2xx"), Some((FailureKind::AssertionFailed, 5))),
        ("/200", on_status("404"), Some((FailureKind::AssertionFailed, 5))),
        ("/close", json!([]), Some((FailureKind::NoResponse, 6))),
        ("/loop", json!([]), Some((FailureKind::RedirectLoop, 3))),
        ("/ftp", json!([]), Some((FailureKind::RedirectInvalid, 3))),
    ] {
        let observation = run(&[step(path, assertions)]).await;
        match expected {
            None => passed(&observation),
            Some((kind, status)) => {
                assert!(failed(&observation, kind, status).detail.starts_with("step 1 `S`: "), "{path}");
                assert_eq!(observation.details.steps[0].status.0, status);
            }
        }
    }
}

#[tokio::test]
async fn an_xpath_reads_a_page_of_html_as_browsers_do() {
    let page = "<!DOCTYPE html><title>Shop</title><p class=price>10.50<p>and<br>more<img src=a.png>&nbsp;";
    let service =
        Service::start(move |_: &Request| respond(200, "Content-Type: text/html; charset=utf-8\r\n", page))
            .await;
    for (path, value, holds) in [
        ("//p[@class='price']", "10.5", true),
        ("/html/head/title", "Shop", true),
        ("//p[1]", "and", false),
        ("count(//p)", "2", true),
    ] {
        let assertions = json!([asserts("XML Response", path, "equals", value)]);
        let variables = json!([{"name": "title", "property": "//title"}]);
        let step =
            with(get("S", &service.url("/")), json!({"assertions": assertions, "variables": variables}));
        let observation = run(&[step]).await;
        if holds {
            passed(&observation);
        } else {
            failed(&observation, FailureKind::AssertionFailed, 5);
        }
    }
}

#[tokio::test]
async fn a_response_is_compared_with_a_schema() {
    let body = r#"{"orders": [{"id": 1, "price": 4.5}, {"id": 2, "price": "free", "token": "geheim"}]}"#;
    let service = Service::start(move |_: &Request| respond_json(body)).await;
    let check = async |property: &str, schema: Value| {
        let assertion = json!({"source": "JSON Response", "property": property, "comparison": "matches schema", "schema": schema.to_string()});
        run(&[with(get("S", &service.url("/")), json!({"assertions": [assertion]}))]).await
    };
    let order = |price: Value| json!({"type": "object", "required": ["id"], "properties": {"price": price}});
    let numbers = order(json!({"type": "number"}));
    passed(&check("$.orders", json!({"items": order(json!({"type": ["number", "string"]}))})).await);
    // Of several nodes one that matches is enough.
    passed(&check("$.orders[*]", numbers.clone()).await);
    for (property, schema, expected) in [
        (
            "$",
            json!({"properties": {"orders": {"items": numbers}}}),
            "JSON Response `$` matches schema: found `free` at `$.orders[1].price`, refused by `type`: it is not of type \"number\"",
        ),
        (
            "$.orders[*]",
            json!({"required": ["sum"]}),
            "JSON Response `$.orders[*]` matches schema: found an object of 2 at `$`, refused by `required`: \"sum\" is a required property (the first of 2 nodes)",
        ),
        ("$.sum", json!(true), "JSON Response `$.sum` matches schema: found nothing"),
    ] {
        let observation = check(property, schema).await;
        let failure = failed(&observation, FailureKind::AssertionFailed, 5);
        assert_eq!(failure.detail, format!("step 1 `S`: {expected}"));
        assert!(!failure.detail.contains("geheim"));
    }
    let doubled = json!({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]});
    let nested = "[".repeat(60) + &"]".repeat(60);
    let service = Service::start(move |_: &Request| respond_json(&nested)).await;
    let assertion = json!({"source": "JSON Response", "property": "$", "comparison": "matches schema", "schema": doubled.to_string()});
    let observation = run(&[with(get("S", &service.url("/")), json!({"assertions": [assertion]}))]).await;
    let failure = failed(&observation, FailureKind::Internal, 21);
    assert!(failure.detail.contains("the schema is too costly for a document of 60 values"), "{failure:?}");
}

#[tokio::test]
async fn a_redirect_not_followed_is_a_warning_unless_asserted() {
    let service = Service::start(by_path).await;
    let step = |assertions: Value| {
        with(get("Stay", &service.url("/302")), json!({"follow_redirects": false, "assertions": assertions}))
    };
    let observation = run(&[step(json!([]))]).await;
    passed(&observation);
    assert_eq!(observation.warnings[0].kind, WarningKind::RedirectNotFollowed);
    assert!(
        observation.warnings[0].detail.starts_with("step 1 `Stay`: `302 Said` from"),
        "{:?}",
        observation.warnings
    );
    let observation = run(&[step(json!([asserts("Status Code", "", "equals", "302")]))]).await;
    passed(&observation);
    assert!(observation.warnings.is_empty());
}

// row: 2.3 API Step.assertions
#[tokio::test]
async fn every_assertion_is_reported_and_a_failing_step_ends_the_attempt() {
    let service = Service::start(|_| respond_json(r#"{"state": "down", "count": 3}"#)).await;
    let failing = with(
        get("Second", &service.url("/2")),
        json!({"assertions": [
            asserts("JSON Response", "state", "equals", "up"),
            asserts("JSON Response", "count", "less than or equal", "9"),
            asserts("JSON Response", "gone", "exists", "1"),
            asserts("Response", "", "regular expression includes", "^\\[")]}),
    );
    let observation =
        run(&[get("First", &service.url("/1")), failing, get("Third", &service.url("/3"))]).await;
    failed(&observation, FailureKind::AssertionFailed, 5);
    let names: Vec<&str> = observation.details.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["First", "Second"]);
    let details: Vec<&str> =
        observation.details.steps[1].failures.iter().map(|f| f.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "JSON Response `state` equals `up`: found `down`",
            "JSON Response `gone` exists: found nothing",
            "Response regular expression includes `^\\[`: found a text of 29 bytes",
        ]
    );
    assert_eq!(service.requests().len(), 2);
    let captures: Vec<&str> = observation.captures.iter().map(|capture| capture.name.as_str()).collect();
    assert_eq!(captures, ["response-head.txt", "response-body.json"]);
}

#[tokio::test]
async fn the_timeout_bounds_all_steps_together() {
    let service = Service::start(by_path).await;
    let steps =
        [get("A", &service.url("/200")), get("B", &service.url("/200")), get("C", &service.url("/stall"))];
    let mut check = Check::of(&steps);
    check.timeout = Duration::from_secs(1);
    let observation = check.run().await;
    let failure = failed(&observation, FailureKind::TimedOut, 2);
    assert_eq!(failure.phase, Phase::FirstByte);
    assert!(failure.detail.starts_with("step 3 `C`: no data within 1 s"), "{}", failure.detail);
    assert_eq!(observation.details.steps.len(), 3);
    assert_eq!(
        observation.details.steps[2].exchanges[0].failure.as_ref().unwrap().kind,
        FailureKind::TimedOut
    );
}

#[tokio::test]
async fn a_cancelled_attempt_records_its_finished_steps() {
    let service = Service::start(by_path).await;
    let check = Check::of(&[get("A", &service.url("/200")), get("B", &service.url("/stall"))]);
    let cancel = CancellationToken::new();
    let cancel_second = async {
        while service.requests().len() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (observation, ()) = tokio::join!(check.run_until(&cancel), cancel_second);
    failed(&observation, FailureKind::Cancelled, 21);
    assert_eq!(observation.details.steps.len(), 1);
}

#[tokio::test]
async fn a_search_that_takes_too_long_fails_its_step() {
    let body = format!("[{}1]", "1,".repeat(400_000));
    let service = Service::start(move |_| respond_json(&body)).await;
    let paths = ["$[?count($[*]) > 1]", "$[*]"];
    for (path, holds) in paths.into_iter().zip([false, true]) {
        let step = with(
            get("Many", &service.url("/")),
            json!({"assertions": [asserts("JSON Response", path, "count", "400001")]}),
        );
        let started = Instant::now();
        let observation = run(&[step]).await;
        assert_eq!(observation.failure.is_none(), holds, "{:?}", observation.failure);
        assert!(started.elapsed() < Duration::from_secs(15));
    }
}

#[tokio::test]
async fn bodies_in_other_charsets_and_invalid_bytes_are_evaluated() {
    let service = Service::start(|request| match request.target.as_str() {
        "/latin" => respond(200, "Content-Type: text/plain; charset=iso-8859-1\r\n", b"caf\xe9"),
        _ => respond(200, "Content-Type: application/json; charset=utf-8\r\n", b"{\"a\":\"caf\xff\"}"),
    })
    .await;
    let latin = with(
        get("Latin", &service.url("/latin")),
        json!({"assertions": [asserts("Response", "", "equals", "café")]}),
    );
    let broken = with(
        get("Broken", &service.url("/broken")),
        json!({"assertions": [asserts("JSON Response", "a", "equals", "caf\u{fffd}")]}),
    );
    passed(&run(&[latin, broken]).await);
}
