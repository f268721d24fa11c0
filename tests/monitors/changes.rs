//! Create, edit, delete: what is stored, planned and audited.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType, Revision, Role, Timestamp};
use vigie::schema::reader::InputFormat;
use vigie::schema::{Monitor, Origin};
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::monitors::harness::{Harness, NOON, admin, caller, error_messages, website};
use crate::support::fields::Fields;

#[tokio::test]
async fn a_new_monitor_is_stored_planned_and_audited() {
    let harness = Harness::new();
    let saved = harness.create(json!({"realm_password": "hunter2"})).await.unwrap();
    assert_eq!((saved.revision, saved.warnings.len()), (1, 0));
    let id = MonitorId(saved.id);
    let monitor = harness.monitor(id);
    assert_eq!(monitor.origin, Origin::Api);
    assert_eq!(monitor.document.text("realm_password"), Some("hunter2"));
    assert_eq!(monitor.metadata.created_at, Some(Timestamp::from_seconds(NOON)));
    assert_eq!(
        (monitor.metadata.created_by.as_str(), monitor.metadata.modified_by.as_str()),
        ("anna", "anna")
    );
    assert_eq!(harness.planner.planned(), [(id, Revision(1))].into());
    let audit = harness.audit().await;
    let row = audit.last().unwrap();
    assert_eq!(
        (row.action.as_str(), row.object_kind.as_str(), row.object_id),
        ("create", "monitor", Some(id.0))
    );
    assert_eq!(
        (row.login.as_str(), row.entry_point.as_str(), row.object_name.as_str()),
        ("anna", "v3", "shop")
    );
    assert_eq!(row.after["realm_password"], "********");
    assert!(row.before.is_empty());
}

#[tokio::test]
async fn an_invalid_body_changes_nothing() {
    let harness = Harness::new();
    let body = website(json!({"interval": 7, "home_location": 3, "nmae": "x"}));
    let error = monitors::create(&harness.monitors, &admin(), MonitorType::Website, InputFormat::V3, &body)
        .await
        .unwrap_err();
    assert_eq!(error_messages(error).len(), 3);
    assert!(
        harness.monitors.monitor_cache().is_empty()
            && harness.planner.planned().is_empty()
            && harness.audit().await.is_empty()
    );
}

#[tokio::test]
async fn an_edit_is_a_new_revision_with_an_audit_entry_of_the_changed_fields() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({"realm_password": "one", "note": "old"})).await;
    let saved =
        harness.patch(id, json!({"note": "new", "realm_password": "two", "timeout": 30})).await.unwrap();
    assert_eq!(saved.revision, 2);
    assert_eq!(harness.monitor(id).document.text("realm_password"), Some("two"));
    assert_eq!(harness.planner.planned(), [(id, Revision(2))].into());
    let row = harness.audit().await.pop().unwrap();
    assert_eq!(row.action, "change");
    assert_eq!(Value::Object(row.before), json!({"realm_password": "********", "note": "old"}));
    assert_eq!(Value::Object(row.after), json!({"realm_password": "********", "note": "new"}));
}

#[tokio::test]
async fn an_edit_without_changes_is_no_new_revision() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({"realm_password": "one"})).await;
    let calls = harness.planner.calls.load(std::sync::atomic::Ordering::Relaxed);
    let saved = harness.patch(id, json!({"name": "shop", "realm_password": "********"})).await.unwrap();
    assert_eq!(saved.revision, 1);
    assert_eq!(harness.monitor(id).document.text("realm_password"), Some("one"));
    assert_eq!(harness.audit().await.len(), 1);
    assert_eq!(harness.planner.calls.load(std::sync::atomic::Ordering::Relaxed), calls);
}

#[tokio::test]
async fn a_returned_monitor_can_be_sent_back_unchanged() {
    let harness = Harness::new();
    for kind in MonitorType::ALL {
        let body = json!({
            "billing_plancode": "p", "name": "n", "url": "http://a/", "hostname": "h", "port": 25,
            "smtp_hostname": "s", "pop3_hostname": "p", "email": "a@b.test", "api_key": "k", "run_configuration": "{}",
            "test_suite": "s", "test_case": "c", "host_id": "web-1", "enabled": false, "enable_ftp_upload": false,
            "script": if *kind == MonitorType::CollectionApi { "{}" } else { "<script/>" },
        });
        let Value::Object(mut body) = body else { unreachable!() };
        body.retain(|name, _| vigie::schema::table::for_type(*kind).field(name).is_some());
        match kind {
            MonitorType::WebsiteSsl | MonitorType::WebsiteSslApi => {
                body.insert("url".into(), json!("https://a/"));
            }
            MonitorType::BrowserScript => drop(body.shift_remove("script")),
            MonitorType::Selenium => drop(body.insert("script".into(), json!("UEsDBA=="))),
            _ => {}
        }
        let body = Node::from(Value::Object(body));
        let created = monitors::create(&harness.monitors, &admin(), *kind, InputFormat::V3, &body).await;
        let created = created.unwrap_or_else(|error| panic!("{kind}: {:?}", error_messages(error)));
        let id = MonitorId(created.id);
        let shown = harness.monitor_json(&admin(), id).await;
        let saved = harness.patch(id, Value::Object(shown)).await;
        let saved = saved.unwrap_or_else(|error| panic!("{kind}: {:?}", error_messages(error)));
        assert_eq!(saved.revision, 1, "{kind}: what changed {:?}", harness.audit().await.pop());
    }
}

