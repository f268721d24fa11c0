//! `GET /monitors`: filters, paging, select, scripts.

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use vigie::domain::{MonitorType, Role};

use crate::support::app::{App, Client, example, website};

async fn names(user: &Client, query: &str) -> Vec<String> {
    let body = user.get(&format!("/monitors?{query}")).await.expect(200);
    let name = |object: &Value| object["name"].as_str().unwrap().to_owned();
    body["results"].as_array().unwrap().iter().map(name).collect()
}

/// Requests the whole list. Returns the number of body frames, the size of the largest and the total size, in bytes.
async fn frame_sizes(app: &App, user: &Client) -> (usize, usize, usize) {
    let bearer = format!("Bearer {}", user.token.clone().unwrap());
    let request = Request::get("/monitors").header("authorization", bearer).body(Body::empty()).unwrap();
    let mut body = app.router.clone().oneshot(request).await.unwrap().into_body();
    let mut sizes = Vec::new();
    while let Some(frame) = body.frame().await {
        sizes.push(frame.unwrap().into_data().unwrap().len());
    }
    (sizes.len(), *sizes.iter().max().unwrap(), sizes.iter().sum())
}

#[tokio::test]
async fn pages_partition_the_whole_list() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let empty = user.get("/monitors").await.expect(200);
    assert_eq!(
        empty,
        json!({"metadata": {"__permissions": {"acl": 7}, "resultset": {"count": 0, "limit": null, "offset": null}}, "results": []})
    );
    // More than one chunk of the response.
    for number in 0..230 {
        let kind = if number % 2 == 0 { "website" } else { "ping" };
        let body = match kind {
            "website" => website(&format!("m{number:03}"), json!({})),
            _ => json!({"billing_plancode": "b", "name": format!("m{number:03}"), "hostname": "h.example"}),
        };
        user.post(&format!("/monitors/{kind}"), body).await.id();
    }
    let all = names(&user, "").await;
    assert_eq!(all.len(), 230);
    assert!(all.is_sorted());
    for (query, range, count) in [
        ("limit=100", 0..100, 230),
        ("limit=101&offset=99", 99..200, 230),
        ("offset=229", 229..230, 230),
        ("offset=230", 0..0, 230),
        ("offset=9223372036854775807&limit=9223372036854775807", 0..0, 230),
        ("limit=0", 0..0, 230),
    ] {
        assert_eq!(names(&user, query).await, all[range], "{query}");
        let body = user.get(&format!("/monitors?{query}")).await.expect(200);
        assert_eq!(body["metadata"]["resultset"]["count"], count, "{query}");
    }
    let (frames, largest, total) = frame_sizes(&app, &user).await;
    assert!(frames >= 5 && largest < total / 2, "{frames} pieces, the largest {largest} of {total} bytes");
    let pings = user.get("/monitors?type=ping&limit=2&offset=1").await.expect(200);
    assert_eq!(pings["metadata"]["resultset"], json!({"count": 115, "limit": 2, "offset": 1}));
    assert_eq!([&pings["results"][0]["name"], &pings["results"][1]["name"]], ["m003", "m005"]);
    assert_eq!(names(&user, "type=ping,website").await.len(), 230);
    assert!(names(&user, "type=tcp").await.is_empty());
}

#[tokio::test]
async fn select_limits_the_fields_of_a_list() {
    let app = App::start().await;
    let user = app.login(Role::ReadOnly).await;
    let admin = app.login(Role::Admin).await;
    let id = admin.post("/monitors/website", website("Shop", json!({}))).await.id();
    for (query, object) in [
        ("select=id", json!({"id": id})),
        ("select=name,id,nothing", json!({"id": id, "name": "Shop"})),
        ("select=", json!({})),
        ("select=Name", json!({})),
        ("select=,", json!({})),
    ] {
        let body = user.get(&format!("/monitors?{query}")).await.expect(200);
        assert_eq!(body["results"], json!([object]), "{query}");
        assert_eq!(body["metadata"]["__permissions"]["acl"], 3);
    }
}

