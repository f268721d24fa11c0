//! `vigie store check`, `migrate`, `backup` and `restore` on SQLite files.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tempfile::TempDir;
use vigie::store::{SqliteSettings, SqliteStore};

use crate::fixture::store as fixture;
use crate::store::samples::{all, at, commit_results, error, missed, ok, sqlite, warning};
use crate::support::binary::{err, out, vigie};

const POSTGRES: &str = "postgres://v:s3cr3t@db/d";

/// Runs `vigie store` with `args` and requires this exit code.
#[track_caller]
fn store(args: &[&str], code: i32) -> Output {
    let output = vigie(&[&["store"], args].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}{}", out(&output), err(&output));
    output
}

/// Requires that `vigie store` with `args` fails and says `text`.
#[track_caller]
fn refused(args: &[&str], text: &str) {
    let message = err(&store(args, 1));
    assert!(message.contains(text) && !message.contains("s3cr3t"), "{args:?}: {message}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns a closed database with some results.
async fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    commit_results(
        &store,
        vec![ok(1, at(0), 5), error(2, at(60)), warning(1, at(120)), missed(2, at(180), 3, 60)],
    )
    .await;
    store.close().await;
    folder
}

fn execute(folder: &Path, sql: &str) {
    rusqlite::Connection::open(folder.join("vigie.db")).unwrap().execute_batch(sql).unwrap();
}

/// Overwrites the page of a table.
fn damage(path: &Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let page: u64 = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'records'", [], |row| row.get(0))
        .unwrap();
    let page_bytes: u64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(conn);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&vec![0x5a; usize::try_from(page_bytes).unwrap()], (page - 1) * page_bytes).unwrap();
}

/// Names of the files, without the logs that a reader of SQLite leaves.
fn names(folder: &Path) -> Vec<String> {
    let is_log = |name: &String| name.ends_with("-shm") || name.ends_with("-wal");
    all_names(folder).into_iter().filter(|name| !is_log(name)).collect()
}

fn all_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_sound_database_is_described_while_a_server_uses_it() {
    let folder = filled().await;
    let server = sqlite(folder.path());
    let text = out(&store(&["check", "--data", text(folder.path())], 0));
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("database        ") && lines[0].ends_with("vigie.db (SQLite)"), "{text}");
    assert!(lines[1].starts_with("schema version  ") && lines[1].ends_with(", the newest"), "{text}");
    assert!(lines[2].starts_with("size            ") && lines[2].ends_with(" KiB"), "{text}");
    assert_eq!(
        lines[3..],
        [
            "monitors        0",
            "results         4, planned from 2026-03-01T00:00:00Z to 2026-03-01T00:03:00Z",
            "integrity       ok"
        ]
    );
    server.close().await;
}

#[tokio::test]
async fn an_unsound_database_is_reported_with_what_is_wrong() {
    let folder = filled().await;
    execute(folder.path(), "UPDATE counts SET rows = rows + 1 WHERE outcome = 0");
    let output = store(&["check", "--data", text(folder.path())], 1);
    assert!(out(&output).contains("problem         the table `counts` counts 5 results, but there are 4"));
    execute(folder.path(), "UPDATE counts SET rows = rows - 1 WHERE outcome = 0; PRAGMA user_version = 9999");
    let output = store(&["check", "--data", text(folder.path())], 1);
    assert!(out(&output).contains("schema version  9999, newer than"), "{}", out(&output));

    let damaged = filled().await;
    damage(&damaged.path().join("vigie.db"));
    let output = store(&["check", "--data", text(damaged.path())], 1);
    assert!(out(&output).contains("problem  "), "{}", out(&output));
    assert!(!out(&output).contains("integrity       ok"));
}