#[tokio::test]
async fn a_deleted_monitor_is_removed_from_store_memory_and_plan() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    monitors::delete(&harness.monitors, &admin(), id, Some(Revision(1))).await.unwrap();
    assert!(harness.monitors.monitor_cache().get(id).is_none() && harness.planner.planned().is_empty());
    let row = harness.audit().await.pop().unwrap();
    assert_eq!((row.action.as_str(), row.before["name"].as_str()), ("delete", Some("shop")));
    assert_eq!(monitors::delete(&harness.monitors, &admin(), id, None).await, Err(ServiceError::NotFound));
    let harness = harness.restarted().await;
    assert!(harness.monitors.monitor_cache().is_empty());
}

#[tokio::test]
async fn a_stale_if_match_changes_nothing() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    harness.patch(id, json!({"note": "a"})).await.unwrap();
    let body = Node::from(json!({"note": "b"}));
    let stale =
        monitors::patch(&harness.monitors, &admin(), id, None, InputFormat::V3, &body, Some(Revision(1)))
            .await;
    assert_eq!(stale, Err(ServiceError::PreconditionFailed));
    assert_eq!(
        monitors::delete(&harness.monitors, &admin(), id, Some(Revision(1))).await,
        Err(ServiceError::PreconditionFailed)
    );
    assert_eq!(harness.monitor(id).document.text("note"), Some("a"));
    let fresh =
        monitors::patch(&harness.monitors, &admin(), id, None, InputFormat::V3, &body, Some(Revision(2)))
            .await
            .unwrap();
    assert_eq!(fresh.revision, 3);
}

#[tokio::test]
async fn a_monitor_of_another_account_is_not_found() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    let stranger = caller(2, Role::Admin);
    let body = Node::from(json!({"note": "x"}));
    let patched = monitors::patch(&harness.monitors, &stranger, id, None, InputFormat::V3, &body, None).await;
    let until = Timestamp::from_seconds(NOON + 60);
    assert_eq!(patched, Err(ServiceError::NotFound));
    assert_eq!(monitors::delete(&harness.monitors, &stranger, id, None).await, Err(ServiceError::NotFound));
    assert_eq!(
        monitors::pause_monitor(&harness.monitors, &stranger, id, until).await,
        Err(ServiceError::NotFound)
    );
    let other = monitors::patch(
        &harness.monitors,
        &admin(),
        id,
        Some(MonitorType::Ping),
        InputFormat::V3,
        &body,
        None,
    )
    .await;
    assert_eq!(other, Err(ServiceError::NotFound), "not of this type");
    assert_eq!(harness.monitor(id).revision, Revision(1));
}

#[tokio::test]
async fn a_read_only_role_can_change_nothing() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    for role in [Role::ReadOnly, Role::ReportOnly] {
        let caller = caller(1, role);
        let created = monitors::create(
            &harness.monitors,
            &caller,
            MonitorType::Website,
            InputFormat::V3,
            &website(json!({})),
        )
        .await;
        assert!(matches!(created, Err(ServiceError::Forbidden(_))));
        let patched = monitors::patch(
            &harness.monitors,
            &caller,
            id,
            None,
            InputFormat::V3,
            &Node::from(json!({"note": "x"})),
            None,
        )
        .await;
        assert!(matches!(patched, Err(ServiceError::Forbidden(_))));
        assert!(matches!(
            monitors::delete(&harness.monitors, &caller, id, None).await,
            Err(ServiceError::Forbidden(_))
        ));
    }
    assert_eq!(harness.audit().await.len(), 1);
}

#[tokio::test]
async fn a_monitor_of_a_file_can_only_be_changed_in_its_file() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    let file = Monitor { origin: Origin::File { key: "shop-1".into() }, ..harness.monitor(id) };
    harness.monitors.monitor_cache().apply(vec![file], &[]);
    let patched = harness.patch(id, json!({"note": "x"})).await.unwrap_err();
    let text = "This monitor is managed by a file on the server (key `shop-1`); change it there";
    assert_eq!(patched, ServiceError::Forbidden(text.to_owned()));
    assert_eq!(
        monitors::delete(&harness.monitors, &admin(), id, None).await,
        Err(ServiceError::Forbidden(text.to_owned()))
    );
    assert_eq!(harness.monitor_json(&admin(), id).await["access_type"], "View");
}

#[tokio::test]
async fn explicit_locations_stay_even_if_they_equal_those_of_the_account() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({})).await;
    harness.patch(id, json!({"locations": [{"id": 1}]})).await.unwrap();
    assert_eq!(harness.monitor_json(&admin(), id).await["monitor_uses_own_locations"], true);
}
