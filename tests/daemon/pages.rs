use std::sync::atomic::Ordering;

use axum::http::Request;
use serde_json::json;
use vigie::domain::{CapturedFile, Outcome};

use crate::daemon::support::{MemoryResults, monitor, result, serve, serve_pages};

fn at(body: &str, part: &str) -> usize {
    body.find(part).unwrap_or_else(|| panic!("`{part}` is not in {body}"))
}

#[tokio::test]
async fn the_status_page_shows_counts_and_lists_errors_first() {
    let results = vec![result(1, 100, Outcome::Ok), result(2, 100, Outcome::Error)];
    let mut off = monitor(4, "d off");
    off.document = std::sync::Arc::new(
        vigie::schema::MonitorDocument::new(
            vigie::domain::MonitorType::Tcp,
            serde_json::from_value(json!({"name": "d off", "enabled": false})).unwrap(),
        )
        .unwrap(),
    );
    let monitors = vec![monitor(1, "a good"), monitor(2, "b bad"), monitor(3, "c new"), off];
    let served = serve(MemoryResults::new(results), monitors).await;
    let page = served.get("/").await;
    assert_eq!(page.status, 200);
    let body = &page.body;
    let order: Vec<_> =
        ["b bad", "c new", "a good", "d off"].map(|name| at(body, &format!(">{name}</a>"))).into();
    assert!(order.is_sorted(), "{order:?}");
    for part in [
        "<title>(1) Vigie</title>",
        "<b>4</b>all",
        "<b>1</b>error",
        "<b>1</b>ok",
        "<b>1</b>waiting",
        "<b>1</b>disabled",
        "1: the target refused the connection",
        "40.0 ms",
        "20 min ago",
        r#"class="p-connect""#,
        r#"hx-sse:connect="/live?page=%2F&"#,
    ] {
        at(body, part);
    }
    let errors = served.get("/?standing=error").await.body;
    assert!(errors.contains(">b bad</a>") && !errors.contains(">a good</a>"));
    let named = served.get("/?q=GOOD&type=website").await.body;
    assert!(named.contains(">a good</a>") && !named.contains(">b bad</a>"));
    assert!(served.get("/?q=nothing").await.body.contains("No monitor matches"));
}

#[tokio::test]
async fn a_paused_monitor_is_shown_with_the_end_of_its_pause() {
    let paused_monitor = |id, name, until| {
        let mut paused = monitor(id, name);
        let paused_until = Some(vigie::domain::Timestamp::from_seconds(until));
        paused.metadata =
            std::sync::Arc::new(vigie::schema::MonitorMetadata { paused_until, ..Default::default() });
        paused
    };
    // The clock of the pages is at 2026-01-01T02:00:00Z.
    let monitors = vec![
        paused_monitor(1, "ran", 1_767_240_000),
        paused_monitor(2, "new", 1_767_240_000),
        paused_monitor(3, "over", 0),
    ];
    let served = serve(MemoryResults::new(vec![result(1, 100, Outcome::Error)]), monitors).await;
    let page = served.get("/").await.body;
    at(&page, "<b>2</b>paused");
    assert_eq!(page.matches("until 2026-01-01 04:00:00 UTC, <time ").count(), 2, "{page}");
    assert_eq!(page.matches(">2 h 0 min</time> from now").count(), 2, "{page}");
    let paused = served.get("/?standing=paused").await.body;
    assert!(paused.contains(">ran</a>") && paused.contains(">new</a>") && !paused.contains(">over</a>"));
    at(&served.get("/monitors/1").await.body, "<dt>Paused</dt><dd>until 2026-01-01 04:00:00 UTC</dd>");
    assert!(!served.get("/monitors/3").await.body.contains("Paused"));
}

