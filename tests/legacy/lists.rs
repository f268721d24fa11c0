//! Lists of monitors and locations in the legacy API.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::Origin;

use crate::legacy::support::{insert_monitor, outcome, start_with_admin, website};

/// Fields of interface.md 2.8 that all kinds have.
const ALL: [&str; 13] = [
    "id",
    "name",
    "site_type",
    "enabled",
    "interval",
    "timeout",
    "mode",
    "home_location",
    "locations",
    "monitor_location_count",
    "billing_plancode",
    "notify_on_error",
    "traceroute_on_error",
];
const WEBSITE: [&str; 24] = [
    "url",
    "http_method",
    "http_version",
    "port",
    "resolve_dns",
    "ip_address",
    "http_follow_redirects",
    "http_302_is_error",
    "http_401_is_error",
    "http_caching",
    "check_ssl_expiration_dates",
    "realm_userid",
    "realm_password",
    "keyword_string",
    "keyword_match_type",
    "keyword_match_invert",
    "notify_on_content_change",
    "notify_on_fullpage_errors",
    "check_fullpage_object_sizes",
    "check_fullpage_missing_objects",
    "fullpage_object_timeout",
    "interval_fullpage",
    "smtp_hostname",
    "pop3_hostname",
];
const SCRIPT: [&str; 9] = [
    "browser_type",
    "capture_level",
    "continue_playback_on_timeout",
    "step_timeout",
    "transaction_steps_allowed",
    "interval_fullpage",
    "fullpage_object_timeout",
    "notify_on_content_change",
    "notify_on_fullpage_errors",
];
const PROJECT: [&str; 4] = ["test_suite", "test_case", "capture_level", "transaction_steps_allowed"];

/// Whether every value is a text, at any depth.
fn has_only_texts(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().all(has_only_texts),
        Value::Object(fields) => fields.values().all(has_only_texts),
        _ => false,
    }
}

fn steps(count: usize) -> Value {
    (1..=count)
        .map(|at| json!({"url": "http://a.test/", "step_name": format!("s{at}"), "step_number": at}))
        .collect()
}

