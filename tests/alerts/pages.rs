//! Compares the objects and the text of a page with those of the previous run.

use serde_json::{Value, json};
use vigie::domain::{
    CheckResult, Failure, FailureKind, HttpFacts, MonitorId, MonitorType, Outcome, PageLoad, PageObject,
    PageObjectKind, Phase, Phases, Status,
};

use crate::alerts::harness::{Harness, result, run};

/// Returns a result whose page has these objects, each with its name and size in bytes.
fn page(monitor: MonitorId, number: i64, objects: &[(&str, u64)]) -> CheckResult {
    let mut result = result(monitor, 1, run(number), Outcome::Ok);
    result.monitor_type = MonitorType::Website;
    let objects = objects.iter().map(|(name, bytes)| PageObject {
        url: format!("http://shop.test/{name}"),
        kind: PageObjectKind::Image,
        third_party: false,
        blocked: false,
        start_offset_us: 1,
        duration_us: 2,
        phases: Phases::default(),
        http_status: 200,
        http_version: "HTTP/1.1".to_owned(),
        media_type: "image/png".to_owned(),
        body_wire_bytes: *bytes,
        body_bytes: *bytes,
        failure: None,
    });
    let page =
        PageLoad { objects: objects.collect(), decoded_bytes: 1000, duration_us: 9, ..PageLoad::default() };
    result.details.page_load = Some(Box::new(page));
    result
}

fn text(monitor: MonitorId, number: i64, bytes: u64, fingerprint: &str) -> CheckResult {
    let mut result = result(monitor, 1, run(number), Outcome::Ok);
    result.monitor_type = MonitorType::Website;
    result.facts.http = Some(Box::new(HttpFacts {
        http_status: 200,
        http_version: "HTTP/1.1".to_owned(),
        body_bytes: bytes,
        text_sha256: Some(fingerprint.to_owned()),
        ..HttpFacts::default()
    }));
    result
}

