//! Monitor bulk edit: valid and invalid bodies, and that a refused one changes nothing.

use proptest::prelude::*;
use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, MonitorId, MonitorType as T, Revision, Role};
use vigie::schema::SecretMode;
use vigie::schema::reader::InputFormat;
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::store::ConfigStore;
use vigie::syntax::node::Node;

use crate::bulk::support::{create_file_monitor, create_monitor, edit, error_texts, snapshot, with};
use crate::monitors::harness::{Harness, admin, caller, website};
use crate::monitors::shown::record;
use crate::support::fields::Fields;

// row: 2.5 Monitor bulk edit.monitors; 2.5 Monitor bulk edit.billing_plancode; 2.5 Monitor bulk edit.enabled
// row: 2.5 Monitor bulk edit.interval; 2.5 Monitor bulk edit.mode; 2.5 Monitor bulk edit.rotate_locations
// row: 2.5 Monitor bulk edit.monitor_location_count; 2.5 Monitor bulk edit.notify_on_error
// row: 2.5 Monitor bulk edit.home_location; 2.5 Monitor bulk edit.retry_on_failure
// row: 2.5 Monitor bulk edit.allow_internal_testing; 2.5 Monitor bulk edit.traceroute_on_error
// row: 2.5 Monitor bulk edit.timeout; 2.5 Monitor bulk edit.alert_note; 2.5 Monitor bulk edit.note
// row: 2.5 Monitor bulk edit.custom_properties; 2.5 Monitor bulk edit.locations
#[tokio::test]
async fn every_field_of_the_body_reaches_every_monitor() {
    let harness = Harness::new();
    let property =
        json!({"name": "colour", "values": [{"id": 1, "value": "red"}, {"id": 2, "value": "blue"}]});
    let created = harness
        .store
        .write_changes(vec![record(ConfigRecordKind::Property, None, property)], vec![])
        .await
        .unwrap();
    harness.accounts.invalidate_all();
    let ids = [harness.create_monitor(json!({})).await, harness.create_monitor(json!({})).await];
    let untouched = harness.create_monitor(json!({})).await;
    let values = json!({
        "billing_plancode": "small", "enabled": false, "interval": 20, "mode": "Global Notify",
        "rotate_locations": true, "notify_on_error": false, "home_location": 2, "retry_on_failure": false,
        "allow_internal_testing": false, "traceroute_on_error": false, "timeout": 25, "alert_note": "call",
        "note": "ours", "locations": [{"id": 2}, {"id": 1}],
        "custom_properties": [{"id": created[0], "value_id": 2}],
    });
    let body = edit(&ids, with(values.clone(), json!({"monitor_location_count": 0})));
    monitors::bulk_edit(&harness.monitors, &admin(), &body).await.unwrap();
    let before = harness.monitor(untouched).document.to_json(SecretMode::Masked);
    for id in ids {
        let after = harness.monitor(id).document.to_json(SecretMode::Masked);
        for (name, value) in values.as_object().unwrap() {
            assert_eq!(&after[name], value, "{name}");
            assert_ne!(before.get(name), Some(value), "{name} of another");
        }
    }
    // The count is 0 or an error.
    let refused = edit(&ids, json!({"monitor_location_count": 1}));
    let errors = error_texts(monitors::bulk_edit(&harness.monitors, &admin(), &refused).await);
    assert!(errors[0].contains("monitor_location_count"), "{errors:?}");
}

#[tokio::test]
async fn all_monitors_get_the_fields_of_the_body_and_keep_the_others() {
    let harness = Harness::new();
    let one =
        harness.create_monitor(json!({"note": "mine", "alert_note": "call", "realm_password": "hush"})).await;
    let ping = create_monitor(&harness, T::Ping, json!({"hostname": "a.example", "enabled": false})).await;
    let other = harness.create_monitor(json!({"name": "other"})).await;
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[one, ping, one], json!({"note": "ours"})))
        .await
        .unwrap();
    for id in [one, ping] {
        let monitor = harness.monitor(id);
        let document = &monitor.document;
        assert_eq!(monitor.revision, Revision(2), "a number that stands twice counts once");
        assert_eq!((document.number("interval"), document.number("timeout")), (10, 20));
        assert_eq!((document.text("note"), document.flag("enabled")), (Some("ours"), true));
        assert_eq!(monitor.metadata.modified_by, "anna");
    }
    assert_eq!(harness.monitor(one).document.text("alert_note"), Some("call"), "what the body has not stays");
    assert_eq!(harness.monitor(one).document.text("realm_password"), Some("hush"));
    assert_eq!(harness.monitor(other).revision, Revision(1));
    assert_eq!(harness.planner.planned()[&ping], Revision(2));
    let audit = harness.audit().await;
    let edits: Vec<_> = audit.iter().filter(|row| row.action == "bulk-edit").collect();
    assert_eq!(edits.iter().map(|row| row.object_id).collect::<Vec<_>>(), [Some(one.0), Some(ping.0)]);
    assert_eq!(edits[0].before["note"], "mine");
    assert_eq!(edits[0].after["interval"], 10);
    let harness = harness.restarted().await;
    assert_eq!(harness.monitor(one).document.text("note"), Some("ours"));
    assert_eq!(harness.monitor(one).document.text("realm_password"), Some("hush"));
}

