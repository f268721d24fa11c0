//! Monitor bulk edit: good and bad bodies, and that a refused one changes nothing.

use proptest::prelude::*;
use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType as T, Revision, Role};
use vigie::schema::reader::InputFormat;
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::bulk::support::{edit, made, of_file, told, whole, with};
use crate::fleet::kit::{Kit, admin, caller, website};
use crate::support::fields::Fields;

#[tokio::test]
async fn all_get_what_the_body_says_and_keep_the_rest() {
    let kit = Kit::new();
    let one = kit.made(json!({"note": "mine", "alert_note": "call", "realm_password": "hush"})).await;
    let ping = made(&kit, T::Ping, json!({"hostname": "a.example", "enabled": false})).await;
    let other = kit.made(json!({"name": "other"})).await;
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[one, ping, one], json!({"note": "ours"})))
        .await
        .unwrap();
    for id in [one, ping] {
        let monitor = kit.monitor(id);
        let document = &monitor.document;
        assert_eq!(monitor.revision, Revision(2), "a number that stands twice counts once");
        assert_eq!((document.number("interval"), document.number("timeout")), (10, 20));
        assert_eq!((document.text("note"), document.flag("enabled")), (Some("ours"), true));
        assert_eq!(monitor.metadata.modified_by, "anna");
    }
    assert_eq!(kit.monitor(one).document.text("alert_note"), Some("call"), "what the body has not stays");
    assert_eq!(kit.monitor(one).document.text("realm_password"), Some("hush"));
    assert_eq!(kit.monitor(other).revision, Revision(1));
    assert_eq!(kit.notes.planned()[&ping], Revision(2));
    let audit = kit.audit().await;
    let edits: Vec<_> = audit.iter().filter(|row| row.action == "bulk-edit").collect();
    assert_eq!(edits.iter().map(|row| row.object_id).collect::<Vec<_>>(), [Some(one.0), Some(ping.0)]);
    assert_eq!(edits[0].before["note"], "mine");
    assert_eq!(edits[0].after["interval"], 10);
    let kit = kit.restarted().await;
    assert_eq!(kit.monitor(one).document.text("note"), Some("ours"));
    assert_eq!(kit.monitor(one).document.text("realm_password"), Some("hush"));
}

#[tokio::test]
async fn locations_are_replaced_or_appended() {
    let kit = Kit::new();
    let locations = |kit: &Kit, id: MonitorId| -> Vec<i64> {
        let monitor = kit.monitor(id);
        monitor.document.list("locations").iter().map(|at| at["id"].as_i64().unwrap()).collect()
    };
    let own = kit.made(json!({"locations": [{"id": 2}], "home_location": 2})).await;
    let default = kit.made(json!({})).await;
    let both = [own, default];
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&both, json!({"locations": [{"id": 1}, {"id": 2}]})))
        .await
        .unwrap();
    assert_eq!((locations(&kit, own), locations(&kit, default)), (vec![1, 2], vec![1, 2]));
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&both, json!({"locations": []}))).await.unwrap();
    assert_eq!((locations(&kit, own), locations(&kit, default)), (vec![], vec![]));
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[own], json!({"locations": [{"id": 1}]})))
        .await
        .unwrap();
    let append = json!({"locations": [{"id": 2}, {"id": 1}], "update_locations_action": "append"});
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&both, append)).await.unwrap();
    assert_eq!(locations(&kit, own), [1, 2], "each location once, the present ones first");
    assert_eq!(locations(&kit, default), [1, 2], "behind the account's, which it used so far");
    let nothing = json!({"update_locations_action": "append"});
    monitors::bulk_edit(&kit.monitors, &admin(), &edit(&both, nothing)).await.unwrap();
    assert_eq!(locations(&kit, own), [1, 2]);
}