#[tokio::test]
async fn select_limits_the_fields_of_one_object() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let id = admin.post("/monitors/website", website("Shop", json!({}))).await.id();
    let recipient = json!({"name": "anna", "method_id": 12, "recipient": "a@b.example"});
    let recipient = admin.post("/recipients", recipient).await.id();
    let account = admin.get("/account").await.expect(200);
    for (path, query, object) in [
        (format!("/monitors/{id}"), "select=id", json!({"id": id})),
        (format!("/monitors/{id}"), "select=name,id,nothing", json!({"id": id, "name": "Shop"})),
        (format!("/monitors/{id}"), "select=", json!({})),
        (format!("/monitors/{id}"), "select=Name", json!({})),
        (format!("/recipients/{recipient}"), "select=name", json!({"name": "anna"})),
        ("/account".to_owned(), "select=time_zone", json!({"time_zone": account["time_zone"]})),
        ("/locations/2".to_owned(), "select=id,name", json!({"id": 2, "name": "Away"})),
    ] {
        let reply = admin.get(&format!("{path}?{query}")).await;
        assert!(reply.headers.contains_key("etag"), "{path}");
        assert_eq!(reply.expect(200), object, "{path}?{query}");
    }
    let whole = admin.get(&format!("/monitors/{id}")).await.expect(200);
    assert!(whole.as_object().unwrap().len() > 40, "all without `select`");
    let twice = admin.get(&format!("/monitors/{id}?select=id&select=name")).await;
    assert_eq!(twice.refused(400), ["`select` is given twice"]);
    // `select` does not apply to an error body.
    assert_eq!(admin.get("/monitors/999999?select=id").await.status, 404);
}

#[tokio::test]
async fn every_operation_that_returns_one_object_documents_select() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let document = admin.get("/openapi.json").await.expect(200);
    let mut with = Vec::new();
    for (path, calls) in document["paths"].as_object().unwrap() {
        let parameters = calls["get"]["parameters"].as_array();
        if parameters.is_some_and(|all| all.iter().any(|parameter| parameter["name"] == "select")) {
            with.push(path.as_str());
        }
        // Paths with an id return one object; `/account` is the caller's.
        let one = path.ends_with("id}") && calls.get("get").is_some() || path == "/account";
        assert!(!one || with.last() == Some(&path.as_str()), "{path} takes no `select`");
    }
    assert!(with.len() > 12 && with.contains(&"/monitors") && !with.contains(&"/tests"), "{with:?}");
}

#[tokio::test]
async fn scripts_are_listed_only_on_request() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/api", example(MonitorType::ApiProject)).await.id();
    for (query, expected) in [
        ("", false),
        ("?show_scripts=0", false),
        ("?show_scripts=1", true),
        ("?show_scripts=1&select=script", true),
    ] {
        let body = user.get(&format!("/monitors{query}")).await.expect(200);
        assert_eq!(body["results"][0].get("script").is_some(), expected, "{query}");
    }
    assert!(
        user.get(&format!("/monitors/{id}")).await.expect(200)["script"]
            .as_str()
            .unwrap()
            .contains("<con:soapui-project")
    );
}

#[tokio::test]
async fn long_scripts_are_listed_completely() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    for number in 0..5 {
        let mut body = example(MonitorType::Selenium);
        body["name"] = json!(format!("s{number}"));
        body["script"] = json!("UEsDBBQA".repeat(3 * 1024 * 1024 / 8));
        user.post("/monitors/selenium", body).await.id();
    }
    assert_eq!(names(&user, "show_scripts=1").await, ["s0", "s1", "s2", "s3", "s4"]);
    assert_eq!(names(&user, "limit=3&offset=1").await, ["s1", "s2", "s3"]);
}

#[tokio::test]
async fn every_error_of_a_query_is_reported() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let query =
        "type=website,webseite&limit=-1&offset=1.5&ofset=1&show_scripts=yes&value_id=x&limit=3&subtype=-1";
    let messages = user.get(&format!("/monitors?{query}")).await.refused(400);
    for part in [
        "`type`",
        "`limit` must",
        "`offset` must",
        "did you mean `offset`",
        "`show_scripts`",
        "`value_id`",
        "`limit` is given twice",
        "`subtype`",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
    for query in ["limit=", "limit=9223372036854775808", "type=", "offset=%00", "limit=1%FF"] {
        user.get(&format!("/monitors?{query}")).await.refused(400);
    }
}

