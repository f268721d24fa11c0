//! Required members of HAR files, taken by hand from the format description (HAR 1.2).

use std::net::SocketAddr;
use std::sync::Arc;

use super::*;
use crate::domain::{
    BrowserStep, CheckDetails, CheckMetadata, Excerpt, Failure, FailureKind, HttpExchange, LocationId,
    MonitorId, MonitorType, Outcome, PageLoad, PageObject, PageObjectKind, PageTiming, Phase, Phases,
    Revision, Status, StepResult, Verdict,
};

fn phases_with(durations: &[(Phase, u64)]) -> Phases {
    let mut phases = Phases::default();
    for &(phase, micros) in durations {
        phases.set(phase, std::time::Duration::from_micros(micros));
    }
    phases
}

fn result_with(check_details: CheckDetails) -> CheckResult {
    let metadata = CheckMetadata {
        monitor_id: MonitorId(0),
        monitor_name: Arc::from("Shop"),
        revision: Revision(1),
        monitor_type: MonitorType::Website,
        location_id: LocationId(1),
    };
    let verdict =
        Verdict { outcome: Outcome::Ok, status: Status::OK, warning_status: None, reasons: Vec::new() };
    let started_at = Timestamp::parse("2026-11-22T06:00:00Z").unwrap();
    CheckResult {
        details: check_details,
        ..CheckResult::without_attempts(metadata, started_at, started_at, verdict)
    }
}

fn sample_exchange() -> HttpExchange {
    HttpExchange {
        start_offset_us: 1_500,
        method: "POST".into(),
        url: "https://shop.test/buy?item=a%20b&n=2".into(),
        address: Some("192.0.2.1:443".parse::<SocketAddr>().unwrap()),
        phases: phases_with(&[
            (Phase::Resolve, 1_000),
            (Phase::Connect, 2_000),
            (Phase::Tls, 3_000),
            (Phase::Send, 100),
            (Phase::FirstByte, 4_000),
            (Phase::Transfer, 500),
            (Phase::Validate, 9_000),
        ]),
        request_headers: [("authorization", "********")].into_iter().collect(),
        request_body: Some(Excerpt { media_type: "text/plain".into(), text: "one".into(), body_bytes: 3 }),
        http_status: 302,
        http_version: "HTTP/1.1".into(),
        http_reason: Some("Found".into()),
        response_headers: [("Location", "/done"), ("Content-Type", "text/html")].into_iter().collect(),
        response_body: Some(Excerpt { media_type: "text/html".into(), text: "<p>".into(), body_bytes: 70 }),
        body_wire_bytes: 30,
        body_bytes: 70,
        failure: None,
    }
}

/// Paths of required members, with their types: `s`tring, `n`umber, `l`ist, `o`bject.
const LOG_MEMBERS: &[(&str, char)] = &[
    ("/log/version", 's'),
    ("/log/creator/name", 's'),
    ("/log/creator/version", 's'),
    ("/log/entries", 'l'),
];
const PAGE_MEMBERS: &[(&str, char)] =
    &[("/startedDateTime", 's'), ("/id", 's'), ("/title", 's'), ("/pageTimings", 'o')];
const ENTRY_MEMBERS: &[(&str, char)] = &[
    ("/startedDateTime", 's'),
    ("/time", 'n'),
    ("/request/method", 's'),
    ("/request/url", 's'),
    ("/request/httpVersion", 's'),
    ("/request/cookies", 'l'),
    ("/request/headers", 'l'),
    ("/request/queryString", 'l'),
    ("/request/headersSize", 'n'),
    ("/request/bodySize", 'n'),
    ("/response/status", 'n'),
    ("/response/statusText", 's'),
    ("/response/httpVersion", 's'),
    ("/response/cookies", 'l'),
    ("/response/headers", 'l'),
    ("/response/content/size", 'n'),
    ("/response/content/mimeType", 's'),
    ("/response/redirectURL", 's'),
    ("/response/headersSize", 'n'),
    ("/response/bodySize", 'n'),
    ("/cache", 'o'),
    ("/timings/send", 'n'),
    ("/timings/wait", 'n'),
    ("/timings/receive", 'n'),
];