#[test]
fn what_is_no_database_of_vigie_is_refused_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.db");
    let data = ["--data", text(folder.path())];
    let copy = folder.path().join("copy.db");
    for command in [vec!["check"], vec!["migrate"], vec!["backup", text(&copy)]] {
        refused(&[&command[..], &data].concat(), "the file does not exist");
    }
    let output = vigie(&[&["store", "restore", text(&copy)][..], &data].concat());
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("copy.db` does not exist"), "{}", err(&output));
    fs::write(&path, "this is no database, and it is long enough to be looked at").unwrap();
    for command in [vec!["check"], vec!["migrate"], vec!["backup", text(&copy)]] {
        refused(&[&command[..], &data].concat(), "it is not an SQLite database, or damaged");
    }
    fs::remove_file(&path).unwrap();
    execute(folder.path(), "CREATE TABLE theirs (id)");
    for command in [vec!["check"], vec!["migrate"], vec!["backup", text(&copy)]] {
        refused(&[&command[..], &data].concat(), "it is the database of another program");
    }
    let target = tempfile::tempdir().unwrap();
    refused(
        &["restore", text(&path), "--data", text(target.path())],
        "it is the database of another program",
    );
    assert_eq!(names(target.path()), ["vigie.db.lock"]);
    assert!(!names(folder.path()).iter().any(|name| name.starts_with("copy.db")));
}

#[test]
fn postgresql_has_its_own_commands_for_copies() {
    let url = ["--url", POSTGRES];
    let output = store(&[&["backup", "/backup/it's.dump"][..], &url].concat(), 1);
    let hint = r"hint: run `pg_dump --format=custom --file='/backup/it'\''s.dump' 'postgres://v@db:5432/d?sslmode=verify-full'`";
    assert!(err(&output).contains(hint), "{}", err(&output));
    let output = store(&[&["restore", "a.dump"][..], &url].concat(), 1);
    let hint = "hint: run `pg_restore --dbname='postgres://v@db:5432/d?sslmode=verify-full' 'a.dump'`";
    assert!(err(&output).contains(hint), "{}", err(&output));
    let output = store(&["check", "--url", "mysql://v:s3cr3t@db/d"], 2);
    assert!(err(&output).contains("unknown scheme `mysql`") && !err(&output).contains("s3cr3t"));
}

#[tokio::test]
async fn an_older_database_is_migrated_and_a_newer_one_refused() {
    let folder = fixture::data();
    let data = ["--data", text(folder.path())];
    let old = format!("schema version  {}, older than", fixture::VERSION);
    assert!(out(&store(&[&["check"][..], &data].concat(), 0)).contains(&old));
    let migrated = out(&store(&[&["migrate"][..], &data].concat(), 0));
    assert!(migrated.contains(&format!("was migrated from schema version {} to ", fixture::VERSION)));
    assert_eq!(names(folder.path()), ["vigie.db", "vigie.db.lock", "vigie.key"]);
    assert!(out(&store(&[&["migrate"][..], &data].concat(), 0)).contains("the newest; nothing to do"));
    assert!(out(&store(&[&["check"][..], &data].concat(), 0)).contains(", the newest\n"));

    let server = sqlite(folder.path());
    refused(&[&["migrate"][..], &data].concat(), "is in use by process");
    server.close().await;
    execute(folder.path(), "PRAGMA user_version = 9999");
    let copy = folder.path().join("copy.db");
    for command in [vec!["migrate"], vec!["backup", text(&copy)]] {
        refused(
            &[&command[..], &data].concat(),
            "the database has schema version 9999, this build knows up to",
        );
    }
}

/// A server that commits results without end, from another thread.
struct BusyServer {
    stop: Arc<AtomicBool>,
    /// Number of acknowledged results; result `n` is planned `n` seconds after the start.
    acknowledged: Arc<AtomicI64>,
    thread: std::thread::JoinHandle<()>,
}

