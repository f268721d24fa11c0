//! Shares of results: who may make, see and end them, what a link opens, and that the token is kept nowhere.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::response::Parts;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use vigie::clock::Clock;
use vigie::domain::{
    CapturedFile, CheckResult, CustomerId, Excerpt, HttpExchange, LocationId, MonitorId, Outcome, Role,
};
use vigie::pipeline::next_monitor_state;
use vigie::store::{AuditFilter, ConfigStore, Housekeeping, Ingest, IngestBatch, Pagination, Retention};
use vigie::telemetry::{HealthCondition, HealthSource, Metrics};
use vigie::web::{self, PageAuth, PageState, RequestLimits, SharesState};

use crate::support::app::{App, Client, result, website};

const DAY: Duration = Duration::from_hours(24);
/// What a shared page must not show.
const SECRETS: [&str; 6] =
    ["head-secret", "body-secret", "query-secret", "file-secret", "note-secret", "kept-by"];

struct AlwaysHealthy;

impl HealthSource for AlwaysHealthy {
    fn liveness(&self) -> Vec<HealthCondition> {
        Vec::new()
    }

    fn readiness(&self) -> Vec<HealthCondition> {
        Vec::new()
    }
}

/// Builds the pages of shares.
fn pages(app: &App) -> Router {
    let pages = PageState {
        monitor_reader: Arc::clone(&app.state.monitor_reader),
        health: Arc::new(AlwaysHealthy),
        metrics: Arc::new(Metrics::new()),
        metrics_properties: Arc::default(),
        max_monitor_series: 10,
        metrics_permits: vigie::web::metrics_permits(),
        clock: app.clock.clone(),
    };
    let auth = PageAuth::new(Arc::clone(&app.state.account_service));
    let result_shares = Arc::clone(&app.state.result_shares);
    let router = web::shares_router(SharesState { pages, auth, result_shares });
    web::with_common_middleware(router, RequestLimits::default())
}

/// Opens a page without a login, or with the token of `client`.
async fn open(app: &App, path: &str, client: Option<&Client>) -> (Parts, Vec<u8>) {
    let mut request = Request::get(path).header("host", "localhost");
    if let Some(token) = client.and_then(|client| client.token.as_ref()) {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let response = pages(app).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    (head, body.collect().await.unwrap().to_bytes().to_vec())
}

async fn open_text(app: &App, path: &str) -> (Parts, String) {
    let (head, body) = open(app, path, None).await;
    (head, String::from_utf8(body).unwrap())
}

/// Stores a failed result of a new monitor of `user`, with secrets that no mask knows; returns its id.
async fn store_result(app: &App, user: &Client) -> String {
    let body = website("Shop <b>", json!({"note": "note-secret"}));
    let id = user.post("/monitors/website", body).await.id();
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    let mut exchange = HttpExchange {
        method: "GET".to_owned(),
        url: "https://shop.test/cart?session=query-secret".to_owned(),
        http_status: 503,
        response_body: Some(Excerpt { text: "body-secret".to_owned(), body_bytes: 11, ..Excerpt::default() }),
        ..HttpExchange::default()
    };
    exchange.response_headers.push("x-served", "head-secret");
    let mut result = CheckResult {
        reasons: vec!["https://shop.test/cart?session=query-secret answered 503".to_owned()],
        captures: vec![
            CapturedFile::new("response-body.html", "text/html", b"file-secret"),
            CapturedFile::new("end.png", "image/png", b"\x89PNG"),
            CapturedFile::new(
                "traceroute.txt",
                "text/plain",
                b"traceroute to shop.test (192.0.2.1) over TCP\n",
            ),
        ],
        ..result(&monitor, LocationId(1), Outcome::Error)
    };
    result.details.exchanges.push(exchange);
    let check_id = result.check_id.to_string();
    let location_states = Vec::from_iter(next_monitor_state(None, &result));
    let batch = IngestBatch { results: vec![result], location_states, ..IngestBatch::default() };
    app.store.commit(batch).await.unwrap();
    check_id
}

async fn share(user: &Client, check: &str, body: Value) -> Value {
    user.post(&format!("/results/{check}/share"), body).await.expect(201)
}

#[tokio::test]
async fn a_share_is_made_listed_and_ended_and_its_token_is_kept_nowhere() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let made = share(&user, &check, json!({})).await;
    let monitor_id = &made["monitor_id"];
    let url = made["url"].as_str().unwrap();
    let token = url.strip_prefix("/shared/").unwrap();
    assert_eq!(token.len(), 43, "256 bits in Base64");
    let expected = json!({
        "id": made["id"], "result_id": check, "monitor_id": monitor_id, "monitor_name": "Shop <b>",
        "created_at": "2026-11-20T12:00:00Z", "created_by": "power-user-1", "expires_at": "2026-11-27T12:00:00Z",
    });
    let longest = share(&user, &check, json!({"days": 30})).await;
    assert_eq!(longest["expires_at"], "2026-12-20T12:00:00Z");
    let list = user.get("/shares").await.expect(200);
    assert_eq!((&list["metadata"]["resultset"]["count"], &list["results"][0]), (&json!(2), &expected));
    let second = user.get("/shares?offset=1&limit=5&select=id").await.expect(200);
    assert_eq!(second["results"], json!([{"id": longest["id"]}]));
    assert_eq!(open(&app, url, None).await.0.status, 200);

    user.delete(&format!("/shares/{}", made["id"])).await.expect(204);
    user.delete(&format!("/shares/{}", made["id"])).await.refused(404);
    assert_eq!(user.get("/shares").await.expect(200)["metadata"]["resultset"]["count"], 1);
    assert_eq!(open(&app, url, None).await.0.status, 404);

    let filter = AuditFilter { object_kind: Some("share".to_owned()), ..AuditFilter::default() };
    let entries = app.store.audit_entries(filter, Pagination { limit: 10, offset: 0 }).await.unwrap().items;
    let actions: Vec<_> = entries.iter().map(|entry| (entry.action.as_str(), &*entry.object_name)).collect();
    assert_eq!(actions, [("delete", "Shop <b>"), ("create", "Shop <b>"), ("create", "Shop <b>")]);
    assert_eq!(entries[0].before["result_id"], check);
    let files = app.files();
    assert!(!files.windows(token.len()).any(|window| window == token.as_bytes()), "the token is stored");
}

