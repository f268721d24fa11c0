//! Configuration: monitors of the APIs, records, the audit trail.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use vigie::domain::{ConfigRecord, ConfigRecordKind, CustomerId, MonitorId, MonitorType, Revision, UserId};
use vigie::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};
use vigie::store::{
    AuditFilter, AuditObject, ConfigChange, ConfigRecordFilter, NewAuditEntry, NewConfigRecord, NewMonitor,
    Pagination, Retention, StoreError, StoredMonitor, seal_context,
};

use crate::store::samples::at;
use crate::store::suite::Store;
use crate::support::fields::Fields;

pub const ALL: Pagination = Pagination { limit: 10_000, offset: 0 };
const ONE: CustomerId = CustomerId(1);

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { unreachable!() };
    map
}

pub fn new_monitor(origin: Origin, name: &str) -> NewMonitor {
    let values = object(json!({"name": name, "url": "http://shop.test/", "realm_password": "hunter2"}));
    NewMonitor {
        customer: ONE,
        origin,
        modified_at: at(5),
        metadata: MonitorMetadata {
            created_at: Some(at(5)),
            created_by: "anna".to_owned(),
            ..MonitorMetadata::default()
        },
        document: Arc::new(MonitorDocument::new(MonitorType::Website, values).unwrap()),
        sealed_secrets: Some(b"sealed".to_vec()),
    }
}

pub fn entry(object_id: AuditObject, login: &str, second: i64) -> NewAuditEntry {
    NewAuditEntry {
        customer: ONE,
        occurred_at: at(second),
        login: login.to_owned(),
        address: "127.0.0.1".to_owned(),
        entry_point: "v3",
        action: "create",
        object_kind: "monitor",
        object_id,
        object_name: "Shop".to_owned(),
        before: Map::new(),
        after: object(json!({"name": "Shop"})),
    }
}

pub fn new_record(kind: ConfigRecordKind, unique: Option<&str>, fields: Value) -> NewConfigRecord {
    NewConfigRecord {
        kind,
        customer: Some(ONE),
        parent_id: None,
        unique_key: unique.map(str::to_owned),
        created_at: at(7),
        created_by: "anna".to_owned(),
        fields: object(fields),
        private_data: Some(b"hash".to_vec()),
    }
}

async fn create(store: &impl Store, origin: Origin, name: &str) -> i64 {
    store.write_changes(vec![ConfigChange::CreateMonitor(new_monitor(origin, name))], vec![]).await.unwrap()
        [0]
}

async fn stored_monitors(store: &impl Store) -> Vec<StoredMonitor> {
    store.stored_monitors().await.unwrap()
}

pub async fn monitors_of_the_apis_are_stored_without_their_secrets(store: &impl Store) {
    let api = create(store, Origin::Api, "Shop").await;
    let applied = create(store, Origin::Applied { key: "shop".into() }, "Applied").await;
    let rows = stored_monitors(store).await;
    assert_eq!(rows.iter().map(|row| row.monitor.id.0).collect::<Vec<_>>(), [api, applied]);
    let Monitor { revision, document, metadata: trail, origin, modified_at, customer, .. } =
        rows[0].monitor.clone();
    assert_eq!((revision, modified_at, customer, origin), (Revision(1), at(5), ONE, Origin::Api));
    assert_eq!(document.text("url"), Some("http://shop.test/"));
    assert!(!document.differs_from_default("realm_password"), "secrets are not in the document");
    assert_eq!(trail.created_by, "anna");
    assert_eq!(trail.created_at, Some(at(5)));
    assert_eq!(rows[0].sealed_secrets.as_deref(), Some(b"sealed".as_slice()));
    assert_eq!(rows[1].monitor.origin, Origin::Applied { key: "shop".into() });
    assert_eq!(store.customer_for_monitor(MonitorId(api)).await.unwrap(), Some(ONE));
    assert_eq!(store.customer_for_monitor(MonitorId(api + 1000)).await.unwrap(), None);
}