impl BusyServer {
    fn start(folder: &Path) -> Self {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
        let (stopped, count, folder) = (Arc::clone(&stop), Arc::clone(&acknowledged), folder.to_owned());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let store = sqlite(&folder);
            while !stopped.load(Ordering::Relaxed) {
                let first = count.load(Ordering::Relaxed);
                let results = (first..first + 50).map(|n| ok(n % 7, at(n), 5)).collect();
                runtime.block_on(commit_results(&store, results));
                count.store(first + 50, Ordering::Release);
            }
            runtime.block_on(store.close());
        });
        Self { stop, acknowledged, thread }
    }

    fn acknowledged(&self) -> i64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    fn wait_for(&self, count: i64) {
        while self.acknowledged() < count {
            assert!(!self.thread.is_finished(), "the writer failed");
            std::thread::yield_now();
        }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

#[tokio::test]
async fn a_backup_of_a_busy_server_is_a_state_that_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let server = BusyServer::start(folder.path());
    server.wait_for(5_000);
    let backups = tempfile::tempdir().unwrap();
    let file = backups.path().join("a.db");
    let before = server.acknowledged();
    let output = store(&["backup", text(&file), "--data", text(folder.path())], 0);
    let after = server.acknowledged();
    assert!(after > before, "the server wrote nothing meanwhile");
    // It goes on.
    server.wait_for(after + 500);
    server.stop();
    assert!(out(&output).starts_with(&format!("wrote `{}`: ", file.display())), "{}", out(&output));
    assert_eq!(names(backups.path()), ["a.db"]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let restored = tempfile::tempdir().unwrap();
    let data = restored.path().join("data");
    let output = store(&["restore", text(&file), "--data", text(&data)], 0);
    assert!(out(&output).starts_with("restored `") && out(&output).lines().count() == 1, "{}", out(&output));
    assert_eq!(names(&data), ["vigie.db", "vigie.db.lock"]);
    assert_eq!(fs::metadata(data.join("vigie.db")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(out(&store(&["check", "--data", text(&data)], 0)).contains("integrity       ok"));
    let copy = sqlite(&data);
    let mut seconds: Vec<i64> = all(&copy)
        .await
        .iter()
        .map(|result| (result.planned_at.as_micros() - at(0).as_micros()) / 1_000_000)
        .collect();
    seconds.sort_unstable();
    let count = i64::try_from(seconds.len()).unwrap();
    assert_eq!(seconds, (0..count).collect::<Vec<_>>(), "whole batches, from the first one on");
    assert!(count >= before && count <= after + 50 && count % 50 == 0, "{before} {count} {after}");
    copy.close().await;
}

#[tokio::test]
async fn a_backup_replaces_a_file_only_if_asked_and_never_the_database() {
    let folder = filled().await;
    let data = ["--data", text(folder.path())];
    let file = folder.path().join("backup.db");
    // What a killed backup leaves does not matter.
    fs::write(folder.path().join("backup.db.partial"), vec![1; 100_000]).unwrap();
    fs::write(folder.path().join("backup.db.partial-journal"), "rest").unwrap();
    store(&[&["backup", text(&file)][..], &data].concat(), 0);
    assert_eq!(names(folder.path()), ["backup.db", "vigie.db", "vigie.db.lock"]);
    refused(
        &[&["backup", text(&file)][..], &data].concat(),
        "exists; name another file, or replace it with `--force`",
    );
    fs::write(&file, "old").unwrap();
    store(&[&["backup", text(&file), "--force"][..], &data].concat(), 0);
    let url = format!("sqlite:{}", file.display());
    assert!(out(&store(&["check", "--url", &url], 0)).contains("results         4,"));
    let link = folder.path().join("link.db");
    fs::hard_link(folder.path().join("vigie.db"), &link).unwrap();
    for path in [folder.path().join("vigie.db"), link] {
        refused(
            &[&["backup", text(&path), "--force"][..], &data].concat(),
            "is the database itself; name another file",
        );
    }
    refused(
        &[&["backup", text(folder.path()), "--force"][..], &data].concat(),
        "is a folder; name a file in it",
    );
    refused(
        &[&["backup", "/nonexistent/a.db"][..], &data].concat(),
        "cannot create `/nonexistent/a.db.partial`",
    );
}

/// Returns the file of a backup of `folder`.
fn backup_of(folder: &Path, file: &Path) -> PathBuf {
    store(&["backup", text(file), "--data", text(folder)], 0);
    file.to_owned()
}

#[tokio::test]
async fn a_restore_never_deletes_data() {
    let (folder, backups) = (filled().await, tempfile::tempdir().unwrap());
    let backup = backup_of(folder.path(), &backups.path().join("a.db"));
    let server = sqlite(folder.path());
    commit_results(&server, vec![ok(9, at(600), 5)]).await;
    let restore = ["restore", text(&backup), "--data", text(folder.path())];
    refused(&restore, "is in use by process");
    refused(&[&restore[..], &["--force"]].concat(), "is in use by process");
    server.close().await;
    refused(&restore, "contains data; restore to another place, or move it aside with `--force`");
    assert!(!names(folder.path()).iter().any(|name| name.contains("restor")), "{:?}", names(folder.path()));
    // A log that was not moved into the file, as after a kill, goes with the old database.
    fs::write(folder.path().join("vigie.db-wal"), "log").unwrap();
    let output = out(&store(&[&restore[..], &["--force"]].concat(), 0));
    let previous = names(folder.path()).into_iter().find(|name| name.starts_with("vigie.db.before-restore-"));
    let previous = previous.unwrap();
    assert!(
        output.contains(&format!("the database before is `{}", folder.path().join(&previous).display())),
        "{output}"
    );
    let logs = all_names(folder.path()).into_iter().filter(|name| name.ends_with("-wal"));
    let [old_log] = logs.collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(fs::read(folder.path().join(&old_log)).unwrap(), b"log");
    fs::remove_file(folder.path().join(old_log)).unwrap();
    let old = SqliteStore::open(&folder.path().join(&previous), &SqliteSettings::default());
    assert_eq!(all(&old.unwrap()).await.len(), 5);
    let restored = sqlite(folder.path());
    assert_eq!(all(&restored).await.len(), 4);
    restored.close().await;
}

#[tokio::test]
async fn an_empty_database_is_restored_into() {
    let (folder, backups) = (filled().await, tempfile::tempdir().unwrap());
    let backup = backup_of(folder.path(), &backups.path().join("a.db"));
    let target = tempfile::tempdir().unwrap();
    sqlite(target.path()).close().await;
    store(&["restore", text(&backup), "--data", text(target.path())], 0);
    let restored = sqlite(target.path());
    assert_eq!(all(&restored).await.len(), 4);
    restored.close().await;
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("vigie.db"), "").unwrap();
    store(&["restore", text(&backup), "--data", text(other.path())], 0);
}

#[tokio::test]
async fn an_older_backup_is_migrated_and_a_damaged_one_changes_nothing() {
    let target = filled().await;
    let (old, damaged) = (fixture::data(), target.path().join("damaged.db"));
    let old_path = old.path().join("vigie.db");
    fs::copy(&old_path, &damaged).unwrap();
    damage(&damaged);
    let before = fs::read(target.path().join("vigie.db")).unwrap();
    refused(&["restore", text(&damaged), "--force", "--data", text(target.path())], "damaged");
    assert_eq!(names(target.path()), ["damaged.db", "vigie.db", "vigie.db.lock"]);
    assert_eq!(fs::read(target.path().join("vigie.db")).unwrap(), before);
    let output = out(&store(&["restore", text(&old_path), "--force", "--data", text(target.path())], 0));
    assert!(output.contains(&format!("migrated from schema version {} to", fixture::VERSION)), "{output}");
    assert!(out(&store(&["check", "--data", text(target.path())], 0)).contains(", the newest\n"));
    refused(
        &["restore", text(&target.path().join("vigie.db")), "--force", "--data", text(target.path())],
        "is the database itself; name a backup",
    );
}
