//! Create, edit, delete: what is kept, planned, told.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType, Revision, Role, Timestamp};
use vigie::schema::reader::InputFormat;
use vigie::schema::{Monitor, Origin};
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::fleet::kit::{Kit, NOON, admin, caller, faults, website};
use crate::support::fields::Fields;

#[tokio::test]
async fn a_new_monitor_is_kept_planned_and_told() {
    let kit = Kit::new();
    let saved = kit.create(json!({"realm_password": "hunter2"})).await.unwrap();
    assert_eq!((saved.revision, saved.warnings.len()), (1, 0));
    let id = MonitorId(saved.id);
    let monitor = kit.monitor(id);
    assert_eq!(monitor.origin, Origin::Api);
    assert_eq!(monitor.document.text("realm_password"), Some("hunter2"));
    assert_eq!(monitor.metadata.created_at, Some(Timestamp::from_seconds(NOON)));
    assert_eq!(
        (monitor.metadata.created_by.as_str(), monitor.metadata.modified_by.as_str()),
        ("anna", "anna")
    );
    assert_eq!(kit.notes.planned(), [(id, Revision(1))].into());
    let audit = kit.audit().await;
    let row = audit.last().unwrap();
    assert_eq!((row.action.as_str(), row.object.as_str(), row.object_id), ("create", "monitor", Some(id.0)));
    assert_eq!((row.login.as_str(), row.via.as_str(), row.object_name.as_str()), ("anna", "v3", "shop"));
    assert_eq!(row.after["realm_password"], "********");
    assert!(row.before.is_empty());
}

#[tokio::test]
async fn a_body_with_faults_leaves_nothing() {
    let kit = Kit::new();
    let body = website(json!({"interval": 7, "home_location": 3, "nmae": "x"}));
    let error = monitors::create(&kit.monitors, &admin(), MonitorType::Website, InputFormat::V3, &body)
        .await
        .unwrap_err();
    assert_eq!(faults(error).len(), 3);
    assert!(
        kit.monitors.monitors().is_empty() && kit.notes.planned().is_empty() && kit.audit().await.is_empty()
    );
}

#[tokio::test]
async fn an_edit_is_a_new_version_of_what_changed_alone() {
    let kit = Kit::new();
    let id = kit.made(json!({"realm_password": "one", "note": "old"})).await;
    let saved = kit.patch(id, json!({"note": "new", "realm_password": "two", "timeout": 30})).await.unwrap();
    assert_eq!(saved.revision, 2);
    assert_eq!(kit.monitor(id).document.text("realm_password"), Some("two"));
    assert_eq!(kit.notes.planned(), [(id, Revision(2))].into());
    let row = kit.audit().await.pop().unwrap();
    assert_eq!(row.action, "change");
    assert_eq!(Value::Object(row.before), json!({"realm_password": "********", "note": "old"}));
    assert_eq!(Value::Object(row.after), json!({"realm_password": "********", "note": "new"}));
}

#[tokio::test]
async fn an_edit_without_a_difference_is_no_new_version() {
    let kit = Kit::new();
    let id = kit.made(json!({"realm_password": "one"})).await;
    let calls = kit.notes.calls.load(std::sync::atomic::Ordering::Relaxed);
    let saved = kit.patch(id, json!({"name": "shop", "realm_password": "********"})).await.unwrap();
    assert_eq!(saved.revision, 1);
    assert_eq!(kit.monitor(id).document.text("realm_password"), Some("one"));
    assert_eq!(kit.audit().await.len(), 1);
    assert_eq!(kit.notes.calls.load(std::sync::atomic::Ordering::Relaxed), calls);
}

