//! `vigie store copy` between SQLite files: every value arrives, whatever interrupts it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;
use vigie::domain::CapturedFile;
use vigie::store::copy::{PageLimit, TABLES, copy_store};
use vigie::store::{StoreLocation, StoreOptions, open_copy_source, open_copy_target};

use crate::fixture::store as fixture;
use crate::store::samples::{all, at, commit_results, error, missed, ok, sqlite, warning};
use crate::support::binary::{err, out, vigie};

/// Returns the data of an earlier release, migrated, with rows of every form; the database is `vigie.db`.
pub async fn source() -> TempDir {
    let folder = fixture::data();
    let store = sqlite(folder.path());
    let mut with_capture = error(3, at(0));
    let content: Vec<u8> =
        (0..1_500_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    with_capture.captures = vec![CapturedFile::new("page.html", "text/html", &content)];
    let mut first = ok(4, at(1), 7);
    first.trigger = vigie::domain::CheckTrigger::First;
    commit_results(&store, vec![with_capture, first, missed(2, at(2), 3, 60), warning(1, at(3))]).await;
    commit_results(&store, (0..300).map(|n| ok(n % 9, at(100 + n), 5)).collect()).await;
    store.close().await;
    let conn = Connection::open(folder.path().join("vigie.db")).unwrap();
    conn.execute_batch(
        "UPDATE results SET suppressed = 1 WHERE monitor_id = 3;
         -- A text that was removed before the results that refer to it.
         DELETE FROM shared WHERE id IN (SELECT label FROM results WHERE monitor_id = 4);
         INSERT OR REPLACE INTO raised VALUES (-1, 2, '{\"a\": 1.50}'), (1, 3, '{}');
         -- The last ids of removed rows are not used again.
         INSERT INTO audit (customer, at, login, address, via, action, object, object_name, before, after)
             VALUES (1, 2, 'é', '', '', '', '', '', '{}', '{}');
         DELETE FROM audit WHERE id = last_insert_rowid();
         INSERT INTO missed_run_sweeps VALUES (3, -7), (9, 9223372036854775807);
         INSERT INTO login_throttles VALUES (0, zeroblob(32), 4, 5), (3, x'ff00', 6, -7);
         INSERT INTO host_states VALUES (7, -3, 4, 5, '0.1.0', 'é', 60, '1.5 load1');
         INSERT INTO host_layouts VALUES (7, -9223372036854775808, 86400000000, 'load1');
         INSERT INTO host_history VALUES (7, 0, 3, 4, -9223372036854775808, x'0100'), (7, 1, 0, 0, 1, x'');
         INSERT INTO host_rollups_due VALUES (7, 1, 300000000, 300000000);
         INSERT INTO push_states (monitor_id, customer) VALUES (8, 1);
         INSERT INTO push_states VALUES (9, 1, zeroblob(32), 1, 2, 3, 1, 'é', 5, -1, 'last');
         INSERT INTO usage VALUES (0, -86400000000, '', 'tcp', 1, 9223372036854775807);",
    )
    .unwrap();
    folder
}

pub fn database(folder: &Path) -> PathBuf {
    folder.join("vigie.db")
}

/// Runs `vigie store copy` from `from` to `to`.
fn copy(from: &Path, to: &Path, args: &[&str]) -> Output {
    let (from, to) = (format!("sqlite:{}", from.display()), format!("sqlite:{}", to.display()));
    vigie(&[&["store", "copy", "--from", &from, "--to", &to], args].concat())
}

#[track_caller]
pub fn refused(output: &Output, text: &str) {
    assert_eq!(output.status.code(), Some(1), "{}{}", out(output), err(output));
    assert!(err(output).contains(text), "{}", err(output));
}

/// Returns the columns of the tables of the database.
fn columns(conn: &Connection) -> BTreeMap<String, BTreeSet<String>> {
    let mut statement = conn
        .prepare(
            "SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
             WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let pairs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for pair in pairs {
        let (table, column): (String, String) = pair.unwrap();
        columns.entry(table).or_default().insert(column);
    }
    columns
}

/// Returns every row of every table, and the last ids. Ids of shared texts are replaced by their texts.
fn contents(path: &Path) -> BTreeMap<String, Vec<Vec<Value>>> {
    let conn = Connection::open(path).unwrap();
    let mut contents = BTreeMap::new();
    for (table, columns) in columns(&conn) {
        let expressions = columns.iter().filter_map(|column| match (table.as_str(), column.as_str()) {
            ("shared" | "captures", "id") => None,
            ("results", "label" | "facts" | "chain") => Some(format!(
                "CASE WHEN \"{column}\" IS NULL THEN NULL
                     ELSE ifnull((SELECT text FROM shared WHERE id = \"{column}\"), 'removed') END"
            )),
            _ => Some(format!("\"{column}\"")),
        });
        let expressions = expressions.collect::<Vec<_>>().join(", ");
        contents.insert(table.clone(), rows(&conn, &format!("SELECT {expressions} FROM \"{table}\"")));
    }
    let sequences = "SELECT name, seq FROM sqlite_sequence WHERE name <> 'shared'";
    contents.insert("sqlite_sequence".to_owned(), rows(&conn, sequences));
    contents
}

fn rows(conn: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = conn.prepare(sql).unwrap();
    let count = statement.column_count();
    let read = statement.query_map([], |row| (0..count).map(|index| row.get(index)).collect()).unwrap();
    let mut rows: Vec<Vec<Value>> = read.map(Result::unwrap).collect();
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    rows
}

#[track_caller]
pub fn assert_same_contents(from: &Path, to: &Path) {
    let (expected, found) = (contents(from), contents(to));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (table, rows) in &expected {
        assert!(found[table] == *rows, "{table}: {} and {} rows", rows.len(), found[table].len());
    }
}

#[test]
fn every_table_and_column_of_sqlite_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    drop(sqlite(folder.path()));
    let mut copied: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for table in TABLES {
        let columns = table.columns.iter().map(|column| column.sqlite_name.to_owned());
        assert!(copied.insert(table.sqlite_name.to_owned(), columns.collect()).is_none(), "{}", table.name);
    }
    // Ids that PostgreSQL does not have.
    for table in ["shared", "captures"] {
        copied.get_mut(table).unwrap().insert("id".to_owned());
    }
    assert_eq!(copied, columns(&Connection::open(database(folder.path())).unwrap()));
}

#[tokio::test]
async fn every_value_arrives_and_ids_continue() {
    let (folder, target) = (source().await, tempfile::tempdir().unwrap());
    let (from, to) = (database(folder.path()), target.path().join("new/vigie.db"));
    let before = contents(&from);
    for (table, rows) in &before {
        assert!(!rows.is_empty() || table == "late", "{table} has no row to copy");
    }
    let output = copy(&from, &to, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let row_count: usize =
        before.iter().filter(|(table, _)| *table != "sqlite_sequence").map(|(_, rows)| rows.len()).sum();
    let text = out(&output);
    assert!(text.starts_with(&format!("copied {row_count} rows of 26 tables from ")), "{text}");
    assert!(text.ends_with(" s, and compared them\n"), "{text}");
    assert!(contents(&from) == before, "the source changed");
    assert_same_contents(&from, &to);
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    let checked = vigie(&["store", "check", "--data", to.parent().unwrap().to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(0), "{}", out(&checked));

    let (old, new) = (sqlite(folder.path()), sqlite(to.parent().unwrap()));
    assert_eq!(all(&old).await, all(&new).await);
    for store in [&old, &new] {
        commit_results(store, vec![ok(1, at(9_000), 5), warning(8, at(9_001))]).await;
    }
    assert_eq!(all(&old).await, all(&new).await);
    old.close().await;
    new.close().await;
    assert_same_contents(&from, &to);
}

#[tokio::test]
async fn nothing_is_copied_over_data_or_beside_a_server() {
    let (folder, target) = (source().await, tempfile::tempdir().unwrap());
    let (from, to) = (database(folder.path()), target.path().join("vigie.db"));
    refused(&copy(&target.path().join("none.db"), &to, &[]), "the file does not exist");
    for existing in ["", "some data"] {
        fs::write(&to, existing).unwrap();
        refused(&copy(&from, &to, &["--restart"]), "exists; name a file that does not exist");
    }
    assert_eq!(fs::read_to_string(&to).unwrap(), "some data");
    fs::remove_file(&to).unwrap();
    refused(&copy(&from, &from, &[]), "exists; name a file that does not exist");
    let server = sqlite(folder.path());
    refused(&copy(&from, &to, &[]), "is in use by process");
    server.close().await;
    let old = fixture::data();
    refused(&copy(&database(old.path()), &to, &[]), "it is of an older version; `vigie store migrate`");
    let usage = vigie(&["store", "copy", "--from", "sqlite:", "--to", "mysql://x"]);
    assert_eq!(usage.status.code(), Some(2), "{}", err(&usage));
    assert!(err(&usage).contains("`--from` names no file"), "{}", err(&usage));
}

#[tokio::test]
async fn a_value_of_another_type_is_reported_with_its_place() {
    let (folder, target) = (source().await, tempfile::tempdir().unwrap());
    let (from, to) = (database(folder.path()), target.path().join("vigie.db"));
    let conn = Connection::open(&from).unwrap();
    conn.execute("UPDATE raised SET body = x'00' WHERE alert = 1", []).unwrap();
    drop(conn);
    let message =
        "table `raised`, row Integer(1), Integer(3): column `body` is no Text; correct or remove the row";
    refused(&copy(&from, &to, &[]), message);
}

const CHILD_FROM: &str = "VIGIE_TEST_COPY_FROM";
const CHILD_TO: &str = "VIGIE_TEST_COPY_TO";
/// Small, so that there are many pages.
pub const LIMIT: PageLimit = PageLimit { rows: 7, bytes: 100_000 };

/// Runs in a child process of the tests below; does nothing in an ordinary test run.
#[tokio::test]
async fn child() {
    let (Some(from), Some(to)) = (std::env::var_os(CHILD_FROM), std::env::var_os(CHILD_TO)) else { return };
    let (from, to) = (StoreLocation::Sqlite(from.into()), StoreLocation::Sqlite(to.into()));
    let mut source = open_copy_source(&from, StoreOptions::default()).await.unwrap();
    let mut target = open_copy_target(&to, StoreOptions::default()).await.unwrap();
    let mut print_page = |_| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\npage").unwrap();
        out.flush().unwrap();
    };
    let copied = copy_store(source.as_mut(), target.as_mut(), false, LIMIT, &mut print_page).await;
    println!("\nresumed {}", copied.unwrap().resumed_rows);
}

/// Copies in a child process and kills it after so many pages. It goes on until the kill arrives, so it may come to its
/// end; then this returns how many rows an earlier one had copied, if it still reported that.
fn copy_and_kill(from: &Path, to: &Path, pages: usize) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::copy::child", "--nocapture"])
        .env(CHILD_FROM, from)
        .env(CHILD_TO, to)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut page_count, mut resumed) = (0, None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        page_count += usize::from(line == "page");
        if page_count == pages {
            child.kill().unwrap();
        }
        resumed = resumed.or_else(|| line.strip_prefix("resumed ")?.parse().ok());
    }
    child.wait().unwrap();
    resumed
}

#[tokio::test]
async fn a_copy_that_is_killed_at_any_page_continues() {
    let (folder, target) = (source().await, tempfile::tempdir().unwrap());
    let (from, to) = (database(folder.path()), database(target.path()));
    let total: usize = contents(&from).values().map(Vec::len).sum();
    // Further each time, so that every table is interrupted, the comparison too.
    let (mut kills, mut resumed) = (0, None);
    while !to.exists() {
        resumed = copy_and_kill(&from, &to, 1 + kills * 5);
        kills += 1;
        assert!(kills < 200, "it never ends");
        assert!(resumed.is_none() || to.exists(), "a complete copy cannot be opened");
    }
    assert!(kills > 10, "only {kills}");
    // Unknown when the last kill arrived between the end of the copy and its report.
    assert!(resumed.is_none_or(|rows| rows > total as u64 / 2), "{resumed:?} of {total} rows were resumed");
    assert_same_contents(&from, &to);
}

#[tokio::test]
async fn a_source_that_changed_meanwhile_is_noticed() {
    let (folder, target) = (source().await, tempfile::tempdir().unwrap());
    let (from, to) = (database(folder.path()), database(target.path()));
    // Its tables are copied; it is killed while it compares.
    let pages = contents(&from).values().map(|rows| rows.len() / LIMIT.rows + 1).sum::<usize>() + 2;
    assert_eq!(copy_and_kill(&from, &to, pages), None);
    let conn = Connection::open(&from).unwrap();
    conn.execute(
        "UPDATE results SET total_us = total_us + 1 WHERE planned_at = (SELECT min(planned_at) FROM results)",
        [],
    )
    .unwrap();
    drop(conn);
    let output = copy(&from, &to, &[]);
    refused(&output, "the copy of `results` differs: ");
    assert!(err(&output).contains("hint: `--restart` removes the copy and begins again"), "{}", err(&output));
    assert!(!to.exists());
    let other = source().await;
    refused(&copy(&database(other.path()), &to, &[]), "is what an interrupted copy of");
    let output = copy(&from, &to, &["--restart"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(!out(&output).contains("were copied before"), "{}", out(&output));
    assert_same_contents(&from, &to);
}
