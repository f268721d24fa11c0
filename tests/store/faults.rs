//! What goes wrong with the file: each a clear error, nothing lost, and on it goes afterwards.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use vigie::store::{
    Commit, Housekeeping, Ingest, Pagination, ResultFilter, ResultStore, Retention, SqliteSettings,
    SqliteStore, StoreError,
};

use crate::store::make::{HOUR, all, assert_whole, at, error, keep, ok, sqlite};

fn open(folder: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(&folder.join("vigie.db"), &SqliteSettings::default())
}

fn refused(folder: &Path) -> StoreError {
    open(folder).err().expect("refused")
}

#[tokio::test]
async fn a_full_disk_is_told_nothing_is_lost_and_it_goes_on_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    let settings = SqliteSettings { max_bytes: Some(2 << 20), ..SqliteSettings::default() };
    let store = SqliteStore::open(&path, &settings).unwrap();
    let mut kept = 0;
    let told = loop {
        let results = (0..100).map(|i| error(i, at(kept * 60))).collect();
        match store.commit(Commit { results, ..Commit::default() }).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(told, StoreError::DiskFull(_)), "{told}");
    assert!(told.is_transient() && told.to_string().contains("free space"), "{told}");
    assert!(kept > 5);
    assert_eq!(
        all(&store).await.len(),
        usize::try_from(kept).unwrap() * 100,
        "all or nothing of each commit"
    );

    // Room comes from what has outlived its time.
    let hour = Duration::from_hours(1);
    let retention = Retention {
        results: hour,
        details_ok: hour,
        details_failed: hour,
        hourly: hour,
        daily: hour,
        audit: hour,
    };
    let now = at(1000 * HOUR);
    store.retain(retention, now).await.unwrap();
    keep(&store, vec![ok(1, now, 5)]).await;
    assert!(all(&store).await.iter().any(|result| result.planned_at == now));
    store.close().await;
    assert_whole(folder.path());
}

#[tokio::test]
async fn commits_that_share_a_transaction_do_not_share_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    let settings = SqliteSettings { max_bytes: Some(400 * 1024), ..SqliteSettings::default() };
    let store = SqliteStore::open(&path, &settings).unwrap();
    let large = (0..20_000).map(|i| error(i, at(0))).collect();
    let small = vec![ok(1, at(60), 5)];
    let (large, small) = tokio::join!(
        store.commit(Commit { results: large, ..Commit::default() }),
        store.commit(Commit { results: small.clone(), ..Commit::default() }),
    );
    assert!(matches!(large, Err(StoreError::DiskFull(_))), "{large:?}");
    small.unwrap();
    assert_eq!(all(&store).await.len(), 1);
}

#[tokio::test]
async fn a_second_process_is_told_which_one_has_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let told = refused(folder.path());
    assert!(matches!(&told, StoreError::Locked(_)), "{told}");
    assert!(told.to_string().contains(&format!("process {}", std::process::id())), "{told}");
    store.close().await;
    open(folder.path()).unwrap();
}

#[tokio::test]
async fn a_database_that_another_program_locks_is_told_and_goes_on_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings { busy_timeout: Duration::from_millis(20), ..SqliteSettings::default() };
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap();
    let other = Connection::open(folder.path().join("vigie.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commit = Commit { results: vec![ok(1, at(0), 5)], ..Commit::default() };
    let told = store.commit(commit.clone()).await.unwrap_err();
    assert!(matches!(&told, StoreError::Locked(_)) && told.is_transient(), "{told}");
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(commit).await.unwrap();
    assert_eq!(all(&store).await.len(), 1);
}

#[tokio::test]
async fn a_file_that_is_no_database_of_ours_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    std::fs::write(
        &path,
        "these are no pages of a database, and long enough to look like a header".repeat(90),
    )
    .unwrap();
    let told = refused(folder.path());
    assert!(
        matches!(&told, StoreError::Unusable(reason) if reason.contains("not an SQLite database")),
        "{told}"
    );

    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE letters (body TEXT)").unwrap();
    let told = refused(folder.path());
    assert!(matches!(&told, StoreError::Unusable(reason) if reason.contains("another program")), "{told}");
}

