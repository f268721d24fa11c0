//! Creating, changing and deleting monitors in the legacy API.

use serde_json::{Value, json};
use vigie::domain::{CustomerId, MonitorType, Role};
use vigie::schema::Origin;

use crate::legacy::support::{insert_monitor, outcome, send, someone, start_with_admin, website};
use crate::support::fields::Fields;

fn without(mut body: Value, fields: &[&str]) -> Value {
    for field in fields {
        body.as_object_mut().unwrap().shift_remove(*field);
    }
    body
}

// row: 4.1 POST /devices 3; 4.1 POST /devices 4; 4.1 POST /devices 5; 4.1 POST /devices result
#[tokio::test]
async fn minimal_bodies_are_accepted_and_missing_fields_named_in_order() {
    let (_app, admin) = start_with_admin().await;
    let script = "<script version=\"1\"><step name=\"a\"><open url=\"http://a.test/\"/></step></script>";
    for (body, order) in [
        (website("w"), &["billing_plancode", "name", "url", "interval", "enabled"][..]),
        (
            json!({"billing_plancode": "p", "site_type": "browserscript", "browser_type": "CH", "name": "b", "script": script, "interval": 5, "enabled": "n"}),
            &["billing_plancode", "browser_type", "name", "script", "interval", "enabled"],
        ),
        (
            json!({"billing_plancode": "p", "site_type": "apiproject", "name": "a", "script": "<p/>", "test_suite": "s", "test_case": "c", "interval": "10", "enabled": "y"}),
            &["billing_plancode", "name", "script", "test_suite", "test_case", "interval", "enabled"],
        ),
    ] {
        admin.made(body.clone()).await;
        for (at, field) in order.iter().enumerate() {
            // With all later fields missing too, the first one is named; an empty text counts as missing.
            let response = admin.post(without(body.clone(), &order[at..])).await;
            assert_eq!(outcome(&response), ("64", &*format!("Missing {field}")), "{body}");
            let mut empty = body.clone();
            empty[*field] = json!("");
            assert_eq!(outcome(&admin.post(empty).await), ("64", &*format!("Missing {field}")), "{body}");
        }
    }
}

// row: 4.1 POST /devices 1; 4.1 POST /devices 8; 7 64
#[tokio::test]
async fn the_type_is_checked_first_and_some_types_cannot_be_created() {
    let (_app, admin) = start_with_admin().await;
    for (site_type, expected) in [
        (Value::Null, ("64", "Missing site_type")),
        (json!(""), ("64", "Missing site_type")),
        (json!("nonsense"), ("66", "Invalid site_type")),
        (json!("api"), ("66", "Invalid site_type")),
        (json!("collection-api"), ("66", "Invalid site_type")),
        (json!(5), ("66", "Invalid site_type")),
        (json!("mobilelab"), ("65", "Invalid device.")),
        (json!("selenium"), ("65", "Invalid device.")),
        (json!("ping"), ("64", "Missing billing_plancode")),
    ] {
        assert_eq!(outcome(&admin.post(json!({"site_type": site_type})).await), expected, "{site_type}");
    }
    assert_eq!(outcome(&admin.post(json!({})).await), ("64", "Missing site_type"));
    assert_eq!(outcome(&admin.post(json!([])).await), ("66", "Invalid body"));
    let query = format!("/devices?login={}&session={}", admin.login, admin.session);
    let plain = [("content-type", "text/plain")];
    assert_eq!(
        outcome(&send(&admin.router, "POST", &query, &plain, "{}").await),
        ("66", "Invalid Content-Type")
    );
    assert!(admin.ids("").await.is_empty(), "nothing was made");
}

// row: 4.1 POST /devices 2
#[tokio::test]
async fn invalid_values_are_named_and_inapplicable_fields_ignored() {
    let (_app, admin) = start_with_admin().await;
    let with = |field: &str, value: Value| {
        let mut body = website("w");
        body[field] = value;
        body
    };
    for (field, value) in [
        ("interval", json!(7)),
        ("timeout", json!("soon")),
        ("mode", json!("X")),
        ("url", json!("https://a.test/")),
        ("http_method", json!("x")),
        ("enabled", json!("maybe")),
        ("port", json!("70000")),
        ("locations", json!([{"id": "99"}])),
        ("home_location", json!(99)),
    ] {
        let response = admin.post(with(field, value)).await;
        assert_eq!(outcome(&response), ("66", &*format!("Invalid {field}")));
    }
    let host =
        json!({"billing_plancode": "p", "site_type": "ping", "name": "n", "interval": 5, "enabled": "y"});
    assert_eq!(outcome(&admin.post(host).await), ("64", "Missing hostname"));
    let mut with_extra_fields = website("w");
    with_extra_fields.as_object_mut().unwrap().extend(
        json!({"test_suite": "x", "step_timeout": 9999, "nonsense": {"a": 1}, "id": "5", "customer_id": "7"})
            .as_object()
            .unwrap()
            .clone(),
    );
    let id = admin.made(with_extra_fields).await;
    assert_ne!(id, "5");
}