#[tokio::test]
async fn what_was_shown_can_be_sent_back() {
    let kit = Kit::new();
    for kind in MonitorType::ALL {
        let body = json!({
            "billing_plancode": "p", "name": "n", "url": "http://a/", "hostname": "h", "port": 25,
            "smtp_hostname": "s", "pop3_hostname": "p", "email": "a@b.test", "api_key": "k", "run_configuration": "{}",
            "test_suite": "s", "test_case": "c", "host_id": "web-1", "enabled": false,
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
        let made = monitors::create(&kit.monitors, &admin(), *kind, InputFormat::V3, &body).await;
        let made = made.unwrap_or_else(|error| panic!("{kind}: {:?}", faults(error)));
        let id = MonitorId(made.id);
        let shown = kit.shown(&admin(), id).await;
        let saved = kit.patch(id, Value::Object(shown)).await;
        let saved = saved.unwrap_or_else(|error| panic!("{kind}: {:?}", faults(error)));
        assert_eq!(saved.revision, 1, "{kind}: what changed {:?}", kit.audit().await.pop());
    }
}

#[tokio::test]
async fn a_deleted_monitor_is_gone_from_store_memory_and_plan() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    monitors::delete(&kit.monitors, &admin(), id, Some(Revision(1))).await.unwrap();
    assert!(kit.monitors.monitors().get(id).is_none() && kit.notes.planned().is_empty());
    let row = kit.audit().await.pop().unwrap();
    assert_eq!((row.action.as_str(), row.before["name"].as_str()), ("delete", Some("shop")));
    assert_eq!(monitors::delete(&kit.monitors, &admin(), id, None).await, Err(ServiceError::NotFound));
    let kit = kit.restarted().await;
    assert!(kit.monitors.monitors().is_empty());
}

#[tokio::test]
async fn a_stale_if_match_changes_nothing() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    kit.patch(id, json!({"note": "a"})).await.unwrap();
    let body = Node::from(json!({"note": "b"}));
    let stale =
        monitors::patch(&kit.monitors, &admin(), id, None, InputFormat::V3, &body, Some(Revision(1))).await;
    assert_eq!(stale, Err(ServiceError::PreconditionFailed));
    assert_eq!(
        monitors::delete(&kit.monitors, &admin(), id, Some(Revision(1))).await,
        Err(ServiceError::PreconditionFailed)
    );
    assert_eq!(kit.monitor(id).document.text("note"), Some("a"));
    let fresh = monitors::patch(&kit.monitors, &admin(), id, None, InputFormat::V3, &body, Some(Revision(2)))
        .await
        .unwrap();
    assert_eq!(fresh.revision, 3);
}

#[tokio::test]
async fn another_accounts_monitor_is_as_unknown_as_none() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    let stranger = caller(2, Role::Admin);
    let body = Node::from(json!({"note": "x"}));
    let patched = monitors::patch(&kit.monitors, &stranger, id, None, InputFormat::V3, &body, None).await;
    let until = Timestamp::from_seconds(NOON + 60);
    assert_eq!(patched, Err(ServiceError::NotFound));
    assert_eq!(monitors::delete(&kit.monitors, &stranger, id, None).await, Err(ServiceError::NotFound));
    assert_eq!(monitors::pause(&kit.monitors, &stranger, id, until).await, Err(ServiceError::NotFound));
    let other =
        monitors::patch(&kit.monitors, &admin(), id, Some(MonitorType::Ping), InputFormat::V3, &body, None)
            .await;
    assert_eq!(other, Err(ServiceError::NotFound), "not of this type");
    assert_eq!(kit.monitor(id).revision, Revision(1));
}

#[tokio::test]
async fn a_role_that_may_only_look_changes_nothing() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    for role in [Role::ReadOnly, Role::ReportOnly] {
        let caller = caller(1, role);
        let made = monitors::create(
            &kit.monitors,
            &caller,
            MonitorType::Website,
            InputFormat::V3,
            &website(json!({})),
        )
        .await;
        assert!(matches!(made, Err(ServiceError::Forbidden(_))));
        let patched = monitors::patch(
            &kit.monitors,
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
            monitors::delete(&kit.monitors, &caller, id, None).await,
            Err(ServiceError::Forbidden(_))
        ));
    }
    assert_eq!(kit.audit().await.len(), 1);
}

#[tokio::test]
async fn a_files_monitor_is_changed_in_its_file() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    let file = Monitor { origin: Origin::File { key: "shop-1".into() }, ..kit.monitor(id) };
    kit.monitors.monitors().apply(vec![file], &[]);
    let patched = kit.patch(id, json!({"note": "x"})).await.unwrap_err();
    let text = "This monitor is managed by a file on the server (key `shop-1`); change it there";
    assert_eq!(patched, ServiceError::Forbidden(text.to_owned()));
    assert_eq!(
        monitors::delete(&kit.monitors, &admin(), id, None).await,
        Err(ServiceError::Forbidden(text.to_owned()))
    );
    assert_eq!(kit.shown(&admin(), id).await["access_type"], "View");
}

#[tokio::test]
async fn locations_that_are_wished_for_stay_also_when_they_are_those_of_the_account() {
    let kit = Kit::new();
    let id = kit.made(json!({})).await;
    kit.patch(id, json!({"locations": [{"id": 1}]})).await.unwrap();
    assert_eq!(kit.shown(&admin(), id).await["monitor_uses_own_locations"], true);
}