pub async fn a_change_of_an_older_revision_is_refused_and_changes_nothing(store: &impl Store) {
    let id = create(store, Origin::Api, "Shop").await;
    let mut newer = stored_monitors(store).await.remove(0);
    newer.monitor.revision = Revision(2);
    newer.monitor.metadata =
        Arc::new(MonitorMetadata { paused_until: Some(at(99)), ..MonitorMetadata::default() });
    newer.sealed_secrets = None;
    let put = |expected| ConfigChange::UpdateMonitor {
        monitor: Box::new(newer.clone()),
        expected: Revision(expected),
    };
    store.write_changes(vec![put(1)], vec![]).await.unwrap();
    assert_eq!(stored_monitors(store).await, [newer.clone()]);

    // The record before the refused change, and the audit entry, are rolled back with it.
    let refused =
        vec![ConfigChange::CreateRecord(new_record(ConfigRecordKind::Event, None, json!({}))), put(1)];
    let outcome =
        store.write_changes(refused, vec![entry(AuditObject::CreatedInThisCall(0), "anna", 1)]).await;
    assert_eq!(outcome, Err(StoreError::Stale));
    assert_eq!(store.records(ConfigRecordFilter::new(ConfigRecordKind::Event), ALL).await.unwrap().total, 0);
    assert_eq!(store.audit_entries(AuditFilter::default(), ALL).await.unwrap().total, 0);

    let remove =
        |expected| vec![ConfigChange::RemoveMonitor { id: MonitorId(id), expected: Revision(expected) }];
    assert_eq!(store.write_changes(remove(1), vec![]).await, Err(StoreError::Stale));
    store.write_changes(remove(2), vec![]).await.unwrap();
    assert!(stored_monitors(store).await.is_empty());
    assert_eq!(store.write_changes(remove(2), vec![]).await, Err(StoreError::Stale), "it is gone");
    assert_eq!(store.write_changes(vec![put(2)], vec![]).await, Err(StoreError::Stale), "it is gone");
    assert_eq!(
        store.customer_for_monitor(MonitorId(id)).await.unwrap(),
        Some(ONE),
        "results still belong to it"
    );
}

pub async fn keys_are_unique_per_origin_and_reusable_after_a_removal(store: &impl Store) {
    let file = store.ids_for_file_keys(ONE, vec!["shop".to_owned()]).await.unwrap()[0];
    let applied = || Origin::Applied { key: "shop".into() };
    let first = create(store, applied(), "A").await;
    assert_ne!(file.0, first);
    let again = vec![ConfigChange::CreateMonitor(new_monitor(applied(), "B"))];
    assert_eq!(
        store.write_changes(again.clone(), vec![]).await,
        Err(StoreError::AlreadyExists("shop".to_owned()))
    );
    let id = MonitorId(first);
    store
        .write_changes(vec![ConfigChange::RemoveMonitor { id, expected: Revision(1) }], vec![])
        .await
        .unwrap();
    let second = store.write_changes(again, vec![]).await.unwrap();
    assert_ne!(second[0], first);
    assert_eq!(store.ids_for_file_keys(ONE, vec!["shop".to_owned()]).await.unwrap(), [file]);
}

pub async fn a_pause_of_a_file_monitor_survives_changes_of_its_file(store: &impl Store) {
    let id = store.ids_for_file_keys(ONE, vec!["a".to_owned()]).await.unwrap()[0];
    let monitor = |revision| crate::store::monitors::monitor(id, Some("a"), revision, "one.test");
    store.apply_monitors(vec![monitor(1)], vec![], Box::new(|_| None)).await.unwrap();
    let mut paused = monitor(2);
    paused.metadata = Arc::new(MonitorMetadata { paused_until: Some(at(99)), ..MonitorMetadata::default() });
    let put = StoredMonitor { monitor: paused.clone(), sealed_secrets: None };
    store
        .write_changes(
            vec![ConfigChange::UpdateMonitor { monitor: Box::new(put), expected: Revision(1) }],
            vec![],
        )
        .await
        .unwrap();
    store.apply_monitors(vec![monitor(3)], vec![], Box::new(|_| None)).await.unwrap();
    let after = store.monitors().await.unwrap().remove(0);
    assert_eq!((after.revision, after.metadata.paused_until), (Revision(3), Some(at(99))));
}