// row: 4.1 GET /devices 5; 7 65
#[tokio::test]
async fn changes_are_returned_and_removed_monitors_are_not_found() {
    let (app, admin) = start_with_admin().await;
    let id = admin.made(website("first")).await;
    let path = format!("/devices/{id}");
    let change = json!({"name": "second", "interval": "10", "http_method": "p", "keyword_match_invert": "Enabled", "monitor_location_count": "2",
        "locations": [{"id": "1"}, {"id": "2"}, {"id": "3"}], "home_location": "2", "realm_password": "s3cret", "site_type": "website"});
    let response = admin.call("PATCH", &path, Some(change)).await;
    assert_eq!((outcome(&response), &response["results"]["id"]), (("0", "No errors."), &json!(id)));
    let shown = admin.get(&format!("/devices?id={id}")).await["results"][0].clone();
    for (field, value) in [
        ("name", "second"),
        ("interval", "10"),
        ("http_method", "p"),
        ("keyword_match_invert", "Enabled"),
        ("monitor_location_count", "2"),
        ("home_location", "2"),
        ("realm_password", "********"),
        ("enabled", "y"),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    let names = json!([{"id": "1", "name": "Home"}, {"id": "2", "name": "Away"}, {"id": "3", "name": "Far"}]);
    assert_eq!(shown["locations"], names);
    // A returned monitor can be sent back: the mask leaves the secret unchanged.
    assert_eq!(outcome(&admin.call("PATCH", &path, Some(shown.clone())).await), ("0", "No errors."));
    let monitor =
        app.state.monitor_service.monitor_cache().get(vigie::domain::MonitorId(id.parse().unwrap())).unwrap();
    assert_eq!(monitor.document.text("realm_password"), Some("s3cret"));
    assert!(monitor.document.flag("rotate_locations"), "2 of 3 is a rotation");
    for (body, expected) in [
        (json!({"interval": 7}), ("66", "Invalid interval")),
        (json!({"name": null}), ("64", "Missing name")),
        (json!({"site_type": "ping"}), ("66", "Invalid site_type")),
    ] {
        assert_eq!(outcome(&admin.call("PATCH", &path, Some(body)).await), expected);
    }
    assert_eq!(outcome(&admin.call("DELETE", &path, None).await), ("0", "No errors."));
    for method in ["PATCH", "DELETE"] {
        assert_eq!(outcome(&admin.call(method, &path, Some(json!({}))).await), ("65", "Invalid device."));
    }
    for id in ["x", "0", "-1", "%FF", "1.0"] {
        let response = admin.call("DELETE", &format!("/devices/{id}"), None).await;
        assert_eq!(outcome(&response), ("65", "Invalid device."), "{id}");
    }
}

#[tokio::test]
async fn a_new_monitor_and_a_change_of_what_is_checked_request_first_checks() {
    let (app, admin) = start_with_admin().await;
    let id = admin.made(website("first")).await;
    let (path, requested) = (format!("/devices/{id}"), vec![vigie::domain::MonitorId(id.parse().unwrap())]);
    assert_eq!(app.planner.take_first_checks(), requested);
    for (change, expected) in
        [(json!({"name": "second", "interval": "10"}), vec![]), (json!({"url": "http://b.test/"}), requested)]
    {
        let response = admin.call("PATCH", &path, Some(change)).await;
        assert_eq!(outcome(&response), ("0", "No errors."));
        assert_eq!(app.planner.take_first_checks(), expected);
    }
}

#[tokio::test]
async fn monitors_of_files_are_read_only_and_those_of_others_not_found() {
    let (app, admin) = start_with_admin().await;
    let fields = json!({"name": "f", "billing_plancode": "p", "url": "http://a.test/"});
    insert_monitor(&app, 50, MonitorType::Website, Origin::File { key: "shop".into() }, fields);
    let response = admin.call("PATCH", "/devices/50", Some(json!({"name": "x"}))).await;
    let (status, message) = outcome(&response);
    assert!(status == "63" && message.contains("`shop`"), "{message}");
    assert_eq!(outcome(&admin.call("DELETE", "/devices/50", None).await).0, "63");
    let other = app.account("other").await;
    let stranger = someone(&app, other, Role::Admin, json!({})).await;
    assert_ne!(other, CustomerId(1));
    for method in ["PATCH", "DELETE"] {
        let response = stranger.call(method, "/devices/50", Some(json!({"name": "x"}))).await;
        assert_eq!(outcome(&response), ("65", "Invalid device."));
    }
    assert_eq!(outcome(&stranger.get("/devices?id=50").await), ("65", "Invalid device."));
    assert!(stranger.ids("").await.is_empty());
}