// row: 2.5 Monitor bulk edit.locations; 2.5 Monitor bulk edit.update_locations_action
// row: 2.5 Monitor bulk edit.home_location
#[tokio::test]
async fn locations_are_replaced_or_appended() {
    let harness = Harness::new();
    let locations = |harness: &Harness, id: MonitorId| -> Vec<i64> {
        let monitor = harness.monitor(id);
        monitor.document.list("locations").iter().map(|at| at["id"].as_i64().unwrap()).collect()
    };
    let own = harness.create_monitor(json!({"locations": [{"id": 2}], "home_location": 2})).await;
    let default = harness.create_monitor(json!({})).await;
    let both = [own, default];
    monitors::bulk_edit(
        &harness.monitors,
        &admin(),
        &edit(&both, json!({"locations": [{"id": 1}, {"id": 2}]})),
    )
    .await
    .unwrap();
    assert_eq!((locations(&harness, own), locations(&harness, default)), (vec![1, 2], vec![1, 2]));
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&both, json!({"locations": []}))).await.unwrap();
    assert_eq!((locations(&harness, own), locations(&harness, default)), (vec![], vec![]));
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[own], json!({"locations": [{"id": 1}]})))
        .await
        .unwrap();
    let append = json!({"locations": [{"id": 2}, {"id": 1}], "update_locations_action": "append"});
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&both, append)).await.unwrap();
    assert_eq!(locations(&harness, own), [1, 2], "each location once, the present ones first");
    assert_eq!(locations(&harness, default), [1, 2], "behind the account's, which it used so far");
    let nothing = json!({"update_locations_action": "append"});
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&both, nothing)).await.unwrap();
    assert_eq!(locations(&harness, own), [1, 2]);
}

#[tokio::test]
async fn an_invalid_body_is_refused_with_all_its_errors() {
    let harness = Harness::new();
    let one = harness.create_monitor(json!({})).await;
    let mobile = json!({"hostname": "a.example", "api_key": "k", "run_configuration": "{}"});
    let mobile = create_monitor(&harness, T::MobileCloud, mobile).await;
    let before = snapshot(&harness).await;
    let ids = [one, mobile];
    let cases: &[(Value, &[&str])] = &[
        (json!({"interval": 7}), &["interval: `interval` must be one of"]),
        (json!({"interval": null}), &["interval: `interval` is required"]),
        (
            json!({"mode": "Sometimes", "nmae": "x"}),
            &["mode: `mode` must be one of", "nmae: `nmae` is not a field"],
        ),
        (json!({"monitors": []}), &["monitors: `monitors` must have at least 1"]),
        (json!({"monitors": 7}), &["monitors: `monitors` must be a list"]),
        (json!({"monitors": ["7"]}), &["monitors[0]: `monitors[0]` must be a whole number"]),
        (json!({"update_locations_action": "remove"}), &["update_locations_action: "]),
        (json!({"note": "x".repeat(1001)}), &["note: `note` must have at most 1000"]),
        (json!({"custom_properties": [{"id": 1}]}), &["custom_properties[0].value_id: "]),
    ];
    for (more, expected) in cases {
        let found =
            error_texts(monitors::bulk_edit(&harness.monitors, &admin(), &edit(&ids, more.clone())).await);
        assert_eq!(found.len(), expected.len(), "{more}: {found:?}");
        assert!(found.iter().zip(*expected).all(|(found, start)| found.starts_with(start)), "{found:?}");
    }
    let found = error_texts(monitors::bulk_edit(&harness.monitors, &admin(), &Node::from(json!({}))).await);
    assert_eq!(found.len(), 13, "each missing field: {found:?}");
    let first = format!("mode: monitor `{}`: `mode` must be one of `One Handset (Rotated)`", mobile.0);
    let found = error_texts(monitors::bulk_edit(&harness.monitors, &admin(), &edit(&ids, json!({}))).await);
    assert!(found.len() == 1 && found[0].starts_with(&first), "{found:?}");
    let found = error_texts(
        monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[one], json!({"home_location": 9}))).await,
    );
    assert!(found[0].starts_with(&format!("home_location: monitor `{}`: ", one.0)), "{found:?}");
    let found = error_texts(
        monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[one], json!({"locations": [{"id": 9}]})))
            .await,
    );
    assert!(found[0].contains("location `9` does not exist"), "{found:?}");
    let found = error_texts(
        monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[one], json!({"monitor_location_count": 1})))
            .await,
    );
    assert!(found[0].contains("must be `0`"), "{found:?}");
    assert_eq!(snapshot(&harness).await, before);
}

