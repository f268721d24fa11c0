//! Stored monitors, their file keys and states.

use std::sync::Arc;

use serde_json::json;
use vigie::domain::{CustomerId, MonitorId, MonitorType, Revision};
use vigie::schema::{Monitor, MonitorDocument, Origin};
use vigie::store::{IngestBatch, MonitorLocationState};

use crate::store::samples::{at, ok};
use crate::store::suite::Store;

pub fn monitor(id: MonitorId, key: Option<&str>, revision: i64, host: &str) -> Monitor {
    let serde_json::Value::Object(values) =
        json!({"name": format!("Host {host}"), "hostname": host, "port": 25})
    else {
        unreachable!()
    };
    Monitor {
        id,
        customer: CustomerId(1),
        origin: key.map_or(Origin::Api, |key| Origin::File { key: key.into() }),
        revision: Revision(revision),
        modified_at: at(revision),
        document: Arc::new(MonitorDocument::new(MonitorType::Tcp, values).unwrap()),
        metadata: Arc::default(),
    }
}

fn keys(of: &[&str]) -> Vec<String> {
    of.iter().map(|&key| key.to_owned()).collect()
}

pub async fn monitors_are_returned_in_their_newest_revision(store: &impl Store) {
    let ids = store.ids_for_file_keys(CustomerId(1), keys(&["a", "b"])).await.unwrap();
    assert!(store.monitors().await.unwrap().is_empty(), "an id alone is no monitor");
    let a = monitor(ids[0], Some("a"), 1, "one.test");
    let b = monitor(ids[1], Some("b"), 1, "two.test");
    let api = monitor(MonitorId(900), None, 1, "three.test");
    store.apply_monitors(vec![a.clone(), b.clone(), api.clone()], vec![], Box::new(|_| None)).await.unwrap();
    assert_eq!(store.monitors().await.unwrap(), [a.clone(), b, api.clone()]);
    let newer = monitor(ids[1], Some("b"), 2, "zwei.test");
    store.apply_monitors(vec![newer.clone()], vec![api.id], Box::new(|_| None)).await.unwrap();
    assert_eq!(store.monitors().await.unwrap(), [a, newer]);
}

pub async fn file_keys_keep_their_ids_after_removal_and_return(store: &impl Store) {
    let first = store.ids_for_file_keys(CustomerId(1), keys(&["a", "b", "a"])).await.unwrap();
    assert_eq!(first[0], first[2]);
    assert_ne!(first[0], first[1]);
    store
        .apply_monitors(vec![monitor(first[0], Some("a"), 1, "x.test")], vec![], Box::new(|_| None))
        .await
        .unwrap();
    store.apply_monitors(vec![], vec![first[0]], Box::new(|_| None)).await.unwrap();
    assert!(store.monitors().await.unwrap().is_empty());
    let again = store.ids_for_file_keys(CustomerId(1), keys(&["c", "a"])).await.unwrap();
    assert_eq!(again[1], first[0]);
    assert!(!first.contains(&again[0]));
    let other = store.ids_for_file_keys(CustomerId(2), keys(&["a"])).await.unwrap();
    assert_ne!(other[0], first[0], "keys of another customer are others");
    let back = monitor(first[0], Some("a"), 2, "y.test");
    store.apply_monitors(vec![back.clone()], vec![], Box::new(|_| None)).await.unwrap();
    assert_eq!(store.monitors().await.unwrap(), [back]);
}

pub async fn the_states_of_removed_monitors_are_removed(store: &impl Store) {
    let ids = store.ids_for_file_keys(CustomerId(1), keys(&["a", "b"])).await.unwrap();
    let upserts = ids.iter().map(|&id| monitor(id, Some("k"), 1, "x.test"));
    let upserts = upserts.zip(["a", "b"]).map(|(mut m, key)| {
        m.origin = Origin::File { key: key.into() };
        m
    });
    store.apply_monitors(upserts.collect(), vec![], Box::new(|_| None)).await.unwrap();
    let state = |id: MonitorId| {
        let result = ok(id.0, at(0), 1);
        MonitorLocationState {
            monitor_id: id,
            location_id: result.location_id,
            check_id: result.check_id,
            planned_at: result.planned_at,
            outcome: result.outcome,
            status: result.status,
            duration_us: 1,
            streak_started_at: at(0),
            streak: 1,
            last_slot_at: Some(result.planned_at),
            last_full_page_at: None,
        }
    };
    let states = vec![state(ids[0]), state(ids[1])];
    store.commit(IngestBatch { location_states: states.clone(), ..IngestBatch::default() }).await.unwrap();
    store.apply_monitors(vec![], vec![ids[0]], Box::new(|_| None)).await.unwrap();
    // A check that was still running reports after the removal.
    store
        .commit(IngestBatch { location_states: vec![state(ids[0])], ..IngestBatch::default() })
        .await
        .unwrap();
    assert_eq!(store.location_states().await.unwrap(), [state(ids[1])]);
}
