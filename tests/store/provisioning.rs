//! Provisioning of monitor files into the store.

use std::sync::Arc;

use serde_json::json;
use vigie::domain::{CustomerId, MonitorType, Revision};
use vigie::schema::{Monitor, MonitorDocument, Origin};
use vigie::service::{DesiredMonitor, ProvisionPlan, provision};
use vigie::store::{AuditEntry, AuditFilter, ConfigStore, MonitorStore, Pagination, SqliteStore};

use crate::store::samples::{at, sqlite};
use crate::support::fields::Fields;

fn desired(key: &str, host: &str) -> DesiredMonitor {
    with_password(key, host, None)
}

fn with_password(key: &str, host: &str, password: Option<&str>) -> DesiredMonitor {
    let mut values = json!({"name": key, "url": format!("http://{host}/")});
    if let Some(password) = password {
        values["realm_userid"] = json!("probe");
        values["realm_password"] = json!(password);
    }
    let serde_json::Value::Object(values) = values else { unreachable!() };
    DesiredMonitor {
        key: key.into(),
        file_name: "shop.yaml".into(),
        customer: CustomerId(1),
        document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()),
        parent_keys: Vec::new(),
    }
}

async fn load(
    store: &SqliteStore,
    files: &[DesiredMonitor],
    running: &[Monitor],
    second: i64,
) -> ProvisionPlan {
    provision(store, files.to_vec(), running, at(second)).await.unwrap()
}

fn revisions(provision: &ProvisionPlan) -> Vec<i64> {
    provision.monitors.iter().map(|monitor| monitor.revision.0).collect()
}

#[tokio::test]
async fn only_monitors_that_differ_are_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let first = load(&store, &[desired("a", "one.test"), desired("b", "two.test")], &[], 1).await;
    assert_eq!((first.upserted.len(), first.removed.len(), revisions(&first)), (2, 0, vec![1, 1]));

    // The same files again, as after a restart.
    let again = load(&store, &[desired("a", "one.test"), desired("b", "two.test")], &[], 2).await;
    assert_eq!((again.upserted.len(), again.removed.len()), (0, 0));
    assert_eq!(again.monitors, first.monitors);

    // One monitor changes, one is removed, one is added; a key that only moved in its file is unchanged.
    let files = [desired("c", "three.test"), desired("b", "zwei.test")];
    let third = load(&store, &files, &again.monitors, 3).await;
    assert_eq!(third.upserted.len(), 2);
    assert_eq!(third.removed, [first.monitors[0].id]);
    assert_eq!(revisions(&third), [1, 2]);
    assert_eq!(third.monitors[1].id, first.monitors[1].id);
    assert_eq!(third.monitors[1].modified_at, at(3));
    assert_eq!(store.monitors().await.unwrap().len(), 2);

    // The removed monitor comes back with its old id and the next revision.
    let back = load(&store, &[desired("a", "one.test")], &third.monitors, 4).await;
    assert_eq!((back.monitors[0].id, back.monitors[0].revision), (first.monitors[0].id, Revision(2)));
    assert_eq!(back.removed.len(), 2);
}

#[tokio::test]
async fn a_secret_is_not_stored_and_its_change_is_a_new_revision() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let file = |password| [with_password("a", "one.test", Some(password))];
    let first = load(&store, &file("hunter2"), &[], 1).await;
    assert_eq!(first.monitors[0].document.text("realm_password"), Some("hunter2"), "what runs has it");
    let stored = store.monitors().await.unwrap();
    assert_eq!(stored[0].document.text("realm_password"), None);
    assert_eq!(stored[0].document.text("url"), Some("http://one.test/"));

    assert!(load(&store, &file("hunter2"), &first.monitors, 2).await.upserted.is_empty());
    let second = load(&store, &file("correct horse"), &first.monitors, 3).await;
    assert_eq!((second.upserted.len(), revisions(&second)), (1, vec![2]));

    store.close().await;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
    }
}

#[tokio::test]
async fn monitors_of_an_api_and_of_other_customers_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let api = Monitor {
        id: vigie::domain::MonitorId(700),
        customer: CustomerId(1),
        origin: Origin::Api,
        revision: Revision(4),
        modified_at: at(0),
        document: desired("x", "x.test").document,
        metadata: Arc::default(),
    };
    store.apply_monitors(vec![api.clone()], vec![], Box::new(|_| None)).await.unwrap();
    let mut other = desired("a", "two.test");
    other.customer = CustomerId(2);
    let files = [desired("a", "one.test"), other, desired("b", "three.test")];
    let loaded = load(&store, &files, &[], 1).await;
    assert_eq!(loaded.upserted.len(), 3);
    let customers: Vec<_> = loaded.monitors.iter().map(|monitor| monitor.customer.0).collect();
    assert_eq!(customers, [1, 2, 1]);
    let none = load(&store, &[], &loaded.monitors, 2).await;
    assert_eq!(none.removed.len(), 3);
    assert_eq!(store.monitors().await.unwrap(), [api]);
}

