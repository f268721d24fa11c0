//! Concurrent changes of the configuration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use vigie::domain::{ConfigRecordKind, MonitorId, Revision};
use vigie::schema::Origin;
use vigie::store::{
    AuditFilter, AuditObject, ConfigChange, ConfigRecordFilter, ConfigStore, SqliteSettings, SqliteStore,
    StoreError,
};

use crate::store::config::{ALL, entry, new_monitor, new_record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_call_does_not_affect_others_in_its_transaction() {
    let folder = tempfile::tempdir().unwrap();
    // More calls wait than one transaction takes.
    let settings = SqliteSettings { max_batch_jobs: 16, ..SqliteSettings::default() };
    let store = Arc::new(SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap());
    let calls = (0..400_i64).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let refused = match n % 4 {
                // A revision that is not the current one.
                1 => Some(ConfigChange::RemoveMonitor { id: MonitorId(1_000_000), expected: Revision(1) }),
                // A name that account 1 has.
                2 => Some(ConfigChange::CreateRecord(new_record(
                    ConfigRecordKind::Customer,
                    Some("default"),
                    serde_json::json!({}),
                ))),
                _ => None,
            };
            let new = ConfigChange::CreateMonitor(new_monitor(Origin::Api, &format!("m{n}")));
            let writes = std::iter::once(new).chain(refused).collect();
            (
                n % 4,
                store.write_changes(writes, vec![entry(AuditObject::CreatedInThisCall(0), "anna", n)]).await,
            )
        })
    });
    let outcomes = futures::future::join_all(calls).await;
    for outcome in &outcomes {
        match outcome.as_ref().unwrap() {
            (1, result) => assert_eq!(result, &Err(StoreError::Stale)),
            (2, result) => assert_eq!(result, &Err(StoreError::AlreadyExists("default".to_owned()))),
            (_, created) => assert_eq!(created.as_ref().map(Vec::len), Ok(1)),
        }
    }
    assert_eq!(store.stored_monitors().await.unwrap().len(), 200);
    let audit = store.audit_entries(AuditFilter::default(), ALL).await.unwrap();
    assert_eq!(audit.total, 200);
    let created: std::collections::HashSet<_> =
        audit.items.iter().map(|row| row.object_id.unwrap()).collect();
    assert_eq!(created.len(), 200, "every call has an id of its own");
    assert_eq!(
        store.records(ConfigRecordFilter::new(ConfigRecordKind::Customer), ALL).await.unwrap().total,
        1
    );
}

/// `cargo test --release --test service -- --ignored --nocapture creators`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn sixteen_creators_reach_a_thousand_creates_a_second() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // The default settings flush to disk before a call returns.
    let settings = SqliteSettings::default();
    let store = Arc::new(SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap());
    for creators in [1_u32, 16, 64] {
        let started = Instant::now();
        let until = started + Duration::from_secs(3);
        let creators: Vec<_> = (0..creators)
            .map(|n| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    let mut created = 0_u32;
                    while Instant::now() < until {
                        let new = ConfigChange::CreateMonitor(new_monitor(Origin::Api, &format!("m{n}")));
                        let audit =
                            vec![entry(AuditObject::CreatedInThisCall(0), "anna", i64::from(created))];
                        store.write_changes(vec![new], audit).await.unwrap();
                        created += 1;
                    }
                    created
                })
            })
            .collect();
        let count = creators.len();
        let created: u32 = futures::future::join_all(creators).await.into_iter().map(Result::unwrap).sum();
        let rate = f64::from(created) / started.elapsed().as_secs_f64();
        eprintln!("{count} creators: {rate:.0} creates a second");
        assert!(count < 16 || rate > 1000.0, "{rate}");
    }
}

#[tokio::test]
async fn files_of_the_store_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new/data");
    let store = SqliteStore::open(&data.join("vigie.db"), &SqliteSettings::default()).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for entry in std::fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    store.close().await;
}