// row: 2.8 all kinds.id; 2.8 all kinds.name; 2.8 all kinds.site_type; 2.8 all kinds.enabled
// row: 2.8 all kinds.interval; 2.8 all kinds.timeout; 2.8 all kinds.mode; 2.8 all kinds.home_location
// row: 2.8 all kinds.locations; 2.8 all kinds.monitor_location_count; 2.8 all kinds.billing_plancode
// row: 2.8 all kinds.notify_on_error; 2.8 all kinds.traceroute_on_error; 2.8 website.url
// row: 2.8 website.http_method; 2.8 website.http_version; 2.8 website.port; 2.8 website.resolve_dns
// row: 2.8 website.ip_address; 2.8 website.http_follow_redirects; 2.8 website.http_302_is_error
// row: 2.8 website.http_401_is_error; 2.8 website.http_caching; 2.8 website.check_ssl_expiration_dates
// row: 2.8 website.realm_userid; 2.8 website.realm_password; 2.8 website.keyword_string
// row: 2.8 website.keyword_match_type; 2.8 website.keyword_match_invert
// row: 2.8 website.notify_on_content_change; 2.8 website.notify_on_fullpage_errors
// row: 2.8 website.check_fullpage_object_sizes; 2.8 website.check_fullpage_missing_objects
// row: 2.8 website.fullpage_object_timeout; 2.8 website.interval_fullpage; 2.8 website.smtp_hostname
// row: 2.8 website.pop3_hostname; 2.8 browserscript.browser_type; 2.8 browserscript.capture_level
// row: 2.8 browserscript.continue_playback_on_timeout; 2.8 browserscript.step_timeout
// row: 2.8 browserscript.transaction_steps_allowed; 2.8 browserscript.interval_fullpage
// row: 2.8 browserscript.fullpage_object_timeout; 2.8 browserscript.notify_on_content_change
// row: 2.8 browserscript.notify_on_fullpage_errors; 2.8 apiproject.test_suite; 2.8 apiproject.test_case
// row: 2.8 apiproject.capture_level; 2.8 apiproject.transaction_steps_allowed; 2.8 texts; 2.8 flags
// row: 2.8 Disabled
#[tokio::test]
async fn records_have_the_documented_fields_and_only_texts() {
    let (app, admin) = start_with_admin().await;
    admin.made(website("w")).await;
    let play = "<script version=\"1\"><step name=\"a\"><open url=\"http://a.test/\"/></step></script>";
    insert_monitor(
        &app,
        10,
        MonitorType::BrowserScript,
        Origin::Api,
        json!({"name": "b", "billing_plancode": "p", "script": play, "capture": {"level": "All Events on Error"}}),
    );
    insert_monitor(
        &app,
        11,
        MonitorType::ApiProject,
        Origin::Api,
        json!({"name": "a", "billing_plancode": "p", "script": "<p/>", "test_suite": "s", "test_case": "c"}),
    );
    let response = admin.get("/devices").await;
    let records = response["results"].as_array().unwrap();
    assert_eq!(records.len(), 3);
    for record in records {
        let own: &[&str] = match record["site_type"].as_str().unwrap() {
            "website" => &WEBSITE,
            "browserscript" => &SCRIPT,
            "apiproject" => &PROJECT,
            other => panic!("{other}"),
        };
        for field in ALL.iter().chain(own) {
            assert!(record.get(*field).is_some(), "{field} of {record}");
        }
        assert!(has_only_texts(record), "{record}");
        assert!(record.get("script").is_none() && record.get("rotate_locations").is_none());
        assert_eq!(record["locations"], json!([{"id": "1", "name": "Home"}]));
        assert_eq!((&record["home_location"], &record["mode"]), (&json!("1"), &json!("V")));
    }
    let website = records.iter().find(|record| record["site_type"] == "website").unwrap();
    for (field, value) in [
        ("http_method", "g"),
        ("http_version", "1.1"),
        ("http_caching", "Disabled"),
        ("port", ""),
        ("ip_address", ""),
        ("keyword_match_invert", "Disabled"),
        ("keyword_match_type", "Plain Text"),
        ("check_ssl_expiration_dates", "Disabled"),
        ("http_302_is_error", "n"),
        ("http_401_is_error", "y"),
        ("interval_fullpage", "-1"),
        ("interval", "5"),
        ("timeout", "30"),
    ] {
        assert_eq!(website[field], value, "{field}");
    }
    let script = records.iter().find(|record| record["site_type"] == "browserscript").unwrap();
    assert_eq!((&script["browser_type"], &script["capture_level"]), (&json!("FF"), &json!("4")));
}

