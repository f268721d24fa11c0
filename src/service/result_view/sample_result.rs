//! A sample result with every detail that the terminal and the pages show.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use crate::domain::{CheckResult, Failure, FailureKind, Phase};

/// Returns a browser script of four steps that failed twice, with redirects, content views, a page and its changes.
pub(crate) fn sample_result() -> CheckResult {
    serde_json::from_value(json!({
        "check_id": "00000000000000a1",
        "run_id": "00000000000000b2",
        "monitor_id": 7,
        "monitor_name": "Shop <\u{1b}[31m>",
        "revision": 3,
        "type": "browserscript",
        "location_id": 1,
        "planned_at": "2026-11-20T12:00:00Z",
        "started_at": "2026-11-20T12:00:00.25Z",
        "outcome": "error",
        "status": 6404,
        "status_text": "HTTP status",
        "reasons": ["the answer was `404`", "and <b>another</b>"],
        "total_us": 1_250_000,
        "address": "127.0.0.1:443",
        "attempts": attempts(),
        "facts": facts(),
        "steps": steps(),
        "page": {
            "total_us": 900_000,
            "bytes": 1_234_567,
            "unlisted": 2,
            "objects": objects(),
            "changes": [
                {"status": 7123, "url": "https://a.test/<new>", "now": 1234},
                {"status": 7122, "url": "https://a.test/gone", "before": 5678},
                {"status": 7121, "url": "https://a.test/other", "before": 1000, "now": 20000},
            ],
        },
        "browser": {
            "name": "Firefox", "version": "140.0", "driver": "geckodriver 0.36", "viewport": [1280, 720],
            "device": "Phone <1>", "trace_id": "0af7651916cd43dd8448eb211c80319c", "memory_bytes": 734_003_200,
        },
        "views": [
            {"id": 1, "name": "Cart <1>", "status": 0, "total_us": 310_000, "objects": 12, "bytes": 45_678},
            {"id": 2, "name": "Pay", "status": 6404, "total_us": 900, "objects": 1, "bytes": 0,
                "failures": [failure("no answer"), failure("second")]},
        ],
    }))
    .unwrap()
}

fn failure(detail: &str) -> Failure {
    Failure::new(Phase::Validate, FailureKind::HttpErrorStatus, detail)
}

fn attempts() -> Value {
    json!([
        {
            "number": 1, "started_at": "2026-11-20T12:00:00.25Z", "total_us": 40_100,
            "phases": {"resolve_us": 900, "connect_us": 12_000, "tls_us": 0},
            "failure": Failure::new(Phase::FirstByte, FailureKind::TimedOut, "no answer came"),
            "warnings": [{"kind": "note", "detail": "a note\n of it"}, {"kind": "page_object", "detail": "unseen"}],
        },
        {
            "number": 2, "started_at": "2026-11-20T12:00:01Z", "total_us": 1_100_000,
            "phases": {"resolve_us": 1_500, "connect_us": 30_000, "first_byte_us": 400_000, "transfer_us": 100_000},
        },
    ])
}

fn facts() -> Value {
    json!({
        "http_status": 404, "http_version": "HTTP/1.1", "http_reason": "Not Found",
        "body_wire_bytes": 1000, "body_bytes": 123_456, "content_type": "text/html",
        "url": "https://a.test/end",
        "redirects": [
            {"url": "http://a.test/", "http_status": 301, "address": "127.0.0.1:80",
                "phases": {"resolve_us": 1_500, "connect_us": 10_000, "first_byte_us": 100_000}},
            {"url": "https://a.test/two", "http_status": 302, "phases": {"first_byte_us": 50_000}},
        ],
        "resolved": ["127.0.0.1", "127.0.0.2"],
    })
}

fn steps() -> Value {
    let exchange = |url: &str, http_status: u16| json!({"started_us": 5, "method": "GET", "url": url, "phases": {}, "http_status": http_status});
    let phases = json!({"connect_us": 5_000, "first_byte_us": 20_000});
    json!([
        {"number": 1, "name": "log in <here>", "status": 0, "started_us": 0, "total_us": 41_200, "phases": phases,
            "exchanges": [exchange("https://a.test/login", 200)], "variables": ["token", "us<er>"]},
        {"number": 2, "name": "list", "status": 6404, "started_us": 5, "total_us": 2_041_200, "phases": {},
            "failures": [failure("wanted `3`, found <4>"), failure("second")],
            "exchanges": [exchange("https://a.test/1", 302), exchange("https://a.test/2", 302), exchange("https://a.test/3", 0)]},
        {"number": 3, "name": "see it all in the browser, with a name that is longer than what is shown", "status": 6404,
            "started_us": 9, "total_us": 700, "phases": phases, "failures": [failure("no such element")],
            "exchanges": [exchange("https://a.test/unseen", 200)], "played": browser_step()},
        {"number": 4, "name": "quiet", "status": 0, "started_us": 9, "total_us": 999_950, "phases": {},
            "exchanges": [exchange("https://a.test/x", 302), exchange("https://a.test/y", 200)],
            "played": {"acts": [], "unlisted": 0, "timing": {"phases": {}}}},
    ])
}

fn browser_step() -> Value {
    json!({
        "url": "https://a.test/page?<q>", "title": "The <title>", "http_status": 404,
        "acts": [
            {"number": 1, "action": "open", "status": 0, "total_us": 640},
            {"number": 2, "action": "click <x>", "status": 0, "total_us": 1, "skipped": true},
            {"number": 3, "action": "type", "status": 6404, "total_us": 5_000_000},
            {"number": 4, "action": "drag", "status": 6404, "total_us": 5, "skipped": true},
        ],
        "timing": {
            "phases": {"first_byte_us": 900, "first_paint_us": 20_000, "dom_load_us": 90_000, "page_load_us": 2_000_000},
            "first_contentful_paint_us": 30_000, "largest_contentful_paint_us": 45_000, "layout_shift": 0.1234,
        },
        "objects": objects(),
        "unlisted": 4,
        "console": [
            {"level": "error", "source": "javascript", "text": "x is <undefined>\u{7}", "url": "https://a.test/x.js", "line": 12},
            {"level": "warning", "source": "console", "text": "beware", "url": "https://a.test/"},
            {"level": "info", "source": "network", "text": "fine"},
        ],
    })
}

fn objects() -> Value {
    let object = |url: &str, started_us: u64, http_status: u16| {
        json!({"url": url, "kind": "image", "started_us": started_us, "total_us": 51_000,
            "phases": {"connect_us": 1_000, "first_byte_us": 50_000}, "http_status": http_status, "body_bytes": 45_678})
    };
    let with_field = |mut object: Value, field: &str, value: Value| {
        object[field] = value;
        object
    };
    json!([
        object("https://a.test/<a>.png", 0, 200),
        with_field(object("https://b.test/b.png", 20_000, 200), "third_party", json!(true)),
        with_field(object("https://a.test/c.png", 40_000, 404), "failure", json!(failure("`404`"))),
        with_field(object("https://a.test/d.png", 60_000, 0), "failure", json!(failure("no answer"))),
        with_field(object("https://a.test/e.png", 80_000, 0), "blocked", json!(true)),
        object(&format!("https://a.test/{}", "long".repeat(40)), 90_000, 0),
    ])
}