fn assert_members(value: &Value, members: &[(&str, char)]) {
    for (path, json_type) in members {
        let member = value.pointer(path).unwrap_or_else(|| panic!("no {path}: {value}"));
        let has_json_type = match json_type {
            's' => member.is_string(),
            'n' => member.is_number(),
            'l' => member.is_array(),
            _ => member.is_object(),
        };
        assert!(has_json_type, "{path} is {member}");
    }
}

fn build_valid_har(results: &[CheckResult]) -> Value {
    let text = serde_json::to_string(&build_har(results)).unwrap();
    let har: Value = serde_json::from_str(&text).unwrap();
    assert_members(&har, LOG_MEMBERS);
    assert_eq!(har["log"]["version"], "1.2");
    let pages = har["log"]["pages"].as_array().unwrap();
    for page in pages {
        assert_members(page, PAGE_MEMBERS);
    }
    for entry in har["log"]["entries"].as_array().unwrap() {
        assert_members(entry, ENTRY_MEMBERS);
        assert!(pages.iter().any(|page| page["id"] == entry["pageref"]), "{entry}");
        let timings = entry["timings"].as_object().unwrap();
        let timing_values =
            timings.iter().filter(|(name, _)| *name != "ssl").filter_map(|(_, time)| time.as_f64());
        let sum: f64 = timing_values.filter(|time| *time >= 0.0).sum();
        assert!((sum - entry["time"].as_f64().unwrap()).abs() < 0.001, "{entry}");
        if let Some(post) = entry["request"].get("postData") {
            assert_members(post, &[("/mimeType", 's'), ("/text", 's')]);
        }
    }
    har
}

#[test]
fn an_exchange_becomes_an_entry_with_all_required_members() {
    let har = build_valid_har(&[result_with(CheckDetails {
        exchanges: vec![sample_exchange()],
        ..CheckDetails::default()
    })]);
    let entry = &har["log"]["entries"][0];
    assert_eq!(entry["startedDateTime"], "2026-11-22T06:00:00.0015Z");
    assert_eq!(entry["serverIPAddress"], "192.0.2.1");
    let timings = json!({"blocked": -1, "dns": 1.0, "connect": 5.0, "send": 0.1, "wait": 4.0, "receive": 0.5, "ssl": 3.0});
    assert_eq!(entry["timings"], timings);
    let query = json!([{"name": "item", "value": "a b"}, {"name": "n", "value": "2"}]);
    assert_eq!(entry["request"]["queryString"], query);
    assert_eq!(entry["request"]["bodySize"], 3);
    assert_eq!(entry["request"]["postData"], json!({"mimeType": "text/plain", "text": "one"}));
    assert_eq!(entry["response"]["redirectURL"], "/done");
    let content = json!({"size": 70, "compression": 40, "mimeType": "text/html", "text": "<p>", "comment": "the whole has 70 bytes"});
    assert_eq!(entry["response"]["content"], content);
    assert_eq!(entry["response"]["bodySize"], 30);
}

#[test]
fn an_exchange_without_a_response_is_an_entry_with_its_error() {
    let failure = Failure::new(Phase::Connect, FailureKind::ConnectRefused, "192.0.2.1:443");
    let refused = HttpExchange {
        method: "GET".into(),
        url: "http://shop.test/".into(),
        phases: phases_with(&[(Phase::Connect, 7)]),
        failure: Some(failure.clone()),
        ..HttpExchange::default()
    };
    let har =
        build_valid_har(&[result_with(CheckDetails { exchanges: vec![refused], ..CheckDetails::default() })]);
    let entry = &har["log"]["entries"][0];
    assert_eq!((&entry["response"]["status"], &entry["timings"]["ssl"]), (&json!(0), &json!(-1.0)));
    assert_eq!(entry["response"]["_error"], failure.to_string());
    assert!(entry.get("serverIPAddress").is_none());
}

