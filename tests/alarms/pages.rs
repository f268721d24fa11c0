//! The objects of a page against those of the run before, and its text.

use serde_json::{Value, json};
use vigie::domain::{
    CheckResult, Failure, FailureKind, FullPage, HttpFacts, MonitorId, MonitorType, Outcome, PageObject,
    PageObjectKind, Phase, Phases, Status,
};

use crate::alarms::world::{World, result, run};

/// A check whose page has these objects, each `name` and its bytes.
fn page(monitor: MonitorId, number: i64, objects: &[(&str, u64)]) -> CheckResult {
    let mut result = result(monitor, 1, run(number), Outcome::Ok);
    result.monitor_type = MonitorType::Website;
    let objects = objects.iter().map(|(name, bytes)| PageObject {
        url: format!("http://shop.test/{name}"),
        kind: PageObjectKind::Image,
        third_party: false,
        blocked: false,
        started_us: 1,
        total_us: 2,
        phases: Phases::default(),
        http_status: 200,
        http_version: "HTTP/1.1".to_owned(),
        mimetype: "image/png".to_owned(),
        body_wire_bytes: *bytes,
        body_bytes: *bytes,
        failure: None,
    });
    let page = FullPage { objects: objects.collect(), bytes: 1000, total_us: 9, ..FullPage::default() };
    result.details.page = Some(Box::new(page));
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

async fn shop(world: &mut World, fields: Value) -> MonitorId {
    let mut all = json!({
        "url": "http://shop.test/", "interval_fullpage": 1, "check_fullpage_missing_objects": true,
        "check_fullpage_object_sizes": true, "mode": "Global Verify",
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    world.monitor(&[1], all).await
}

/// What is kept of the runs from the first on: outcome, status, codes of the changes.
async fn kept(world: &World) -> Vec<String> {
    let mut results = world.results().await;
    results.sort_by_key(|result| result.planned_at);
    let codes = |result: &CheckResult| {
        let page = result.details.page.as_ref();
        page.map_or(String::new(), |page| {
            page.changes.iter().map(|change| format!(" {}", change.status)).collect::<Vec<_>>().concat()
        })
    };
    results.iter().map(|result| format!("{} {}{}", result.outcome, result.status, codes(result))).collect()
}

#[tokio::test]
async fn a_change_of_the_objects_is_an_error_once_and_asks_nobody_else() {
    let mut world = World::new().await;
    world.recipient(json!({"notify_on_clear": true})).await;
    let shop = shop(&mut world, json!({"notify_on_fullpage_errors": true})).await;
    world.hear(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
    world.hear(2, vec![page(shop, 2, &[("a", 10), ("b", 20)])]).await;
    world.hear(3, vec![page(shop, 3, &[("a", 10)])]).await;
    world.hear(4, vec![page(shop, 4, &[("a", 10)])]).await;
    world.hear(5, vec![page(shop, 5, &[("a", 10), ("c", 5)])]).await;
    world.hear(6, vec![page(shop, 6, &[("a", 30), ("c", 5)])]).await;
    world.hear(7, vec![result(shop, 1, run(7), Outcome::Ok)]).await;
    assert_eq!(
        kept(&world).await,
        ["ok 0", "ok 0", "error 7122 7122", "ok 0", "error 7123 7123", "error 7121 7121", "ok 0"]
    );
    assert_eq!(
        world.told().await,
        [
            "site_error of run 3, error 1",
            "site_clear of run 4, error 0",
            "site_error of run 5, error 1",
            "site_error of run 6, error 2",
            "site_clear of run 7, error 0"
        ]
    );
    assert_eq!(*world.places.asked.lock().unwrap(), []);
    let content = world.messages().await.remove(0).message.content;
    assert!(format!("{content:?}").contains("1 missing: `http://shop.test/b`"), "{content:?}");
}

#[tokio::test]
async fn without_notify_on_fullpage_errors_it_is_a_warning_that_is_told_as_a_change() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = shop(&mut world, json!({})).await;
    world.hear(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
    world.hear(2, vec![page(shop, 2, &[("a", 10)])]).await;
    assert_eq!(kept(&world).await, ["ok 0", "warning 7122 7122"]);
    assert_eq!(world.told().await, ["web_change of run 2, error 0"]);
    let content = world.messages().await.remove(0).message.content;
    assert!(format!("{content:?}").contains("1 missing: `http://shop.test/b`"), "{content:?}");
}

#[tokio::test]
async fn the_objects_before_a_restart_are_those_that_were_kept() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let shop = shop(&mut world, json!({"notify_on_fullpage_errors": true})).await;
    world.hear(1, vec![page(shop, 1, &[("a", 10), ("b", 20)])]).await;
    for number in 2..5 {
        world.hear(number, vec![result(shop, 1, run(number), Outcome::Ok)]).await;
    }
    let world = world.restart().await;
    world.hear(5, vec![result(shop, 1, run(5), Outcome::Ok)]).await;
    world.hear(6, vec![page(shop, 6, &[("a", 10)])]).await;
    assert_eq!(kept(&world).await.last().unwrap(), "error 7122 7122");
}

#[tokio::test]
async fn what_the_monitor_does_not_ask_for_is_not_compared_and_errors_are_no_page() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let idle = json!({"check_fullpage_missing_objects": false, "check_fullpage_object_sizes": false});
    let idle = shop(&mut world, idle).await;
    let strict = shop(&mut world, json!({"notify_on_fullpage_errors": true})).await;
    world.hear(1, vec![page(idle, 1, &[("a", 10)]), page(strict, 1, &[("a", 10)])]).await;
    let mut failed = page(strict, 2, &[]);
    (failed.outcome, failed.status) = (Outcome::Error, Status::FULL_PAGE_TIMED_OUT);
    let late = Failure::new(Phase::Transfer, FailureKind::FullPageTimedOut, "");
    failed.attempts[0].failure = Some(late);
    world.hear(2, vec![page(idle, 2, &[("b", 99)]), failed]).await;
    let mut kept = kept(&world).await;
    kept.sort_unstable();
    assert_eq!(kept, ["error 7202", "ok 0", "ok 0", "ok 0"]);
}

#[tokio::test]
async fn the_result_says_that_the_page_changed_and_how_its_text_did() {
    let mut world = World::new().await;
    world.recipient(json!({})).await;
    let fields = json!({"url": "http://shop.test/", "notify_on_content_change": true});
    let shop = world.monitor(&[1], fields).await;
    world.hear(1, vec![text(shop, 1, 500, "aa")]).await;
    world.hear(2, vec![text(shop, 2, 500, "aa")]).await;
    world.hear(3, vec![text(shop, 3, 500, "bb")]).await;
    let world = world.restart().await;
    world.hear(4, vec![text(shop, 4, 501, "bb")]).await;
    let mut results = world.results().await;
    results.sort_by_key(|result| result.planned_at);
    let said: Vec<_> = results
        .iter()
        .map(|result| result.facts.http.as_ref().unwrap())
        .map(|facts| (facts.changed, facts.text_sha256_before.as_deref()))
        .collect();
    assert_eq!(said, [(false, None), (false, None), (true, Some("aa")), (true, None)]);
    assert!(results.iter().all(|result| result.outcome == Outcome::Ok));
    // The size is what is told.
    assert_eq!(world.told().await, ["web_change of run 4, error 0"]);
}