#[tokio::test]
async fn a_damaged_file_is_told_and_does_not_stop_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    for minute in 0..200 {
        keep(&store, (0..20).map(|i| error(i, at(minute * 60))).collect()).await;
    }
    store.close().await;
    let path = folder.path().join("vigie.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[3 * 4096..length].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let told = match open(folder.path()) {
        Err(told) => told,
        Ok(store) => {
            store.results(ResultFilter::default(), Pagination { limit: 10, offset: 0 }).await.unwrap_err()
        }
    };
    assert!(matches!(&told, StoreError::Unusable(reason) if reason.contains("damaged")), "{told}");
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(folder.path()).close().await;
    let conn = Connection::open(folder.path().join("vigie.db")).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let told = refused(folder.path());
    assert!(matches!(told, StoreError::TooNew { found: 99, .. }), "{told}");
}

#[test]
fn a_folder_that_may_not_be_written_is_told_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let told = open(&file.join("data")).err().unwrap();
    assert!(
        matches!(&told, StoreError::Unusable(reason) if reason.contains("cannot create the directory")),
        "{told}"
    );

    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o500)).unwrap();
    if std::fs::write(data.join("probe"), "").is_ok() {
        // Root may write anywhere: what is left to see is a lock file that can't be made.
        std::fs::create_dir(data.join("vigie.db.lock")).unwrap();
        let told = refused(&data);
        assert!(matches!(&told, StoreError::Unusable(reason) if reason.contains("vigie.db.lock")), "{told}");
    } else {
        let told = refused(&data);
        assert!(matches!(&told, StoreError::Unusable(reason) if reason.contains("grant the user")), "{told}");
    }
}

#[tokio::test]
async fn a_query_that_takes_too_long_ends_and_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings { query_timeout: Duration::ZERO, ..SqliteSettings::default() };
    let store = SqliteStore::open(&folder.path().join("vigie.db"), &settings).unwrap();
    let results = (0..5000).map(|i| ok(i, at(i), 5)).collect();
    keep(&store, results).await;
    let all = ResultFilter { location: Some(crate::store::make::HOME), ..ResultFilter::default() };
    let told = store.results(all, Pagination { limit: 10_000, offset: 0 }).await.unwrap_err();
    assert_eq!(told, StoreError::QueryTimeout);
    assert!(store.result(ok(3, at(3), 5).check_id).await.unwrap().is_some());
}

#[tokio::test]
async fn after_the_end_every_call_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    store.close().await;
    store.close().await;
    assert_eq!(store.commit(Commit::default()).await, Err(StoreError::Closed));
    assert_eq!(store.states().await, Err(StoreError::Closed));
    assert_eq!(store.roll_up(at(0)).await, Err(StoreError::Closed));
}

#[tokio::test]
async fn what_was_given_before_the_end_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(sqlite(folder.path()));
    let commits: Vec<_> = (0..200)
        .map(|i| {
            let store = store.clone();
            tokio::spawn(async move {
                let results = vec![ok(i, at(0), 5)];
                store.commit(Commit { results, ..Commit::default() }).await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    store.close().await;
    let mut kept = 0;
    for commit in commits {
        match commit.await.unwrap() {
            Ok(()) => kept += 1,
            Err(error) => assert_eq!(error, StoreError::Closed),
        }
    }
    drop(store);
    assert_eq!(all(&sqlite(folder.path())).await.len(), kept);
}

/// A real file system without room, where one can be mounted; the limit on pages stands in elsewhere.
#[tokio::test]
async fn a_file_system_without_room_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let Some(small) = SmallDisk::mount(folder.path()) else {
        let own = "store::faults::a_file_system_without_room_is_told_and_nothing_is_lost";
        crate::support::lacking::count(own, "the right to mount a file system; a limit on pages stands in");
        return;
    };
    let store = sqlite(folder.path());
    std::fs::write(folder.path().join("ballast"), vec![1; 3 << 20]).unwrap();
    let mut kept = 0;
    let told = loop {
        let results = (0..200).map(|i| error(i, at(kept * 60))).collect();
        match store.commit(Commit { results, ..Commit::default() }).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 10_000, "the disk never fills");
    };
    assert!(matches!(told, StoreError::DiskFull(_)), "{told}");
    assert_eq!(all(&store).await.len(), usize::try_from(kept).unwrap() * 200);
    std::fs::remove_file(folder.path().join("ballast")).unwrap();
    keep(&store, vec![ok(1, at(9_999_999), 5)]).await;
    assert_eq!(all(&store).await.len(), usize::try_from(kept).unwrap() * 200 + 1);
    store.close().await;
    assert_whole(folder.path());
    drop(small);
}

struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m", "vigie-test"])
            .arg(at)
            .stderr(std::process::Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