#[tokio::test]
async fn names_and_reasons_cannot_become_markup() {
    let evil = r#"<script>alert("1")</script>"#;
    let mut failed = result(1, 100, Outcome::Error);
    failed.reasons = vec![evil.to_owned()];
    let served = serve(MemoryResults::new(vec![failed]), vec![monitor(1, evil)]).await;
    for path in ["/", "/monitors/1", "/?q=%22%3E%3Cscript%3E"] {
        let body = served.get(path).await.body;
        // The scripts of the page are files.
        assert_eq!(
            body.matches("<script").count(),
            body.matches("<script src=\"/assets/").count(),
            "{path}: {body}"
        );
    }
    at(&served.get("/").await.body, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
}

#[tokio::test]
async fn a_hundred_thousand_monitors_are_paged() {
    let monitors = (1..=100_000).map(|id| monitor(id, &format!("monitor {id:06}"))).collect();
    let served = serve(MemoryResults::default(), monitors).await;
    let first = served.get("/").await.body;
    assert_eq!(first.matches("<tr").count(), 51);
    at(&first, "page 1 of 2000, 100000 monitors");
    let last = served.get("/?page=2000").await.body;
    at(&last, "monitor 100000");
    assert!(first.len() < 64 * 1024, "{}", first.len());
}

#[tokio::test]
async fn the_monitor_page_shows_its_last_results_and_no_login() {
    let results = (0..60).map(|minute| result(1, minute, Outcome::Ok)).collect();
    let served = serve(MemoryResults::new(results), vec![monitor(1, "shop")]).await;
    let page = served.get("/monitors/1").await;
    assert_eq!(page.status, 200);
    for part in ["Last 50 of 60 results", "http://127.0.0.1/", "key-1", "2026-01-01 00:59:00", "2.0 ms"] {
        at(&page.body, part);
    }
    assert!(!page.body.contains("hunter2"));
    assert_eq!(served.get("/monitors/2").await.status, 404);
    assert_eq!(served.get("/monitors/x").await.status, 404);
    assert_eq!(served.get("/nothing").await.status, 404);
}

#[tokio::test]
async fn a_result_has_a_page_of_its_own() {
    let mut failed = result(1, 100, Outcome::Error);
    failed.reasons = vec!["<b>refused</b>".to_owned()];
    let path = format!("/results/{}", failed.check_id);
    let served = serve(MemoryResults::new(vec![failed]), vec![monitor(1, "shop")]).await;
    at(&served.get("/monitors/1").await.body, &format!(r#"<a href="{path}">"#));
    let page = served.get(&path).await;
    assert_eq!(page.status, 200);
    for part in ["&quot;connect_us&quot;: 9000", "&lt;b&gt;refused&lt;/b&gt;", r#"<a href="/monitors/1">"#] {
        at(&page.body, part);
    }
    assert!(!page.body.contains("<b>refused"));
    for unknown in ["/results/x", "/results/0000000000000001"] {
        assert_eq!(served.get(unknown).await.status, 404, "{unknown}");
    }
}

#[tokio::test]
async fn a_result_shows_its_pictures_and_its_files_cannot_run() {
    let mut failed = result(1, 100, Outcome::Error);
    let page = b"<script>alert(1)</script>";
    failed.captures = vec![
        CapturedFile::new("step \"1\".jpg", "image/jpeg", b"picture"),
        CapturedFile::new("page.html", "text/html; charset=utf-8", page),
        CapturedFile::new("drawing.svg", "image/svg+xml", b"<svg/>"),
    ];
    let path = format!("/results/{}", failed.check_id);
    let served = serve_pages(true, MemoryResults::new(vec![failed]), vec![monitor(1, "shop")]).await;
    let text = served.get(&path).await.body;
    at(
        &text,
        &format!(
            r#"<img src="{path}/captures/step%20%221%22%2Ejpg" alt="Screenshot step &quot;1&quot;.jpg""#
        ),
    );
    at(&text, &format!(r#"<a href="{path}/captures/page%2Ehtml">page.html</a> 25 bytes"#));
    assert_eq!(text.matches("<figure>").count(), 1, "a drawing may hold scripts: {text}");
    for (name, kind) in [
        ("step%20%221%22%2Ejpg", "image/jpeg"),
        ("page%2Ehtml", "text/plain; charset=utf-8"),
        ("drawing.svg", "text/plain; charset=utf-8"),
    ] {
        let file = served.get(&format!("{path}/captures/{name}")).await;
        assert_eq!((file.status, file.headers["content-type"].to_str().unwrap()), (200, kind), "{name}");
        assert_eq!(file.headers["content-security-policy"], "default-src 'none'; sandbox", "{name}");
        assert_eq!(file.headers["x-content-type-options"], "nosniff", "{name}");
    }
    assert_eq!(served.get(&format!("{path}/captures/page%2Ehtml")).await.body.as_bytes(), page);
    for unknown in ["other.jpg", "..%2Fx", "%00"] {
        assert_eq!(served.get(&format!("{path}/captures/{unknown}")).await.status, 404, "{unknown}");
    }
    // Public pages do not include captures.
    let request = |path: String| Request::get(path).header("host", "192.0.2.1:7979");
    let public = served.call(request(path.clone()), "192.0.2.7").await;
    assert_eq!((public.status, public.body.contains("<h2>Captures")), (200, false));
    assert_eq!(served.call(request(format!("{path}/captures/page%2Ehtml")), "192.0.2.7").await.status, 404);
}

#[tokio::test]
async fn every_response_has_security_headers_and_loads_nothing_external() {
    let served = serve(MemoryResults::default(), vec![monitor(1, "one")]).await;
    for path in ["/", "/monitors/1", "/nothing", "/style.css", "/metrics", "/api/v3/monitors", "/healthz"] {
        let response = served.get(path).await;
        let policy = response.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}");
        assert_eq!(response.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(response.headers["x-frame-options"], "DENY", "{path}");
        assert!(!response.body.contains("https://") && !response.body.contains("style="), "{path}");
    }
    let style = served.get("/style.css").await;
    assert_eq!((style.status, &style.headers["cache-control"]), (200, &"max-age=300".parse().unwrap()));
    assert_eq!(served.get("/").await.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn readiness_reports_its_reason_and_health_is_separate() {
    let served = serve(MemoryResults::default(), vec![]).await;
    assert_eq!(
        served.get("/readyz").await.json(),
        json!({"status": "ok", "checks": {"runner": "ok", "store": "ok"}})
    );
    *served.health.fault.lock().unwrap() = Some("the disk is full".to_owned());
    let response = served.get("/readyz").await;
    assert_eq!(response.status, 503);
    assert_eq!(response.json()["checks"]["store"], "the disk is full");
    assert_eq!(served.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn metrics_are_served_as_openmetrics() {
    let response = serve(MemoryResults::default(), vec![]).await.get("/metrics").await;
    let kind = response.headers["content-type"].to_str().unwrap();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"));
    at(&response.body, "vigie_build_info{version=");
}

#[tokio::test]
async fn an_unreadable_store_is_reported_on_the_page() {
    let served = serve(MemoryResults::default(), vec![monitor(1, "one")]).await;
    served.kept.broken.store(true, Ordering::Relaxed);
    let page = served.get("/").await;
    assert_eq!(page.status, 503);
    assert!(page.body.contains("cannot be read") && !page.body.contains("file is gone"));
}