pub async fn records_attached_to_a_monitor_are_removed_with_it(store: &impl Store) {
    let id = create(store, Origin::Api, "Shop").await;
    let attached = |kind| {
        let new = NewConfigRecord { parent_id: Some(id), ..new_record(kind, None, json!({})) };
        ConfigChange::CreateRecord(new)
    };
    let writes =
        [ConfigRecordKind::Blackout, ConfigRecordKind::Test, ConfigRecordKind::Event].map(attached).to_vec();
    store.write_changes(writes, vec![]).await.unwrap();
    let remove = ConfigChange::RemoveMonitor { id: MonitorId(id), expected: Revision(1) };
    store.write_changes(vec![remove], vec![]).await.unwrap();
    let left = async |kind| store.records(ConfigRecordFilter::new(kind), ALL).await.unwrap().total;
    assert_eq!(left(ConfigRecordKind::Blackout).await, 0);
    assert_eq!(left(ConfigRecordKind::Test).await, 0);
    assert_eq!(left(ConfigRecordKind::Event).await, 1, "an event is not attached, whatever its number");
}

pub async fn records_are_found_by_id_by_unique_key_and_by_filter(store: &impl Store) {
    let default = store.record(ConfigRecordKind::Customer, 1).await.unwrap().unwrap();
    assert_eq!((default.customer, default.fields["name"].as_str().unwrap()), (ONE, "default"));

    let user = new_record(ConfigRecordKind::User, Some("anna"), json!({"login": "anna", "locked": false}));
    let deploy = |second: i64, name: &str| NewConfigRecord {
        created_at: at(second),
        parent_id: Some(second),
        private_data: None,
        ..new_record(ConfigRecordKind::Event, None, json!({"event": name, "level": 3}))
    };
    let customer =
        NewConfigRecord { customer: None, ..new_record(ConfigRecordKind::Customer, None, json!({})) };
    let writes = [user.clone(), deploy(10, "deploy"), deploy(20, "deploy"), deploy(30, "outage"), customer];
    let ids = store.write_changes(writes.map(ConfigChange::CreateRecord).to_vec(), vec![]).await.unwrap();
    assert_eq!(ids, [100_001, 100_002, 100_003, 100_004, 100_005]);

    let found = store.record_by_unique_key(ConfigRecordKind::User, "anna".to_owned()).await.unwrap().unwrap();
    let expected = ConfigRecord {
        id: ids[0],
        kind: ConfigRecordKind::User,
        customer: ONE,
        parent_id: None,
        unique_key: Some("anna".to_owned()),
        revision: Revision(1),
        created_at: at(7),
        created_by: "anna".to_owned(),
        modified_at: at(7),
        fields: user.fields.clone(),
        private_data: user.private_data.clone(),
    };
    assert_eq!(found, expected);
    assert_eq!(store.record(ConfigRecordKind::User, ids[0]).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.record(ConfigRecordKind::Event, ids[0]).await.unwrap(), None, "it is of another kind");
    assert_eq!(
        store.record_by_unique_key(ConfigRecordKind::Property, "anna".to_owned()).await.unwrap(),
        None
    );
    let own = store.record(ConfigRecordKind::Customer, ids[4]).await.unwrap().unwrap();
    assert_eq!(own.customer, CustomerId(ids[4]), "a customer belongs to itself");

    let events = ConfigRecordFilter::new(ConfigRecordKind::Event).for_customer(ONE);
    let found = async |filter: ConfigRecordFilter, page| {
        let listed = store.records(filter, page).await.unwrap();
        (listed.total, listed.items.into_iter().map(|record| record.id).collect::<Vec<_>>())
    };
    assert_eq!(found(events.clone(), ALL).await, (3, ids[1..4].to_vec()));
    assert_eq!(found(events.clone(), Pagination { limit: 1, offset: 1 }).await, (3, vec![ids[2]]));
    let deploys = ConfigRecordFilter {
        field_values: vec![("event", json!("deploy")), ("level", json!(3))],
        ..events.clone()
    };
    assert_eq!(found(deploys, ALL).await, (2, ids[1..3].to_vec()));
    let window = ConfigRecordFilter { from: Some(at(20)), until: Some(at(30)), ..events.clone() };
    assert_eq!(found(window, ALL).await, (1, vec![ids[2]]));
    let attached = ConfigRecordFilter { parent_ids: vec![10, 30], ..events.clone() };
    assert_eq!(found(attached, ALL).await, (2, vec![ids[1], ids[3]]));
    assert_eq!(found(events.for_customer(CustomerId(2)), ALL).await, (0, vec![]));
    let locked = ConfigRecordFilter {
        field_values: vec![("locked", json!(false))],
        ..ConfigRecordFilter::new(ConfigRecordKind::User)
    };
    assert_eq!(found(locked, ALL).await, (1, vec![ids[0]]));

    let mut newer = expected;
    newer.revision = Revision(2);
    newer.unique_key = Some("otto".to_owned());
    newer.modified_at = at(50);
    newer.fields.insert("locked".to_owned(), json!(true));
    let put = |record: &ConfigRecord, expected| ConfigChange::UpdateRecord {
        record: Box::new(record.clone()),
        expected: Revision(expected),
    };
    store.write_changes(vec![put(&newer, 1)], vec![]).await.unwrap();
    assert_eq!(store.record(ConfigRecordKind::User, ids[0]).await.unwrap(), Some(newer.clone()));
    assert_eq!(store.write_changes(vec![put(&newer, 1)], vec![]).await, Err(StoreError::Stale));
    let other = new_record(ConfigRecordKind::User, Some("otto"), json!({}));
    let outcome = store.write_changes(vec![ConfigChange::CreateRecord(other)], vec![]).await;
    assert_eq!(outcome, Err(StoreError::AlreadyExists("otto".to_owned())));
    let remove =
        |kind, id, expected| vec![ConfigChange::RemoveRecord { kind, id, expected: Revision(expected) }];
    assert_eq!(
        store.write_changes(remove(ConfigRecordKind::Event, ids[0], 2), vec![]).await,
        Err(StoreError::Stale)
    );
    store.write_changes(remove(ConfigRecordKind::User, ids[0], 2), vec![]).await.unwrap();
    assert_eq!(store.record_by_unique_key(ConfigRecordKind::User, "otto".to_owned()).await.unwrap(), None);
}

