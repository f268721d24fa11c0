//! Monitors are listed and counted by the values of their custom properties.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use vigie::clock::Clock;
use vigie::domain::{CustomerId, Role};
use vigie::settings::property_label;
use vigie::telemetry::{HealthCondition, HealthSource, Metrics};
use vigie::web::{self, PageAuth, PageState};

use crate::support::app::{App, Client, website};

pub struct AlwaysHealthy;

impl HealthSource for AlwaysHealthy {
    fn liveness(&self) -> Vec<HealthCondition> {
        Vec::new()
    }

    fn readiness(&self) -> Vec<HealthCondition> {
        Vec::new()
    }
}

/// Creates a property with `values`; returns its id.
async fn property(admin: &Client, name: &str, values: &[&str]) -> i64 {
    let values: Vec<Value> = values.iter().map(|value| json!({"value": value})).collect();
    admin.post("/properties", json!({"name": name, "values": values})).await.id()
}

/// Creates a monitor with these properties and values, counted from 1.
async fn monitor(user: &Client, name: &str, values: &[(i64, i64)]) {
    let values: Vec<Value> = values.iter().map(|(id, value)| json!({"id": id, "value_id": value})).collect();
    user.post("/monitors/website", website(name, json!({"custom_properties": values}))).await.id();
}

async fn names(user: &Client, query: &str) -> Vec<String> {
    let list = user.get(&format!("/monitors?{query}")).await.expect(200);
    let monitors = list["results"].as_array().unwrap();
    assert_eq!(list["metadata"]["resultset"]["count"], monitors.len());
    monitors.iter().map(|monitor| monitor["name"].as_str().unwrap().to_owned()).collect()
}

/// Creates properties and monitors in account 1.
async fn filled() -> (App, Client) {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let team = property(&admin, "team", &["a", "b:c"]).await;
    let env = property(&admin, "env: stage", &["prod"]).await;
    monitor(&admin, "one", &[(team, 1), (env, 1)]).await;
    monitor(&admin, "two", &[(team, 1)]).await;
    monitor(&admin, "three", &[(team, 2), (env, 1)]).await;
    monitor(&admin, "four", &[]).await;
    (app, admin)
}

#[tokio::test]
async fn lists_are_filtered_by_properties_which_all_have_to_fit() {
    let (app, user) = filled().await;
    for (query, expected) in [
        ("property=team:a", vec!["one", "two"]),
        ("property=team:a&property=env:%20stage:prod", vec!["one"]),
        ("property=team:b:c", vec!["three"]),
        ("property=team:a&property=team:b:c", vec![]),
        ("property=team:", vec![]),
        ("property=team:A", vec![]),
        ("property=team:a&type=tcp", vec![]),
        ("property=team:a&limit=5&select=name", vec!["one", "two"]),
        ("", vec!["one", "two", "three", "four"]),
    ] {
        assert_eq!(names(&user, query).await, expected, "{query}");
    }
    for (query, message) in [
        ("property=team", "`property` must be a name and a value, such as `team:a`, not `team`"),
        ("property=taem:a", "`property`: `taem:a` names no custom property of the account"),
        ("property=", "`property` must be a name and a value"),
        (&*"property=team:a&".repeat(21), "`property` may be given at most 20 times"),
        ("type=tcp&type=tcp", "`type` is given twice"),
    ] {
        let messages = user.get(&format!("/monitors?{query}")).await.refused(400);
        assert!(messages.iter().any(|text| text.contains(message)), "{query}: {messages:?}");
    }
    // Names of one account say nothing to another one.
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    assert_eq!(stranger.get("/monitors?property=team:a").await.refused(400).len(), 1);
}