#[tokio::test]
async fn only_who_may_edit_the_account_shares_and_ends_shares_of_it() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let id = share(&user, &check, json!({})).await["id"].clone();
    let reader = app.login(Role::ReadOnly).await;
    reader.post(&format!("/results/{check}/share"), json!({})).await.refused(403);
    reader.delete(&format!("/shares/{id}")).await.refused(403);
    assert_eq!(reader.get("/shares").await.expect(200)["results"][0]["id"], id);
    app.login(Role::ReportOnly).await.get("/shares").await.refused(403);
    let other = app.login_to(app.account("other").await, Role::Admin).await;
    other.post(&format!("/results/{check}/share"), json!({})).await.refused(404);
    other.delete(&format!("/shares/{id}")).await.refused(404);
    assert_eq!(other.get("/shares").await.expect(200)["results"], json!([]));
    for (body, part) in [
        (json!({"days": 0}), "`days`"),
        (json!({"days": 31}), "`days`"),
        (json!({"days": "x"}), "`days`"),
        (json!({"hours": 1}), "`hours`"),
    ] {
        let messages = user.post(&format!("/results/{check}/share"), body).await.refused(400);
        assert!(messages[0].contains(part), "{messages:?}");
    }
    user.post("/results/00000000000000ff/share", json!({})).await.refused(404);
    assert_eq!(user.get("/shares").await.expect(200)["metadata"]["resultset"]["count"], 1);
}

#[tokio::test]
async fn a_share_ends_by_itself_and_is_removed() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let short = share(&user, &check, json!({"days": 1})).await;
    let long = share(&user, &check, json!({"days": 30})).await;
    let status = async |share: &Value| open(&app, share["url"].as_str().unwrap(), None).await.0.status;
    app.clock.advance(DAY.checked_sub(Duration::from_micros(1)).unwrap());
    assert_eq!((status(&short).await.as_u16(), app.state.result_shares.remove_expired().await), (200, Ok(0)));
    app.clock.advance(Duration::from_micros(1));
    assert_eq!((status(&short).await.as_u16(), status(&long).await.as_u16()), (404, 200));
    let user = app.login(Role::PowerUser).await;
    let list = user.get("/shares").await.expect(200);
    assert_eq!(
        (&list["metadata"]["resultset"]["count"], &list["results"][0]["id"]),
        (&json!(1), &long["id"])
    );
    user.delete(&format!("/shares/{}", short["id"])).await.refused(404);
    assert_eq!(app.state.result_shares.remove_expired().await, Ok(1));
    assert_eq!(status(&long).await, 200);
}