#[test]
fn steps_objects_and_several_checks_are_written_to_one_file_in_order() {
    let step = |number: u32, started_us| StepResult {
        duration_us: 1,
        exchanges: vec![HttpExchange { start_offset_us: started_us, ..sample_exchange() }],
        ..StepResult::new(number, "Log in".into(), started_us)
    };
    let object = PageObject {
        url: "https://cdn.test/a.png".into(),
        kind: PageObjectKind::Image,
        third_party: true,
        blocked: false,
        start_offset_us: 5,
        duration_us: 9,
        phases: phases_with(&[(Phase::FirstByte, 3)]),
        http_status: 200,
        http_version: "HTTP/2".into(),
        media_type: "image/png".into(),
        body_wire_bytes: 10,
        body_bytes: 10,
        failure: None,
    };
    let page = PageLoad { duration_us: 2_500, objects: vec![object], ..PageLoad::default() };
    let first = CheckDetails { steps: vec![step(1, 10), step(2, 90)], ..CheckDetails::default() };
    let second = CheckDetails {
        page_load: Some(Box::new(page)),
        exchanges: vec![HttpExchange { start_offset_us: 0, ..sample_exchange() }],
        ..CheckDetails::default()
    };
    let har =
        build_valid_har(&[result_with(first), result_with(second), result_with(CheckDetails::default())]);
    let entries: Vec<(&str, &str)> = har["log"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["pageref"].as_str().unwrap(), entry["request"]["url"].as_str().unwrap()))
        .collect();
    let buy = "https://shop.test/buy?item=a%20b&n=2";
    let expected = [("page_1", buy), ("page_1", buy), ("page_2", buy), ("page_2", "https://cdn.test/a.png")];
    assert_eq!(entries, expected);
    assert_eq!(har["log"]["entries"][1]["comment"], "step 2: Log in");
    assert_eq!(har["log"]["pages"][1]["pageTimings"]["onLoad"], 2.5);
    assert_eq!(har["log"]["pages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_browser_step_is_a_page_with_its_timings() {
    let timing = PageTiming {
        phases: phases_with(&[(Phase::DomLoad, 40_000), (Phase::PageLoad, 90_500)]),
        ..PageTiming::default()
    };
    let browser_step = BrowserStep { timing: Some(timing), ..BrowserStep::default() };
    let step = |number, browser_step: BrowserStep| StepResult {
        duration_us: 1,
        exchanges: vec![HttpExchange {
            start_offset_us: u64::from(number) * 1_000_000 + 5,
            ..sample_exchange()
        }],
        browser_step: Some(Box::new(browser_step)),
        ..StepResult::new(number, format!("Step {number}"), u64::from(number) * 1_000_000)
    };
    let full_page = PageLoad::default();
    let details = CheckDetails {
        steps: vec![step(1, browser_step), step(2, BrowserStep::default())],
        page_load: Some(Box::new(full_page)),
        ..CheckDetails::default()
    };
    let har = build_valid_har(&[result_with(details)]);
    let pages = har["log"]["pages"].as_array().unwrap();
    let titles: Vec<(&str, &str)> =
        pages.iter().map(|page| (page["id"].as_str().unwrap(), page["title"].as_str().unwrap())).collect();
    assert_eq!(titles, [("page_1_1", "Shop: Step 1"), ("page_1_2", "Shop: Step 2")]);
    assert_eq!(pages[0]["pageTimings"], json!({"onContentLoad": 40.0, "onLoad": 90.5}));
    assert_eq!(pages[1]["pageTimings"], json!({"onContentLoad": -1.0, "onLoad": -1.0}));
    assert_eq!(pages[0]["startedDateTime"], "2026-11-22T06:00:01Z");
    let entries = har["log"]["entries"].as_array().unwrap();
    let page_refs: Vec<&str> = entries.iter().map(|entry| entry["pageref"].as_str().unwrap()).collect();
    assert_eq!(page_refs, ["page_1_1", "page_1_2"]);
}