pub async fn the_audit_trail_is_read_newest_first(store: &impl Store) {
    let new = ConfigChange::CreateMonitor(new_monitor(Origin::Api, "Shop"));
    let entries =
        vec![entry(AuditObject::CreatedInThisCall(0), "anna", 10), entry(AuditObject::None, "otto", 20)];
    let id = store.write_changes(vec![new], entries).await.unwrap()[0];
    let mut foreign = entry(AuditObject::Id(7), "anna", 30);
    foreign.customer = CustomerId(2);
    foreign.object_kind = "user";
    store.write_changes(vec![], vec![foreign]).await.unwrap();

    let found = async |filter: AuditFilter, page| {
        let listed = store.audit_entries(filter, page).await.unwrap();
        (listed.total, listed.items.iter().map(|row| row.object_id).collect::<Vec<_>>())
    };
    let any = AuditFilter::default;
    assert_eq!(found(any(), ALL).await, (3, vec![Some(7), None, Some(id)]));
    assert_eq!(found(any(), Pagination { limit: 1, offset: 2 }).await, (3, vec![Some(id)]));
    let own = AuditFilter { customer: Some(ONE), ..any() };
    assert_eq!(found(own.clone(), ALL).await, (2, vec![None, Some(id)]));
    assert_eq!(found(AuditFilter { login: Some("anna".into()), ..own.clone() }, ALL).await.0, 1);
    assert_eq!(
        found(AuditFilter { object_kind: Some("user".into()), ..any() }, ALL).await,
        (1, vec![Some(7)])
    );
    assert_eq!(found(AuditFilter { object_id: Some(id), ..any() }, ALL).await.0, 1);
    assert_eq!(found(AuditFilter { from: Some(at(20)), until: Some(at(30)), ..any() }, ALL).await.0, 1);
    let row = store.audit_entries(own, ALL).await.unwrap().items.remove(1);
    assert_eq!((row.login.as_str(), row.entry_point.as_str(), row.action.as_str()), ("anna", "v3", "create"));
    assert_eq!(
        (row.address.as_str(), row.object_name.as_str(), row.occurred_at),
        ("127.0.0.1", "Shop", at(10))
    );
    assert_eq!((row.before, row.after), (Map::new(), object(json!({"name": "Shop"}))));
}