#[tokio::test]
async fn a_bad_body_is_refused_with_all_that_is_wrong() {
    let kit = Kit::new();
    let one = kit.made(json!({})).await;
    let mobile = json!({"hostname": "a.example", "api_key": "k", "run_configuration": "{}"});
    let mobile = made(&kit, T::MobileCloud, mobile).await;
    let before = whole(&kit).await;
    let ids = [one, mobile];
    let cases: &[(Value, &[&str])] = &[
        (json!({"interval": 7}), &["interval: `interval` must be one of"]),
        (json!({"interval": null}), &["interval: `interval` is required"]),
        (
            json!({"mode": "Sometimes", "nmae": "x"}),
            &["mode: `mode` must be one of", "nmae: `nmae` is no field"],
        ),
        (json!({"monitors": []}), &["monitors: `monitors` must have at least 1"]),
        (json!({"monitors": 7}), &["monitors: `monitors` must be a list"]),
        (json!({"monitors": ["7"]}), &["monitors[0]: `monitors[0]` must be a whole number"]),
        (json!({"update_locations_action": "remove"}), &["update_locations_action: "]),
        (json!({"note": "x".repeat(1001)}), &["note: `note` must have at most 1000"]),
        (json!({"custom_properties": [{"id": 1}]}), &["custom_properties[0].value_id: "]),
    ];
    for (more, wanted) in cases {
        let found = told(monitors::bulk_edit(&kit.monitors, &admin(), &edit(&ids, more.clone())).await);
        assert_eq!(found.len(), wanted.len(), "{more}: {found:?}");
        assert!(found.iter().zip(*wanted).all(|(found, start)| found.starts_with(start)), "{found:?}");
    }
    let found = told(monitors::bulk_edit(&kit.monitors, &admin(), &Node::from(json!({}))).await);
    assert_eq!(found.len(), 13, "each missing field: {found:?}");
    let first = format!("mode: monitor `{}`: `mode` must be one of `One Handset (Rotated)`", mobile.0);
    let found = told(monitors::bulk_edit(&kit.monitors, &admin(), &edit(&ids, json!({}))).await);
    assert!(found.len() == 1 && found[0].starts_with(&first), "{found:?}");
    let found =
        told(monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[one], json!({"home_location": 9}))).await);
    assert!(found[0].starts_with(&format!("home_location: monitor `{}`: ", one.0)), "{found:?}");
    let found = told(
        monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[one], json!({"locations": [{"id": 9}]}))).await,
    );
    assert!(found[0].contains("location `9` does not exist"), "{found:?}");
    let found = told(
        monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[one], json!({"monitor_location_count": 1})))
            .await,
    );
    assert!(found[0].contains("must be `0`"), "{found:?}");
    assert_eq!(whole(&kit).await, before);
}

#[tokio::test]
async fn ids_that_are_not_the_callers_are_refused_by_name() {
    let kit = Kit::new();
    let one = kit.made(json!({})).await;
    let body = website(json!({}));
    let stranger = caller(2, Role::Admin);
    let foreign =
        monitors::create(&kit.monitors, &stranger, T::Website, InputFormat::V3, &body).await.unwrap();
    let foreign = MonitorId(foreign.id);
    let filed = of_file(&kit, 77).await;
    let before = whole(&kit).await;
    for (id, wanted) in [
        (foreign, format!("Monitor `{}` does not exist", foreign.0)),
        (MonitorId(999_999), "Monitor `999999` does not exist".to_owned()),
        (filed, "Monitor `77`: This monitor is managed by a file on the server (key `shop`)".to_owned()),
    ] {
        let error =
            monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[one, id], json!({}))).await.unwrap_err();
        assert!(
            matches!(&error, ServiceError::Forbidden(reason) if reason.starts_with(&wanted)),
            "{error:?}"
        );
    }
    let error = monitors::bulk_edit(&kit.monitors, &caller(1, Role::ReadOnly), &edit(&[one], json!({})))
        .await
        .unwrap_err();
    assert!(matches!(error, ServiceError::Forbidden(_)), "{error:?}");
    kit.ledger.broken.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(monitors::bulk_edit(&kit.monitors, &admin(), &edit(&[one], json!({}))).await.is_err());
    kit.ledger.broken.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(whole(&kit).await, before);
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
            let kit = Kit::new();
            let mut all = Vec::new();
            for number in 0..3 {
                all.push(kit.made(json!({"name": number.to_string()})).await);
            }
            all.push(made(&kit, T::Ping, json!({"hostname": "a.example"})).await);
            for (change, chosen, stranger) in changes {
                let mut ids: Vec<_> = all.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(id, _)| *id).collect();
                if stranger == 0 {
                    ids.push(MonitorId(424_242));
                }
                let before = whole(&kit).await;
                let revisions: Vec<_> = all.iter().map(|id| kit.monitor(*id).revision).collect();
                match monitors::bulk_edit(&kit.monitors, &admin(), &edit(&ids, change.clone())).await {
                    Err(_) => assert_eq!(whole(&kit).await, before, "{change}"),
                    Ok(_) => {
                        for (id, revision) in all.iter().zip(revisions) {
                            let monitor = kit.monitor(*id);
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