async fn shop(harness: &mut Harness, fields: Value) -> MonitorId {
    let mut all = json!({
        "url": "http://shop.test/", "interval_fullpage": 1, "check_fullpage_missing_objects": true,
        "check_fullpage_object_sizes": true, "mode": "Global Verify",
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    harness.monitor(&[1], all).await
}

/// Returns outcome, status and the codes of the changes of every stored result, oldest first.
async fn stored_results(harness: &Harness) -> Vec<String> {
    let mut results = harness.results().await;
    results.sort_by_key(|result| result.planned_at);
    let codes = |result: &CheckResult| {
        let page = result.details.page_load.as_ref();
        page.map_or(String::new(), |page| {
            page.changes.iter().map(|change| format!(" {}", change.status)).collect::<Vec<_>>().concat()
        })
    };
    results.iter().map(|result| format!("{} {}{}", result.outcome, result.status, codes(result))).collect()
}

#[tokio::test]
async fn a_change_of_page_objects_fails_once_and_without_verification() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({"notify_on_clear": true})).await;
    let shop = shop(&mut harness, json!({"notify_on_fullpage_errors": true})).await;
    harness.submit_results(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
    harness.submit_results(2, vec![page(shop, 2, &[("a", 10), ("b", 20)])]).await;
    harness.submit_results(3, vec![page(shop, 3, &[("a", 10)])]).await;
    harness.submit_results(4, vec![page(shop, 4, &[("a", 10)])]).await;
    harness.submit_results(5, vec![page(shop, 5, &[("a", 10), ("c", 5)])]).await;
    harness.submit_results(6, vec![page(shop, 6, &[("a", 30), ("c", 5)])]).await;
    harness.submit_results(7, vec![result(shop, 1, run(7), Outcome::Ok)]).await;
    assert_eq!(
        stored_results(&harness).await,
        ["ok 0", "ok 0", "error 7122 7122", "ok 0", "error 7123 7123", "error 7121 7121", "ok 0"]
    );
    assert_eq!(
        harness.summaries().await,
        [
            "site_error of run 3, error 1",
            "site_clear of run 4, error 0",
            "site_error of run 5, error 1",
            "site_error of run 6, error 2",
            "site_clear of run 7, error 0"
        ]
    );
    assert_eq!(*harness.locations.check_requests.lock().unwrap(), []);
    let content = harness.notifications().await.remove(0).message.content;
    assert!(format!("{content:?}").contains("1 missing: `http://shop.test/b`"), "{content:?}");
}

// row: 6 notify_on_fullpage_errors
#[tokio::test]
async fn without_notify_on_fullpage_errors_an_object_change_is_a_warning() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = shop(&mut harness, json!({})).await;
    harness.submit_results(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
    harness.submit_results(2, vec![page(shop, 2, &[("a", 10)])]).await;
    assert_eq!(stored_results(&harness).await, ["ok 0", "warning 7122 7122"]);
    assert_eq!(harness.summaries().await, ["web_change of run 2, error 0"]);
    let content = harness.notifications().await.remove(0).message.content;
    assert!(format!("{content:?}").contains("1 missing: `http://shop.test/b`"), "{content:?}");
}

#[tokio::test]
async fn page_objects_are_compared_across_a_restart() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let shop = shop(&mut harness, json!({"notify_on_fullpage_errors": true})).await;
    harness.submit_results(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
    for number in 2..5 {
        harness.submit_results(number, vec![result(shop, 1, run(number), Outcome::Ok)]).await;
    }
    let harness = harness.restart().await;
    harness.submit_results(5, vec![result(shop, 1, run(5), Outcome::Ok)]).await;
    harness.submit_results(6, vec![page(shop, 6, &[("a", 10)])]).await;
    assert_eq!(stored_results(&harness).await.last().unwrap(), "error 7122 7122");
}

// row: 2.2 browserscript.check_fullpage_object_sizes; 2.2 browserscript.check_fullpage_missing_objects
// row: 2.8 website.check_fullpage_object_sizes; 2.8 website.check_fullpage_missing_objects
#[tokio::test]
async fn each_field_decides_about_its_own_kind_of_change() {
    for (missing, sizes, expected) in
        [(true, false, "warning 7122 7122"), (false, true, "warning 7121 7121"), (false, false, "ok 0")]
    {
        let mut harness = Harness::new().await;
        let fields = json!({"check_fullpage_missing_objects": missing, "check_fullpage_object_sizes": sizes});
        let shop = shop(&mut harness, fields).await;
        harness.submit_results(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
        harness.submit_results(2, vec![page(shop, 2, &[("a", 99)])]).await;
        assert_eq!(stored_results(&harness).await, ["ok 0", expected], "{missing} {sizes}");
    }
}

#[tokio::test]
async fn objects_are_not_compared_when_disabled_or_when_the_run_failed() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let lenient = json!({"check_fullpage_missing_objects": false, "check_fullpage_object_sizes": false});
    let lenient = shop(&mut harness, lenient).await;
    let strict = shop(&mut harness, json!({"notify_on_fullpage_errors": true})).await;
    harness.submit_results(1, vec![page(lenient, 1, &[("a", 10)]), page(strict, 1, &[("a", 10)])]).await;
    let mut failed = page(strict, 2, &[]);
    (failed.outcome, failed.status) = (Outcome::Error, Status::FULL_PAGE_TIMED_OUT);
    let late = Failure::new(Phase::Transfer, FailureKind::FullPageTimedOut, "");
    failed.attempts[0].failure = Some(late);
    harness.submit_results(2, vec![page(lenient, 2, &[("b", 99)]), failed]).await;
    let mut stored_results = stored_results(&harness).await;
    stored_results.sort_unstable();
    assert_eq!(stored_results, ["error 7202", "ok 0", "ok 0", "ok 0"]);
}

#[tokio::test]
async fn the_result_records_changes_of_the_page_and_of_its_text() {
    let mut harness = Harness::new().await;
    harness.recipient(json!({})).await;
    let fields = json!({"url": "http://shop.test/", "notify_on_content_change": true});
    let shop = harness.monitor(&[1], fields).await;
    harness.submit_results(1, vec![text(shop, 1, 500, "aa")]).await;
    harness.submit_results(2, vec![text(shop, 2, 500, "aa")]).await;
    harness.submit_results(3, vec![text(shop, 3, 500, "bb")]).await;
    let harness = harness.restart().await;
    harness.submit_results(4, vec![text(shop, 4, 501, "bb")]).await;
    let mut results = harness.results().await;
    results.sort_by_key(|result| result.planned_at);
    let text_changes: Vec<_> = results
        .iter()
        .map(|result| result.facts.http.as_ref().unwrap())
        .map(|facts| (facts.content_changed, facts.previous_text_sha256.as_deref()))
        .collect();
    assert_eq!(text_changes, [(false, None), (false, None), (true, Some("aa")), (true, None)]);
    assert!(results.iter().all(|result| result.outcome == Outcome::Ok));
    // Only the change of size is notified.
    assert_eq!(harness.summaries().await, ["web_change of run 4, error 0"]);
}