pub async fn secrets_are_resealed_in_their_context(store: &impl Store) {
    for name in ["a", "b"] {
        create(store, Origin::Api, name).await;
    }
    let certificate = new_record(ConfigRecordKind::Certificate, None, json!({}));
    let user = new_record(ConfigRecordKind::User, None, json!({}));
    let ids = store
        .write_changes(
            vec![ConfigChange::CreateRecord(certificate), ConfigChange::CreateRecord(user)],
            vec![],
        )
        .await
        .unwrap();
    let reseal = Arc::new(|context: &str, sealed: &[u8]| {
        let new = [context.as_bytes(), b"|", sealed].concat();
        (!sealed.contains(&b'|')).then_some(new)
    });
    assert_eq!(store.reseal(reseal.clone()).await.unwrap(), 3);
    assert_eq!(store.reseal(reseal).await.unwrap(), 0, "all have the new form");
    let expected = format!("{}|sealed", seal_context("monitor", ONE)).into_bytes();
    assert!(stored_monitors(store).await.iter().all(|row| row.sealed_secrets.as_ref() == Some(&expected)));
    let private = async |kind, id| store.record(kind, id).await.unwrap().unwrap().private_data.unwrap();
    let expected = format!("{}|hash", seal_context("certificate", ONE)).into_bytes();
    assert_eq!(private(ConfigRecordKind::Certificate, ids[0]).await, expected);
    assert_eq!(private(ConfigRecordKind::User, ids[1]).await, b"hash", "a hash is not sealed");
}

pub async fn an_audit_entry_names_the_object_created_in_its_call(store: &impl Store) {
    let user =
        || ConfigChange::CreateRecord(new_record(ConfigRecordKind::User, None, json!({"login": "anna"})));
    let first = store.write_changes(vec![user()], vec![]).await.unwrap()[0];
    let changes = vec![
        ConfigChange::RevokeTokens(UserId(first)),
        user(),
        ConfigChange::RemoveRecord { kind: ConfigRecordKind::User, id: first, expected: Revision(1) },
        ConfigChange::CreateMonitor(new_monitor(Origin::Api, "Shop")),
    ];
    let entries = vec![
        entry(AuditObject::CreatedInThisCall(0), "anna", 1),
        entry(AuditObject::CreatedInThisCall(1), "otto", 2),
    ];
    let created = store.write_changes(changes, entries).await.unwrap();
    let rows = store.audit_entries(AuditFilter::default(), ALL).await.unwrap().items;
    let object_ids: Vec<_> = rows.iter().rev().map(|row| row.object_id).collect();
    assert_eq!(object_ids, created.iter().copied().map(Some).collect::<Vec<_>>());
    // An entry about no object is an error in the program; its whole call is rolled back.
    let outcome =
        store.write_changes(vec![user()], vec![entry(AuditObject::CreatedInThisCall(1), "anna", 3)]).await;
    assert!(matches!(outcome, Err(StoreError::Unusable(_))), "{outcome:?}");
    let users = store.records(ConfigRecordFilter::new(ConfigRecordKind::User), ALL).await.unwrap();
    assert_eq!((users.total, store.audit_entries(AuditFilter::default(), ALL).await.unwrap().total), (1, 2));
}

pub async fn audit_entries_are_removed_after_their_retention(store: &impl Store) {
    const DAY: i64 = 86_400;
    let long = std::time::Duration::from_hours(24 * 9_999);
    let retention = Retention {
        results: long,
        details_ok: long,
        details_failed: long,
        hourly_rollups: long,
        daily_rollups: Some(long),
        audit_entries: std::time::Duration::from_hours(24 * 30),
    };
    // More entries than one step removes, and among them one that was written with a wrong clock.
    let old = (0..2_500).map(|second| entry(AuditObject::None, "old", second));
    let entries =
        old.chain([entry(AuditObject::None, "ahead", 90 * DAY), entry(AuditObject::None, "old", 9)]);
    store.write_changes(vec![], entries.collect()).await.unwrap();
    store.write_changes(vec![], vec![entry(AuditObject::None, "new", 31 * DAY)]).await.unwrap();
    let removed_count = store.apply_retention(retention.clone(), at(60 * DAY)).await.unwrap();
    let left = store.audit_entries(AuditFilter::default(), ALL).await.unwrap().items;
    let logins: Vec<_> = left.iter().map(|row| row.login.as_str()).collect();
    assert_eq!((removed_count, logins), (2_501, vec!["new", "ahead"]));
    assert_eq!(
        store.apply_retention(retention.clone(), at(61 * DAY)).await.unwrap(),
        0,
        "30 days old to the second"
    );
    assert_eq!(store.apply_retention(retention, at(61 * DAY + 1)).await.unwrap(), 1);
}
