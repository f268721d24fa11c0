//! Monitor files against the store.

use std::sync::Arc;

use serde_json::json;
use vigie::control::{Provision, Wanted, provision};
use vigie::model::{CustomerId, Document, Monitor, MonitorType, Origin, Revision};
use vigie::store::{Monitors, SqliteStore};

use crate::make::{at, sqlite};

fn wanted(key: &str, host: &str) -> Wanted {
    with_password(key, host, None)
}

fn with_password(key: &str, host: &str, password: Option<&str>) -> Wanted {
    let mut values = json!({"name": key, "url": format!("http://{host}/")});
    if let Some(password) = password {
        values["realm_userid"] = json!("probe");
        values["realm_password"] = json!(password);
    }
    let serde_json::Value::Object(values) = values else { unreachable!() };
    Wanted {
        key: key.into(),
        customer: CustomerId(1),
        document: Arc::new(Document::trusted(MonitorType::Website, values)),
    }
}

async fn load(store: &SqliteStore, files: &[Wanted], running: &[Monitor], second: i64) -> Provision {
    provision(store, files.to_vec(), running, at(second)).await.unwrap()
}

fn revisions(provision: &Provision) -> Vec<i64> {
    provision.monitors.iter().map(|monitor| monitor.revision.0).collect()
}

#[tokio::test]
async fn only_what_differs_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let first = load(&store, &[wanted("a", "one.test"), wanted("b", "two.test")], &[], 1).await;
    assert_eq!((first.changed.len(), first.removed.len(), revisions(&first)), (2, 0, vec![1, 1]));

    // The same again, as after a restart.
    let again = load(&store, &[wanted("a", "one.test"), wanted("b", "two.test")], &[], 2).await;
    assert_eq!((again.changed.len(), again.removed.len()), (0, 0));
    assert_eq!(again.monitors, first.monitors);

    // One changes, one goes, one comes; a key that moved in its file does not.
    let files = [wanted("c", "three.test"), wanted("b", "zwei.test")];
    let third = load(&store, &files, &again.monitors, 3).await;
    assert_eq!(third.changed.len(), 2);
    assert_eq!(third.removed, [first.monitors[0].id]);
    assert_eq!(revisions(&third), [1, 2]);
    assert_eq!(third.monitors[1].id, first.monitors[1].id);
    assert_eq!(third.monitors[1].modified_at, at(3));
    assert_eq!(store.monitors().await.unwrap().len(), 2);

    // The removed one comes back: its old id, its next revision.
    let back = load(&store, &[wanted("a", "one.test")], &third.monitors, 4).await;
    assert_eq!((back.monitors[0].id, back.monitors[0].revision), (first.monitors[0].id, Revision(2)));
    assert_eq!(back.removed.len(), 2);
}

#[tokio::test]
async fn a_secret_stays_out_of_the_store_and_its_change_is_a_new_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let file = |password| [with_password("a", "one.test", Some(password))];
    let first = load(&store, &file("hunter2"), &[], 1).await;
    assert_eq!(first.monitors[0].document.text("realm_password"), Some("hunter2"), "what runs has it");
    let stored = store.monitors().await.unwrap();
    assert_eq!(stored[0].document.text("realm_password"), None);
    assert_eq!(stored[0].document.text("url"), Some("http://one.test/"));

    assert!(load(&store, &file("hunter2"), &first.monitors, 2).await.changed.is_empty());
    let second = load(&store, &file("correct horse"), &first.monitors, 3).await;
    assert_eq!((second.changed.len(), revisions(&second)), (1, vec![2]));

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
        id: vigie::model::MonitorId(700),
        customer: CustomerId(1),
        origin: Origin::Api,
        revision: Revision(4),
        modified_at: at(0),
        document: wanted("x", "x.test").document,
        trail: Arc::default(),
    };
    store.change(vec![api.clone()], vec![]).await.unwrap();
    let mut other = wanted("a", "two.test");
    other.customer = CustomerId(2);
    let files = [wanted("a", "one.test"), other, wanted("b", "three.test")];
    let loaded = load(&store, &files, &[], 1).await;
    assert_eq!(loaded.changed.len(), 3);
    let customers: Vec<_> = loaded.monitors.iter().map(|monitor| monitor.customer.0).collect();
    assert_eq!(customers, [1, 2, 1]);
    let none = load(&store, &[], &loaded.monitors, 2).await;
    assert_eq!(none.removed.len(), 3);
    assert_eq!(store.monitors().await.unwrap(), [api]);
}
