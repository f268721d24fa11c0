use axum::http::Request;
use serde_json::{Value, json};
use vigie::model::{CheckResult, Document, MonitorType, Outcome};

use crate::support::{Kept, monitor, result, served};

fn messages(answer: &Value) -> Vec<&str> {
    answer["errors"].as_array().unwrap().iter().map(|error| error["message"].as_str().unwrap()).collect()
}

fn some_results() -> Vec<CheckResult> {
    vec![result(1, 0, Outcome::Ok), result(1, 5, Outcome::Error), result(2, 1, Outcome::Missed)]
}

#[tokio::test]
async fn results_are_listed_newest_first_with_metadata_and_full_shape() {
    let served = served(Kept::of(some_results()), vec![]).await;
    let answer = served.get("/api/v3/results").await;
    assert_eq!((answer.status, &answer.headers["content-type"]), (200, &"application/json".parse().unwrap()));
    let body = answer.json();
    let metadata =
        json!({"__permissions": {"acl": 1}, "resultset": {"count": 3, "limit": null, "offset": null}});
    assert_eq!(body["metadata"], metadata);
    assert_eq!(body["results"], serde_json::to_value(&served.kept.results).unwrap());
    let first = &body["results"][0];
    assert_eq!(first["status_text"], "TCP connection failed");
    assert_eq!(first["attempts"][0]["phases"]["connect_us"], 9000);
    assert_eq!(first["attempts"][0]["failure"]["kind"], "connect_refused");
}

#[tokio::test]
async fn results_are_narrowed_by_every_parameter() {
    let served = served(Kept::of(some_results()), vec![]).await;
    for (query, count, sent) in [
        ("monitor_id=1", 2, 2),
        ("monitor_id=1,2", 3, 3),
        ("monitor_id=7", 0, 0),
        ("location_id=1", 3, 3),
        ("location_id=2", 0, 0),
        ("outcome=error,missed", 2, 2),
        ("from=2026-01-01T00:01:00Z", 2, 2),
        ("thru=2026-01-01%2000:01:00", 1, 1),
        ("from=2026-01-01T00:00:00Z&thru=2026-01-01T00:05:00Z&outcome=ok", 1, 1),
        ("limit=2", 3, 2),
        ("limit=2&offset=2", 3, 1),
        ("limit=0", 3, 0),
    ] {
        let body = served.get(&format!("/api/v3/results?{query}")).await.json();
        assert_eq!(body["metadata"]["resultset"]["count"], count, "{query}");
        assert_eq!(body["results"].as_array().unwrap().len(), sent, "{query}");
    }
}

#[tokio::test]
async fn every_bad_parameter_is_named() {
    let served = served(Kept::default(), vec![]).await;
    let bad = "/api/v3/results?monitor_id=x&location_id=1.5&from=now&thru=&outcome=good&limit=-1&offset=a&outcom=ok";
    let answer = served.get(bad).await;
    assert_eq!(answer.status, 400);
    let body = answer.json();
    let messages = messages(&body);
    assert_eq!(messages.len(), 8, "{messages:?}");
    for name in ["monitor_id", "location_id", "from", "thru", "outcome", "limit", "offset", "outcom"] {
        assert!(
            messages.iter().any(|message| message.starts_with(&format!("`{name}`"))),
            "{name}: {messages:?}"
        );
    }
    assert!(body["errors"].as_array().unwrap().iter().all(|error| error["code"] == 400));
    let reversed = served.get("/api/v3/results?from=2026-02-01T00:00:00Z&thru=2026-01-01T00:00:00Z").await;
    assert_eq!(messages_of(&reversed.json()), ["`from` must lie before `thru`"]);
}