#[tokio::test]
async fn the_status_page_and_the_metrics_know_properties() {
    let (app, _) = filled().await;
    let labels = ["team", "env: stage"].map(str::to_owned);
    let metrics = Arc::new(Metrics::new());
    metrics.set_property_labels(labels.iter().map(|name| property_label(name)).collect());
    let state = PageState {
        monitor_reader: Arc::clone(&app.state.monitor_reader),
        health: Arc::new(AlwaysHealthy),
        metrics,
        metrics_properties: Arc::from(labels),
        max_monitor_series: 10,
        metrics_permits: vigie::web::metrics_permits(),
        clock: app.clock.clone(),
    };
    let auth = PageAuth {
        allows_metrics: Arc::new(|_| true),
        account_data: Some(Arc::clone(&app.state.monitor_reader)),
        ..PageAuth::new(Arc::clone(&app.state.account_service))
    };
    let router = web::router(state, auth);
    let reader = app.login_to(CustomerId(1), Role::ReadOnly).await;
    let get = async |path: &str| {
        let request = Request::get(path).header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", reader.token.as_ref().unwrap()));
        let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    };
    for (query, shown) in [
        ("property=team:a", [true, true, false, false]),
        ("property=team:a,env:+stage:prod", [true, false, false, false]),
        ("property=taem:a", [false; 4]),
        ("has=team:a&has=env:+stage:prod", [true, false, false, false]),
        ("page=7", [false; 4]),
        ("", [true; 4]),
    ] {
        let page = get(&format!("/?{query}")).await;
        let is_shown = |name: &str| page.contains(&format!(">{name}</a>"));
        assert_eq!(["one", "two", "three", "four"].map(is_shown), shown, "{query}");
    }
    // Each group leads to its monitors; those without a value are one, too.
    let groups = get("/?group=team&type=website").await;
    for (value, href) in
        [("a", "/?type=website&amp;has=team%3Aa"), ("b:c", "/?type=website&amp;has=team%3Ab%3Ac")]
    {
        assert!(groups.contains(&format!(r#"<a href="{href}">{value}</a>"#)), "{groups}");
    }
    assert!(groups.contains("without a value") && !groups.contains(">one</a>"), "{groups}");
    assert!(get("/?group=odd").await.contains("without a value"));
    assert!(get("/?page=7").await.contains("page 7 of 1"), "no way back");
    // In the order that the address asks for, with its columns.
    let sorted = get("/?sort=name&column=id,target").await;
    let at = |name: &str| sorted.find(&format!(">{name}</a>")).unwrap();
    assert!(at("four") < at("one") && at("one") < at("three") && at("three") < at("two"));
    assert!(sorted.contains("<th>Target</th>") && !sorted.contains("<th>Since</th>"), "{sorted}");
    let metrics = get("/metrics").await;
    for line in [
        r#"vigie_monitors_by_property{property_team="a",property_env__stage="prod",state="waiting"} 1"#,
        r#"vigie_monitors_by_property{property_team="a",property_env__stage="",state="waiting"} 1"#,
        r#"vigie_monitors_by_property{property_team="b:c",property_env__stage="prod",state="waiting"} 1"#,
        r#"vigie_monitors_by_property{property_team="",property_env__stage="",state="waiting"} 1"#,
    ] {
        assert!(metrics.contains(&format!("{line}\n")), "{line}: {metrics}");
    }
    // The next scrape counts anew.
    assert_eq!(get("/metrics").await.matches("vigie_monitors_by_property{").count(), 4);
    // Times are those of the account, also right after it has changed.
    assert!(get("/").await.contains("times in UTC"));
    let admin = app.login_to(CustomerId(1), Role::Admin).await;
    admin.patch("/account", json!({"time_zone": "Europe/Paris"})).await.expect(200);
    assert!(get("/").await.contains("times in Europe/Paris"));
}

#[tokio::test]
async fn one_account_does_not_take_all_series() {
    let (app, _) = filled().await;
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    let values: Vec<String> = (0..120).map(|number| format!("value {number}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let team = property(&stranger, "team", &values).await;
    for value in 1..=120 {
        monitor(&stranger, &format!("monitor {value}"), &[(team, value)]).await;
    }
    let counts =
        app.state.monitor_reader.property_counts(&["team".to_owned()], app.clock.now()).await.unwrap();
    let of =
        |value: &str| counts.iter().find(|count| count.values == [value]).map(|count| count.monitor_count);
    assert_eq!(counts.len(), 3 + 100 + 1);
    assert_eq!([of("a"), of("b:c"), of(""), of("other")], [Some(2), Some(1), Some(1), Some(20)]);
}
