//! Faults of the database file: each is a clear error, loses nothing, and the store continues afterwards.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use vigie::store::{
    Housekeeping, Ingest, IngestBatch, Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore,
    StoreError,
};

use crate::store::samples::{
    all, assert_whole, at, commit_results, error, fill_the_disk_and_go_on, ok, sqlite,
};
use crate::support::small_disk::SmallDisk;

fn open(folder: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default())
}

fn open_error(folder: &Path) -> StoreError {
    open(folder).err().expect("refused")
}

#[tokio::test]
async fn a_full_disk_is_an_error_that_loses_nothing_and_ends_with_free_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    let settings = SqliteSettings { max_file_bytes: Some(2 << 20), ..SqliteSettings::default() };
    let store = SqliteStore::open(&path, &settings).unwrap();
    fill_the_disk_and_go_on(&store, 100).await;
    store.close().await;
    assert_whole(folder.path());
}

#[tokio::test]
async fn commits_that_share_a_transaction_do_not_share_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    let settings = SqliteSettings { max_file_bytes: Some(400 * 1024), ..SqliteSettings::default() };
    let store = SqliteStore::open(&path, &settings).unwrap();
    let large = (0..20_000).map(|i| error(i, at(0))).collect();
    let small = vec![ok(1, at(60), 5)];
    let (large, small) = tokio::join!(
        store.commit(IngestBatch { results: large, ..IngestBatch::default() }),
        store.commit(IngestBatch { results: small.clone(), ..IngestBatch::default() }),
    );
    assert!(matches!(large, Err(StoreError::DiskFull(_))), "{large:?}");
    small.unwrap();
    assert_eq!(all(&store).await.len(), 1);
}

#[tokio::test]
async fn a_second_process_gets_an_error_that_names_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let failure = open_error(folder.path());
    assert!(matches!(&failure, StoreError::Locked(_)), "{failure}");
    assert!(failure.to_string().contains(&format!("process {}", std::process::id())), "{failure}");
    store.close().await;
    open(folder.path()).unwrap();
}

#[tokio::test]
async fn a_data_folder_has_one_server_wherever_its_database_is() {
    let folder = tempfile::tempdir().unwrap();
    let lock = vigie::store::lock_data_folder(folder.path()).unwrap();
    let failure = vigie::store::lock_data_folder(folder.path()).unwrap_err();
    assert!(matches!(&failure, StoreError::Locked(_)), "{failure}");
    assert!(failure.to_string().contains("or name another data folder"), "{failure}");
    assert!(matches!(open_error(folder.path()), StoreError::Locked(_)), "nor one with the database in it");
    drop(lock);
    open(folder.path()).unwrap();
}

#[tokio::test]
async fn a_database_locked_by_another_program_is_a_transient_error() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings { busy_timeout: Duration::from_millis(20), ..SqliteSettings::default() };
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap();
    let other = Connection::open(folder.path().join("vigie.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commit = IngestBatch { results: vec![ok(1, at(0), 5)], ..IngestBatch::default() };
    let failure = store.commit(commit.clone()).await.unwrap_err();
    assert!(matches!(&failure, StoreError::Locked(_)) && failure.is_transient(), "{failure}");
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(commit).await.unwrap();
    assert_eq!(all(&store).await.len(), 1);
}

#[tokio::test]
async fn a_file_that_is_not_a_vigie_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    std::fs::write(
        &path,
        "these are no pages of a database, and long enough to look like a header".repeat(90),
    )
    .unwrap();
    let failure = open_error(folder.path());
    assert!(
        matches!(&failure, StoreError::Unusable(reason) if reason.contains("not an SQLite database")),
        "{failure}"
    );

    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE letters (body TEXT)").unwrap();
    let failure = open_error(folder.path());
    assert!(
        matches!(&failure, StoreError::Unusable(reason) if reason.contains("another program")),
        "{failure}"
    );
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    for minute in 0..200 {
        commit_results(&store, (0..20).map(|i| error(i, at(minute * 60))).collect()).await;
    }
    store.close().await;
    let path = folder.path().join("vigie.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[3 * 4096..length].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let failure = match open(folder.path()) {
        Err(failure) => failure,
        Ok(store) => {
            store.results(ResultFilter::default(), Pagination { limit: 10, offset: 0 }).await.unwrap_err()
        }
    };
    assert!(matches!(&failure, StoreError::Unusable(reason) if reason.contains("damaged")), "{failure}");
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(folder.path()).close().await;
    let conn = Connection::open(folder.path().join("vigie.db")).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let failure = open_error(folder.path());
    assert!(matches!(failure, StoreError::TooNew { found: 99, .. }), "{failure}");
}