#[tokio::test]
async fn an_account_shares_at_most_a_thousand_results() {
    let app = App::start_quick().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let mut last = Value::Null;
    for _ in 0..1_000 {
        last = share(&user, &check, json!({})).await;
    }
    let messages = user.post(&format!("/results/{check}/share"), json!({})).await.refused(409);
    assert_eq!(messages, ["The account has 1000 shared results; end one before you share another"]);
    assert_eq!(user.get("/shares?limit=0").await.expect(200)["metadata"]["resultset"]["count"], 1_000);
    user.delete(&format!("/shares/{}", last["id"])).await.expect(204);
    share(&user, &check, json!({})).await;
}

#[tokio::test]
async fn the_page_of_a_link_shows_the_result_without_what_may_be_secret() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let url = share(&user, &check, json!({})).await["url"].as_str().unwrap().to_owned();
    let (head, page) = open_text(&app, &url).await;
    assert_eq!(head.status, 200, "{page}");
    for (name, value) in
        [("referrer-policy", "no-referrer"), ("x-robots-tag", "noindex"), ("cache-control", "no-store")]
    {
        assert_eq!(head.headers[name], value, "{name}");
    }
    for part in [
        "Shop &lt;b&gt;",
        "The check failed",
        "https://shop.test/cart?session=********",
        "Path to the target",
        "ends on 2026-11-27 12:00:00 UTC",
        r#"<meta name="robots" content="noindex">"#,
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let own_links = ["/results/", "/monitors/", "href=\"/\"", "/metrics", "/sign-in", "power-user", "<form"];
    for hidden in SECRETS.into_iter().chain(own_links) {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    let (head, picture) = open(&app, &format!("{url}/captures/end%2Epng"), None).await;
    assert_eq!((head.status.as_u16(), picture.as_slice()), (200, b"\x89PNG".as_slice()));
    assert_eq!(head.headers["content-type"], "image/png");
    assert_eq!(head.headers["cache-control"], "no-store");
    for name in ["response-body.html", "traceroute.txt", "none.png"] {
        assert_eq!(open(&app, &format!("{url}/captures/{name}"), None).await.0.status, 404, "{name}");
    }
}

#[tokio::test]
async fn links_that_open_nothing_all_look_the_same_and_a_removed_result_is_gone() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let revoked = share(&user, &check, json!({})).await;
    user.delete(&format!("/shares/{}", revoked["id"])).await.expect(204);
    let expired = share(&user, &check, json!({"days": 1})).await;
    let live = share(&user, &check, json!({"days": 30})).await["url"].as_str().unwrap().to_owned();
    app.clock.advance(DAY);
    let unknown = format!("/shared/{}", "A".repeat(43));
    let (head, not_found) = open_text(&app, &unknown).await;
    assert_eq!((head.status.as_u16(), &head.headers["x-robots-tag"]), (404, &"noindex".parse().unwrap()));
    let links =
        [revoked["url"].as_str().unwrap(), expired["url"].as_str().unwrap(), "/shared/x", "/shared/%00"];
    let picture = format!("{unknown}/captures/end.png");
    for link in links.into_iter().chain([picture.as_str()]) {
        let (head, page) = open_text(&app, link).await;
        assert_eq!((head.status.as_u16(), &page), (404, &not_found), "{link}");
    }
    assert_eq!(open(&app, &live, None).await.0.status, 200);
    let day = Retention {
        results: DAY,
        details_ok: DAY,
        details_failed: DAY,
        hourly_rollups: DAY,
        daily_rollups: None,
        audit_entries: DAY,
    };
    let later = app.clock.now() + DAY * 2;
    // Results that are not rolled up yet are kept.
    app.store.roll_up(later).await.unwrap();
    app.store.apply_retention(day, later).await.unwrap();
    let (head, page) = open_text(&app, &live).await;
    assert_eq!(head.status, 410, "{page}");
    assert!(page.contains("The result is gone") && !page.contains("Shop"), "{page}");
}

#[tokio::test]
async fn the_list_page_shows_the_shares_of_the_own_account_without_their_links() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let check = store_result(&app, &user).await;
    let made = share(&user, &check, json!({})).await;
    let (_, page) = open(&app, "/shares", Some(&user)).await;
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains(&format!("/results/{check}")) && page.contains("power-user-1"), "{page}");
    assert!(!page.contains(made["url"].as_str().unwrap()), "{page}");
    let other = app.login_to(CustomerId(app.account("other").await.0), Role::Admin).await;
    let (_, page) = open(&app, "/shares", Some(&other)).await;
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("No result is shared") && !page.contains(&check), "{page}");
    assert_eq!(open(&app, "/shares", None).await.0.status, 401);
}