/// Returns the audit trail, oldest first.
async fn audit_trail(store: &SqliteStore) -> Vec<AuditEntry> {
    let all = Pagination::ALL;
    let mut rows = store.audit_entries(AuditFilter::default(), all).await.unwrap().items;
    rows.reverse();
    rows
}

#[tokio::test]
async fn the_audit_trail_names_files_and_changes_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let files = [with_password("a", "one.test", Some("hunter2")), desired("b", "two.test")];
    let first = load(&store, &files, &[], 1).await;
    // Loading again, in this process or after a restart (which does not know the secret), adds no entries.
    load(&store, &files, &first.monitors, 2).await;
    load(&store, &files, &[], 3).await;
    let created = audit_trail(&store).await;
    assert_eq!(created.len(), 2, "{created:?}");
    let summary = |row: &AuditEntry| {
        (row.login.clone(), row.entry_point.clone(), row.action.clone(), row.object_kind.clone())
    };
    let expected_summary = |login: &str, action: &str| {
        (login.to_owned(), "file".to_owned(), action.to_owned(), "monitor".to_owned())
    };
    assert_eq!(summary(&created[0]), expected_summary("file shop.yaml", "create"));
    assert_eq!((created[0].object_id, created[0].object_name.as_str()), (Some(first.monitors[0].id.0), "a"));
    assert_eq!((created[0].occurred_at, created[0].before.len()), (at(1), 0));
    assert_eq!(json!(created[0].after)["url"], "http://one.test/");
    assert_eq!(json!(created[0].after)["realm_password"], "********");

    // A new secret, another host, then the removal of both.
    let second = load(
        &store,
        &[with_password("a", "one.test", Some("correct horse")), desired("b", "zwei.test")],
        &first.monitors,
        4,
    )
    .await;
    load(&store, &[], &second.monitors, 5).await;
    let rows = audit_trail(&store).await;
    assert_eq!(rows.len(), 6);
    assert_eq!(
        json!([rows[2].before, rows[2].after]),
        json!([{"realm_password": "********"}, {"realm_password": "********"}])
    );
    assert_eq!(
        json!([rows[3].before, rows[3].after]),
        json!([{"url": "http://two.test/"}, {"url": "http://zwei.test/"}])
    );
    assert_eq!(summary(&rows[3]), expected_summary("file shop.yaml", "change"));
    assert_eq!(summary(&rows[4]), expected_summary("file", "delete"));
    assert_eq!((json!(rows[4].before)["name"].clone(), rows[4].after.len()), (json!("a"), 0));
    let text = format!("{rows:?}");
    assert!(!text.contains("hunter2") && !text.contains("correct horse"));
}

#[tokio::test]
async fn after_a_restart_a_secret_is_not_audited_as_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    load(&store, &[with_password("a", "one.test", Some("hunter2"))], &[], 1).await;
    load(&store, &[with_password("a", "uno.test", Some("hunter2"))], &[], 2).await;
    let rows = audit_trail(&store).await;
    assert_eq!(
        json!([rows[1].before, rows[1].after]),
        json!([{"url": "http://one.test/"}, {"url": "http://uno.test/"}])
    );
}

#[tokio::test]
async fn a_change_that_cannot_be_audited_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let one = load(&store, &[desired("a", "one.test")], &[], 1).await.monitors.remove(0);
    let conn = rusqlite::Connection::open(folder.path().join("vigie.db")).unwrap();
    conn.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    .unwrap();
    let files = vec![desired("a", "other.test")];
    provision(&store, files, std::slice::from_ref(&one), at(2)).await.unwrap_err();
    assert_eq!(store.monitors().await.unwrap(), [one], "the trail and the monitors are one transaction");
}

#[tokio::test]
async fn thousands_of_monitors_of_a_first_start_have_an_audit_entry_each() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let files: Vec<_> = (0..5_000).map(|number| desired(&format!("m{number}"), "many.test")).collect();
    let started = std::time::Instant::now();
    load(&store, &files, &[], 1).await;
    let took = started.elapsed();
    println!("5000 monitors of files: {took:?}");
    let rows = audit_trail(&store).await;
    assert_eq!(rows.len(), 5_000);
    assert_eq!((rows[4_999].object_name.as_str(), rows[4_999].action.as_str()), ("m4999", "create"));
}

#[tokio::test]
async fn what_a_monitor_of_a_file_depends_on_gets_its_ids_and_stays_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    // The child stands before its parent.
    let child = DesiredMonitor { parent_keys: vec!["router".into()], ..desired("shop", "shop.test") };
    let files = [child, desired("router", "router.test")];
    let first = load(&store, &files, &[], 1).await;
    let ids: Vec<_> = first.monitors.iter().map(|monitor| monitor.id).collect();
    assert_eq!(first.monitors[0].document.parent_ids(), [ids[1]]);
    let again = load(&store, &files, &[], 2).await;
    assert_eq!((again.upserted.len(), revisions(&again)), (0, vec![1, 1]));
    let without = [desired("shop", "shop.test"), desired("router", "router.test")];
    let third = load(&store, &without, &again.monitors, 3).await;
    assert_eq!(revisions(&third), [2, 1]);
}
