//! `vigie store copy` to PostgreSQL and back: every value arrives, whatever interrupts it.

use std::path::Path;

use vigie::store::copy::{CopyProgress, copy_store};
use vigie::store::{
    ConfigStore, PostgresStore, Store, StoreLocation, StoreOptions, inspect_store, open_copy_source,
    open_copy_target, open_store,
};

use crate::store::copy::{LIMIT, assert_same_contents, database, refused, source};
use crate::store::samples::{at, commit_results, new_property, ok, sqlite};
use crate::support::binary::{err, out, vigie};
use crate::support::long_tests::full;
use crate::support::postgres::SharedDatabase;

fn sqlite_location(path: &Path) -> StoreLocation {
    StoreLocation::Sqlite(path.to_owned())
}

/// Copies, and gives up after so many pages; returns how many rows were copied before, if it came to the end.
async fn copy_pages(from: &StoreLocation, to: &StoreLocation, pages: usize) -> Option<u64> {
    let mut source = open_copy_source(from, StoreOptions::default()).await.unwrap();
    let mut target = open_copy_target(to, StoreOptions::default()).await.unwrap();
    let (sender, mut reached) = tokio::sync::mpsc::unbounded_channel();
    let mut page_count = 0;
    let mut count_page = |_: CopyProgress| {
        page_count += 1;
        if page_count == pages {
            let _ = sender.send(());
        }
    };
    tokio::select! {
        biased;
        Some(()) = reached.recv() => None,
        copied = copy_store(source.as_mut(), target.as_mut(), false, LIMIT, &mut count_page) => {
            Some(copied.unwrap().resumed_rows)
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_value_arrives_and_comes_back_although_copies_are_interrupted() {
    let (folder, returned) = (source().await, tempfile::tempdir().unwrap());
    let (original, copy) = (database(folder.path()), database(returned.path()));
    let server = SharedDatabase::create().await.server;
    let postgres = StoreLocation::parse(&server.url(&server.create_database().await)).unwrap();
    let (mut interruptions, mut has_resumed) = (0, false);
    loop {
        match copy_pages(&sqlite_location(&original), &postgres, 1 + interruptions * 40).await {
            Some(resumed) => {
                has_resumed |= resumed > 100;
                break;
            }
            None => interruptions += 1,
        }
        match open_store(&postgres, StoreOptions::default()).await {
            // No server uses an incomplete copy.
            Err(failure) => {
                assert!(failure.to_string().contains("copy that is not complete"), "{failure}");
                has_resumed |= interruptions > 1;
            }
            // It was interrupted after its last statement was sent.
            Ok(store) => {
                store.close().await;
                break;
            }
        }
    }
    assert!(interruptions > 2 && has_resumed, "{interruptions} interruptions");
    assert_eq!(inspect_store(&postgres, StoreOptions::default()).await.unwrap().problems, [""; 0]);

    assert_eq!(copy_pages(&postgres, &sqlite_location(&copy), usize::MAX).await, Some(0));
    assert_same_contents(&original, &copy);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_copies_refuses_data_and_new_ids_follow() {
    let folder = source().await;
    let from = format!("sqlite:{}", database(folder.path()).display());
    let server = SharedDatabase::create().await.server;
    let name = server.create_database().await;
    let to = server.url(&name);
    let copied = vigie(&["store", "copy", "--from", &from, "--to", &to]);
    assert_eq!(copied.status.code(), Some(0), "{}{}", out(&copied), err(&copied));
    refused(
        &vigie(&["store", "copy", "--from", &from, "--to", &to]),
        "contains data; name an empty database",
    );

    let store = PostgresStore::connect(&server.settings(&name)).await.unwrap();
    let id_in_postgres = store.write_changes(new_property("a"), Vec::new()).await.unwrap();
    commit_results(&store, vec![ok(1, at(900), 5)]).await;
    // While a server uses it, nothing can be copied from it.
    let busy = vigie(&["store", "copy", "--from", &to, "--to", "sqlite:elsewhere.db"]);
    refused(&busy, "in use by another vigie");
    store.close().await;
    let original = sqlite(folder.path());
    assert_eq!(original.write_changes(new_property("a"), Vec::new()).await.unwrap(), id_in_postgres);
}

#[tokio::test]
async fn a_second_server_on_a_database_is_refused() {
    let database = SharedDatabase::create().await;
    let first = database.connect().await;
    let settings = database.server.settings(&database.name);
    let failure = PostgresStore::connect(&settings).await.err().unwrap();
    let text = failure.to_string();
    assert!(matches!(failure, vigie::store::StoreError::Locked(_)), "{text}");
    assert!(text.contains("connected from 127.0.0.1 port"), "{text}");
    first.close().await;
    PostgresStore::connect(&settings).await.unwrap().close().await;
    database.remove().await;
}

/// Results of the long copy.
const RESULTS: u64 = 10_000_000;

/// With `VIGIE_FULL`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_million_results_are_copied_and_compared() {
    if !full() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(folder.path());
    let first: Vec<_> = (0..1000).map(|n| ok(n, at(n), 5)).collect();
    commit_results(&store, first).await;
    store.close().await;
    let conn = rusqlite::Connection::open(database(folder.path())).unwrap();
    let columns: Vec<String> = conn
        .prepare("SELECT name FROM pragma_table_info('results') WHERE name <> 'planned_at'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let columns = columns.join(", ");
    // Each of the thousand results again, a minute later each time: a week of them.
    conn.execute_batch(&format!(
        "WITH RECURSIVE rounds (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rounds WHERE n < {rounds} - 1)
         INSERT INTO results (planned_at, {columns})
         SELECT planned_at + n * 60000000, {columns} FROM results CROSS JOIN rounds",
        rounds = RESULTS / 1000
    ))
    .unwrap();
    drop(conn);
    let server = SharedDatabase::create().await.server;
    let postgres = StoreLocation::parse(&server.url(&server.create_database().await)).unwrap();
    let mut source =
        open_copy_source(&sqlite_location(&database(folder.path())), StoreOptions::default()).await.unwrap();
    let mut target = open_copy_target(&postgres, StoreOptions::default()).await.unwrap();
    let started = std::time::Instant::now();
    let limit = vigie::store::copy::PageLimit::default();
    let copied = copy_store(source.as_mut(), target.as_mut(), false, limit, &mut |_| {}).await.unwrap();
    println!("{} rows copied and compared in {:?}", copied.total_rows(), started.elapsed());
    let results = copied.row_counts.iter().find(|(table, _)| *table == "results").unwrap();
    assert_eq!(results.1, RESULTS);
}