#[test]
fn a_folder_without_write_permission_is_an_error_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let failure = open(&file.join("data")).err().unwrap();
    assert!(
        matches!(&failure, StoreError::Unusable(reason) if reason.contains("cannot create the directory")),
        "{failure}"
    );

    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o500)).unwrap();
    if std::fs::write(data.join("probe"), "").is_ok() {
        // Root can write anywhere; for root, only a lock file that cannot be created is an error.
        std::fs::create_dir(data.join("vigie.db.lock")).unwrap();
        let failure = open_error(&data);
        assert!(
            matches!(&failure, StoreError::Unusable(reason) if reason.contains("vigie.db.lock")),
            "{failure}"
        );
    } else {
        let failure = open_error(&data);
        assert!(
            matches!(&failure, StoreError::Unusable(reason) if reason.contains("grant the user")),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn a_slow_query_times_out_without_affecting_others() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings { query_timeout: Duration::ZERO, ..SqliteSettings::default() };
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap();
    let results = (0..5000).map(|i| ok(i, at(i), 5)).collect();
    commit_results(&store, results).await;
    let all = ResultFilter { location: Some(crate::store::samples::HOME), ..ResultFilter::default() };
    let failure = store.results(all, Pagination { limit: 10_000, offset: 0 }).await.unwrap_err();
    assert_eq!(failure, StoreError::QueryTimeout);
    assert!(store.result(ok(3, at(3), 5).check_id).await.unwrap().is_some());
}

#[tokio::test]
async fn every_call_on_a_closed_store_fails() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    store.close().await;
    store.close().await;
    assert_eq!(store.commit(IngestBatch::default()).await, Err(StoreError::Closed));
    assert_eq!(store.location_states().await, Err(StoreError::Closed));
    assert_eq!(store.roll_up(at(0)).await, Err(StoreError::Closed));
}

#[tokio::test]
async fn commits_before_the_close_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(sqlite(folder.path()));
    let commits: Vec<_> = (0..200)
        .map(|i| {
            let store = store.clone();
            tokio::spawn(async move {
                let results = vec![ok(i, at(0), 5)];
                store.commit(IngestBatch { results, ..IngestBatch::default() }).await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    store.close().await;
    let mut committed = 0;
    for commit in commits {
        match commit.await.unwrap() {
            Ok(()) => committed += 1,
            Err(error) => assert_eq!(error, StoreError::Closed),
        }
    }
    drop(store);
    assert_eq!(all(&sqlite(folder.path())).await.len(), committed);
}

/// Fills a real file system where one can be mounted; elsewhere the test with a limit on pages must suffice.
#[tokio::test]
async fn a_full_file_system_is_an_error_that_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(small) = SmallDisk::mount(folder.path(), "8m") else {
        let own = "store::faults::a_full_file_system_is_an_error_that_loses_nothing";
        crate::support::lacking::count(own, "the right to mount a file system; a limit on pages stands in");
        return;
    };
    let store = sqlite(folder.path());
    std::fs::write(folder.path().join("ballast"), vec![1; 3 << 20]).unwrap();
    let mut committed = 0;
    let failure = loop {
        let results = (0..200).map(|i| error(i, at(committed * 60))).collect();
        match store.commit(IngestBatch { results, ..IngestBatch::default() }).await {
            Ok(()) => committed += 1,
            Err(error) => break error,
        }
        assert!(committed < 10_000, "the disk never fills");
    };
    assert!(matches!(failure, StoreError::DiskFull(_)), "{failure}");
    assert_eq!(all(&store).await.len(), usize::try_from(committed).unwrap() * 200);
    std::fs::remove_file(folder.path().join("ballast")).unwrap();
    commit_results(&store, vec![ok(1, at(9_999_999), 5)]).await;
    assert_eq!(all(&store).await.len(), usize::try_from(committed).unwrap() * 200 + 1);
    store.close().await;
    assert_whole(folder.path());
    drop(small);
}