#[tokio::test]
async fn ids_that_are_not_the_callers_are_refused_by_name() {
    let harness = Harness::new();
    let one = harness.create_monitor(json!({})).await;
    let body = website(json!({}));
    let stranger = caller(2, Role::Admin);
    let foreign =
        monitors::create(&harness.monitors, &stranger, T::Website, InputFormat::V3, &body).await.unwrap();
    let foreign = MonitorId(foreign.id);
    let filed = create_file_monitor(&harness, 77).await;
    let before = snapshot(&harness).await;
    for (id, expected) in [
        (foreign, format!("Monitor `{}` does not exist", foreign.0)),
        (MonitorId(999_999), "Monitor `999999` does not exist".to_owned()),
        (filed, "Monitor `77`: This monitor is managed by a file on the server (key `shop`)".to_owned()),
    ] {
        let error =
            monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[one, id], json!({}))).await.unwrap_err();
        assert!(
            matches!(&error, ServiceError::Forbidden(reason) if reason.starts_with(&expected)),
            "{error:?}"
        );
    }
    let error = monitors::bulk_edit(&harness.monitors, &caller(1, Role::ReadOnly), &edit(&[one], json!({})))
        .await
        .unwrap_err();
    assert!(matches!(error, ServiceError::Forbidden(_)), "{error:?}");
    harness.store.broken.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(monitors::bulk_edit(&harness.monitors, &admin(), &edit(&[one], json!({}))).await.is_err());
    harness.store.broken.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(snapshot(&harness).await, before);
}

fn any_change() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        Just(json!({"interval": 7})),
        Just(json!({"mode": "Round Robin"})),
        Just(json!({"mode": "Primary", "rotate_locations": true})),
        Just(json!({"home_location": 9})),
        Just(json!({"locations": [{"id": 1}, {"id": 1}]})),
        Just(json!({"locations": [{"id": 2}]})),
        Just(json!({"monitor_location_count": 1})),
        Just(json!({"timeout": "20"})),
        Just(json!({"note": "x"})),
        Just(json!({"enabled": false})),
        Just(json!({"custom_properties": [{"id": 1, "value_id": 1}]})),
    ];
    prop::collection::vec(field, 0..4).prop_map(|fields| fields.into_iter().fold(json!({}), with))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_bulk_edit_changes_all_or_nothing(
        changes in prop::collection::vec((any_change(), any::<[bool; 4]>(), 0..8_i64), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let harness = Harness::new();
            let mut all = Vec::new();
            for number in 0..3 {
                all.push(harness.create_monitor(json!({"name": number.to_string()})).await);
            }
            all.push(create_monitor(&harness, T::Ping, json!({"hostname": "a.example"})).await);
            for (change, chosen, stranger) in changes {
                let mut ids: Vec<_> = all.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(id, _)| *id).collect();
                if stranger == 0 {
                    ids.push(MonitorId(424_242));
                }
                let before = snapshot(&harness).await;
                let revisions: Vec<_> = all.iter().map(|id| harness.monitor(*id).revision).collect();
                match monitors::bulk_edit(&harness.monitors, &admin(), &edit(&ids, change.clone())).await {
                    Err(_) => assert_eq!(snapshot(&harness).await, before, "{change}"),
                    Ok(_) => {
                        for (id, revision) in all.iter().zip(revisions) {
                            let monitor = harness.monitor(*id);
                            if ids.contains(id) {
                                assert_eq!(monitor.document.number("timeout"), 20);
                            } else {
                                assert_eq!(monitor.revision, revision);
                            }
                        }
                    }
                }
            }
        });
    }
}