// row: 4.1 GET /devices id; 4.1 GET /devices site_type; 4.1 GET /devices 1; 4.1 GET /devices 2
// row: 4.1 GET /devices 3; 4.1 status 0; 7 0
#[tokio::test]
async fn ids_and_types_filter_in_every_combination() {
    let (app, admin) = start_with_admin().await;
    let named = |name: &str, more: Value| {
        let mut fields = json!({"name": name, "billing_plancode": "p"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    let insert = |id, kind, more: Value| insert_monitor(&app, id, kind, Origin::Api, named("m", more));
    insert(1, MonitorType::Website, json!({}));
    insert(2, MonitorType::WebsiteApi, json!({"api_steps": steps(1)}));
    insert(3, MonitorType::WebsiteApi, json!({"api_steps": steps(2)}));
    insert(4, MonitorType::WebsiteSslApi, json!({"api_steps": steps(3)}));
    insert(5, MonitorType::Ping, json!({}));
    insert(6, MonitorType::MobileLab, json!({}));
    insert(7, MonitorType::CollectionApi, json!({"script": "{}"}));
    for (query, expected) in [
        ("", "1,2,3,4,5,6"),
        ("id=5", "5"),
        ("id=5,1,99", "1,5"),
        ("id=98,99", ""),
        ("id=5,5", "5"),
        ("id=", "1,2,3,4,5,6"),
        ("site_type=ping", "5"),
        ("site_type=ping,website", "1,5"),
        ("site_type=website-api", "2,3"),
        ("site_type=transaction", "3"),
        ("site_type=transaction-ssl", "4"),
        ("site_type=transaction,website", "1,3"),
        ("site_type=ftp", ""),
        ("site_type=nonsense", ""),
        ("site_type=nonsense,ping", "5"),
        ("id=1,3,5&site_type=transaction,ping", "3,5"),
        ("id=1&site_type=ping", ""),
    ] {
        assert_eq!(admin.ids(query).await.join(","), expected, "{query}");
    }
    for invalid in [
        "id=99",
        "id=x",
        "id=1,x",
        "id=1,",
        "id=-1",
        "id=1.0",
        "id=7",
        "id=99&site_type=ping",
        "id=9999999999999999999",
    ] {
        assert_eq!(
            outcome(&admin.get(&format!("/devices?{invalid}")).await),
            ("65", "Invalid device."),
            "{invalid}"
        );
    }
    assert_eq!(outcome(&admin.get("/devices?show_scripts=yes").await), ("66", "Invalid show_scripts"));
}

// row: 2.8 browserscript.script; 2.8 apiproject.script; 4.1 GET /devices show_scripts; 4.1 GET /devices 4
// row: 4.1 POST /devices 7
#[tokio::test]
async fn scripts_are_returned_byte_for_byte_and_only_on_request() {
    let (app, admin) = start_with_admin().await;
    let project = "<?xml version=\"1.0\"?>\r\n<p a='\\\"'>\t\u{e9}\u{1f600} <![CDATA[ \\n \" ]]>\n</p>\n";
    let body = json!({"billing_plancode": "p", "site_type": "apiproject", "name": "a", "script": project, "test_suite": "s", "test_case": "c", "interval": 5, "enabled": "y"});
    let id = admin.made(body).await;
    let jar = "UEsDBAoAAAAAAA==";
    insert_monitor(
        &app,
        9,
        MonitorType::Selenium,
        Origin::Api,
        json!({"name": "s", "billing_plancode": "p", "script": jar}),
    );
    let script = async |query: String| {
        admin.get(&format!("/devices?{query}")).await["results"][0].get("script").cloned()
    };
    assert_eq!(script(format!("id={id}&show_scripts=1")).await, Some(json!(project)));
    assert_eq!(script("id=9&show_scripts=1".to_owned()).await, Some(json!(jar)));
    for off in ["", "&show_scripts=0", "&show_scripts="] {
        assert_eq!(script(format!("id={id}{off}")).await, None);
        assert_eq!(script(format!("id=9{off}")).await, None);
    }
}

#[tokio::test]
async fn a_long_list_with_large_scripts_is_complete_without_duplicates() {
    let (app, admin) = start_with_admin().await;
    let large = format!("<p>{}</p>", "x".repeat(600_000));
    for id in 1..=450 {
        let script = if id % 10 == 0 { large.as_str() } else { "<p/>" };
        insert_monitor(
            &app,
            id,
            MonitorType::ApiProject,
            Origin::Api,
            json!({"name": "n", "billing_plancode": "p", "script": script, "test_suite": "s", "test_case": "c"}),
        );
    }
    let response = admin.get("/devices?show_scripts=1").await;
    let ids: Vec<i64> = response["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (450, 450));
    assert!(ids.is_sorted());
    assert_eq!(admin.ids("").await.len(), 450);
}

#[tokio::test]
async fn locations_are_listed_as_texts() {
    let (_app, admin) = start_with_admin().await;
    let expected = json!([{"id": "1", "name": "Home", "region": "1"}, {"id": "2", "name": "Away", "region": "2"}, {"id": "3", "name": "Far", "region": "3"}]);
    assert_eq!(admin.get("/locations").await["results"], expected);
}