fn messages_of(answer: &Value) -> Vec<String> {
    messages(answer).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_long_list_comes_whole_though_it_is_sent_in_pieces() {
    let results: Vec<_> = (0..1_234).map(|minute| result(1, minute, Outcome::Ok)).collect();
    let monitors = (1..=450).map(|id| monitor(id, "m")).collect();
    let served = served(Kept::of(results), monitors).await;
    let ids = |body: &Value, key: &str| {
        let results = body["results"].as_array().unwrap();
        results.iter().map(|result| result[key].to_string()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(ids(&served.get("/api/v3/results").await.json(), "check_id"), 1_234);
    assert_eq!(ids(&served.get("/api/v3/results?limit=700&offset=100").await.json(), "check_id"), 700);
    assert_eq!(ids(&served.get("/api/v3/monitors").await.json(), "id"), 450);
    assert_eq!(ids(&served.get("/api/v3/monitors?limit=300&offset=200").await.json(), "id"), 250);
}

#[tokio::test]
async fn a_list_of_many_results_of_one_time_comes_whole_and_each_once() {
    let mut results: Vec<_> = (1..=1_300).map(|id| result(id, 0, Outcome::Ok)).collect();
    results.extend((1..=700).map(|id| result(id, 1, Outcome::Ok)));
    let served = served(Kept::of(results), vec![]).await;
    for (window, want) in [("", 2_000), ("?offset=650", 1_350), ("?offset=900&limit=1000", 1_000)] {
        let body = served.get(&format!("/api/v3/results{window}")).await.json();
        let results = body["results"].as_array().unwrap();
        let ids: std::collections::BTreeSet<_> = results.iter().map(|r| r["check_id"].to_string()).collect();
        assert_eq!((results.len(), ids.len()), (want, want), "{window}");
        assert_eq!(body["metadata"]["resultset"]["count"], 2_000);
    }
}

#[tokio::test]
async fn one_result_is_the_bare_object_and_an_unknown_one_is_not_found() {
    let served = served(Kept::of(some_results()), vec![]).await;
    let wanted = &served.kept.results[1];
    let body = served.get(&format!("/api/v3/results/{}", wanted.check_id)).await.json();
    assert_eq!(body, serde_json::to_value(wanted).unwrap());
    for path in ["/api/v3/results/00000000000000aa", "/api/v3/results/zz", "/api/v3/monitors/9", "/api/v3/x"]
    {
        let answer = served.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(
            answer.json(),
            json!({"errors": [{"code": 404, "message": "Record not found"}]}),
            "{path}"
        );
    }
}

#[tokio::test]
async fn monitors_are_listed_by_type_and_shown_one_by_one() {
    let served = served(Kept::default(), vec![monitor(2, "two"), monitor(1, "one")]).await;
    let body = served.get("/api/v3/monitors?type=website,tcp").await.json();
    assert_eq!(body["metadata"]["resultset"]["count"], 2);
    assert_eq!(body["results"][0]["id"], 1);
    assert_eq!(body["results"][0]["type"], "website");
    assert_eq!((&body["results"][0]["name"], &body["results"][0]["interval"]), (&json!("one"), &json!(5)));
    assert_eq!(body["results"][0]["http_method"], "GET", "a default shows");
    assert_eq!(body["results"][0]["access_type"], "View");
    let selected = served.get("/api/v3/monitors?select=id,name,colour").await.json();
    assert_eq!(selected["results"][0], json!({"id": 1, "name": "one"}));
    assert_eq!(served.get("/api/v3/monitors?select=").await.json()["results"], json!([{}, {}]));
    assert_eq!(served.get("/api/v3/monitors?type=tcp").await.json()["results"], json!([]));
    assert_eq!(served.get("/api/v3/monitors?type=web").await.status, 400);
    assert_eq!(served.get("/api/v3/monitors/2").await.json()["id"], 2);
}

#[tokio::test]
async fn other_hosts_proxies_and_rebound_names_get_401_and_writing_gets_405() {
    let served = served(Kept::default(), vec![]).await;
    let get = || Request::get("/api/v3/monitors");
    let local = || get().header("host", "localhost");
    for (what, request, peer) in [
        ("another host", local(), "192.0.2.7:5"),
        ("a proxy", local().header("x-forwarded-for", "192.0.2.7"), "127.0.0.1:5"),
        ("a rebound name", get().header("host", "evil.test"), "127.0.0.1:5"),
        ("no host", get(), "127.0.0.1:5"),
    ] {
        let answer = served.call(request, peer).await;
        assert_eq!(
            (answer.status, &answer.headers["www-authenticate"]),
            (401, &"Bearer".parse().unwrap()),
            "{what}"
        );
        assert_eq!(answer.json()["errors"][0]["code"], 401);
    }
    assert_eq!(served.call(get().header("host", "[::1]:7979"), "[::1]:5").await.status, 200);
    assert_eq!(served.call(local(), "[::ffff:127.0.0.1]:5").await.status, 200);
    let posted =
        served.call(Request::post("/api/v3/monitors").header("host", "localhost"), "127.0.0.1:5").await;
    assert_eq!((posted.status, &posted.json()["errors"][0]["code"]), (405, &json!(405)));
}

#[tokio::test]
async fn a_broken_store_is_said_without_its_inner_words() {
    let served = served(Kept::default(), vec![]).await;
    served.kept.broken.store(true, std::sync::atomic::Ordering::Relaxed);
    let answer = served.get("/api/v3/results").await;
    assert_eq!(answer.status, 500);
    assert!(!answer.body.contains("file is gone") && answer.body.contains("errors"), "{}", answer.body);
}

#[tokio::test]
async fn the_name_and_region_of_the_location_are_told() {
    let served = served(Kept::default(), vec![monitor(1, "one")]).await;
    let location = json!({"id": 1, "name": "north & <south>", "region": 7});
    let list = served.get("/api/v3/locations").await.json();
    assert_eq!(list["results"], json!([location]));
    assert_eq!(list["metadata"]["resultset"]["count"], 1);
    assert_eq!(served.get("/api/v3/locations?offset=1").await.json()["results"], json!([]));
    assert_eq!(served.get("/api/v3/locations?limit=x").await.status, 400);
    assert_eq!(served.get("/api/v3/locations/1").await.json(), location);
    assert_eq!(served.get("/api/v3/locations/2").await.status, 404);
    assert_eq!(served.get("/api/v3/locations/x").await.status, 404);
    let monitor = served.get("/api/v3/monitors/1").await.json();
    assert_eq!((&monitor["home_location"], &monitor["locations"]), (&json!(1), &json!([location])));
    assert!(served.get("/").await.body.contains("checked from north &amp; &lt;south&gt;, "));
}

#[tokio::test]
async fn the_client_certificate_of_a_monitor_is_told_by_its_name() {
    let mut shown = monitor(1, "one");
    let values =
        json!({"name": "one", "url": "https://a.test/", "use_client_ssl_cert": true, "ssl_cert_id": 9});
    let Value::Object(values) = values else { unreachable!() };
    shown.document = std::sync::Arc::new(Document::trusted(MonitorType::WebsiteSsl, values));
    let served = served(Kept::default(), vec![shown, monitor(2, "two")]).await;
    let told = served.get("/api/v3/monitors/1").await.json();
    assert_eq!((&told["ssl_cert_name"], &told["ssl_cert_format"]), (&json!("shop client"), &json!("PEM")));
    assert_eq!(served.get("/api/v3/monitors/2").await.json().get("ssl_cert_name"), None);
}