// row: 2.2 browserscript.subtype_application; 2.2 browserscript.subtype_name
#[tokio::test]
async fn browser_scripts_are_filtered_by_emulated_device() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    for (name, more) in [
        ("plain", json!({})),
        ("phone", json!({"subtype": 1, "subtype_application": "Shop app", "subtype_name": "small"})),
        ("tablet", json!({"subtype": 2, "subtype_application": "Shop app", "subtype_name": "large"})),
    ] {
        let mut body = example(MonitorType::BrowserScript);
        body["name"] = json!(name);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        user.post("/monitors/browserscript", body).await.id();
    }
    user.post("/monitors/website", website("site", json!({}))).await.id();
    assert_eq!(names(&user, "subtype=0").await, ["plain"]);
    assert_eq!(names(&user, "subtype=2").await, ["tablet"]);
    assert_eq!(names(&user, "subtype_application=Shop%20app").await, ["phone", "tablet"]);
    assert_eq!(names(&user, "subtype_application=Shop%20app&subtype_name=small").await, ["phone"]);
    assert!(names(&user, "subtype_name=Small").await.is_empty());
}

#[tokio::test]
async fn the_id_of_a_content_view_returns_its_monitor() {
    let app = App::start().await;
    let (user, reader) = (app.login(Role::PowerUser).await, app.login(Role::ReadOnly).await);
    let deleted = user.post("/monitors/website", website("Gone", json!({}))).await.id();
    let remaining = user.post("/monitors/website", website("Kept", json!({}))).await.id();
    let view = |id: i64| json!({"id": id, "notify_on_error": true, "inherit_global_errors": false, "url_patterns": ["*"]});
    let mut script = example(MonitorType::BrowserScript);
    script["content_views"] = json!([view(deleted), view(remaining), view(777_001)]);
    let monitor = user.post("/monitors/browserscript", script).await.id();
    user.delete(&format!("/monitors/{deleted}")).await.expect(204);
    let by_view = reader.get("/monitors/777001").await.expect(200);
    let whole = reader.get(&format!("/monitors/{monitor}")).await.expect(200);
    assert_eq!((&by_view["id"], &by_view["is_content_view"]), (&json!(777_001), &json!(true)));
    assert_eq!((&whole["id"], &whole["is_content_view"]), (&json!(monitor), &json!(false)));
    assert_eq!((&by_view["name"], &by_view["content_views"]), (&whole["name"], &whole["content_views"]));
    // The id of a current or deleted monitor is not taken for a view.
    assert_eq!(user.get(&format!("/monitors/{remaining}")).await.expect(200)["name"], "Kept");
    user.get(&format!("/monitors/{deleted}")).await.refused(404);
    user.get("/monitors/777002").await.refused(404);
    user.patch("/monitors/browserscript/777001", json!({"name": "x"})).await.refused(404);
    user.delete("/monitors/777001").await.refused(404);
}

/// Every list takes `select`: those that the OpenAPI document describes, and each of their entries.
#[tokio::test]
async fn every_list_returns_only_the_selected_fields() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let monitor = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let blackout = json!({"type": "Monitor", "assoc_id": monitor, "start_day": 1, "start_time": "01:00",
        "end_day": 1, "end_time": "02:00"});
    user.post("/blackouts", blackout).await.id();
    user.post("/recipients", json!({"name": "Ann", "recipient": "ann@shop.test"})).await.id();
    let document = user.get("/openapi.json").await.expect(200);
    let mut filled = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let parameters = operations["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let has = |name: &str| parameters.iter().any(|parameter| parameter["name"] == name);
        let is_list = has("offset");
        assert!(!is_list || has("select"), "{path}");
        if !is_list || path.contains('{') {
            continue;
        }
        let path = path.strip_prefix("/api/v3").unwrap_or(path);
        let required = parameters.iter().filter(|parameter| parameter["required"] == true);
        let query: String = required
            .map(|parameter| match parameter["name"].as_str().unwrap() {
                "monitor_id" => format!("monitor_id={monitor}&"),
                other => panic!("{path} requires {other}"),
            })
            .collect();
        let all = user.get(&format!("{path}?{query}")).await.expect(200);
        let selected = user.get(&format!("{path}?{query}select=name,id,nothing")).await.expect(200);
        assert_eq!(all["metadata"], selected["metadata"], "{path}");
        for (whole, part) in
            all["results"].as_array().unwrap().iter().zip(selected["results"].as_array().unwrap())
        {
            let mut expected = whole.as_object().unwrap().clone();
            expected.retain(|name, _| ["name", "id"].contains(&name.as_str()));
            assert_eq!(part.as_object().unwrap(), &expected, "{path}");
            filled.push(path.to_owned());
        }
    }
    filled.dedup();
    for list in ["/monitors", "/blackouts", "/recipients", "/users", "/audit", "/locations"] {
        assert!(filled.iter().any(|path| path == list), "{list} is empty: {filled:?}");
    }
}
