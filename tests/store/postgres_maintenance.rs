//! `vigie store check` and `migrate` over PostgreSQL.

use vigie::domain::UserId;
use vigie::schema::Origin;
use vigie::store::{
    ConfigChange, ConfigStore, IngestBatch, MigrationSummary, Store, StoreLocation, StoreOptions, StoredJson,
    StoredJsonNames, StoredToken, TokenKind, TokenStore, inspect_store, migrate_store, open_store,
};

use crate::store::config::new_monitor;
use crate::store::samples::{at, ok};
use crate::support::postgres::SharedDatabase;

#[tokio::test]
async fn a_database_is_migrated_once_and_inspected() {
    let server = SharedDatabase::create().await.server;
    let name = server.create_database().await;
    let location = StoreLocation::parse(&server.url(&name)).unwrap();
    let options = StoreOptions::default;
    let failure = inspect_store(&location, options()).await.unwrap_err().to_string();
    assert!(failure.contains("no tables") && failure.contains("`vigie store migrate`"), "{failure}");

    let migration = migrate_store(&location, options()).await.unwrap();
    let newest = migration.to_version;
    assert_eq!(migration.from_version, 0);
    let again = migrate_store(&location, options()).await.unwrap();
    assert_eq!(again, MigrationSummary { from_version: newest, to_version: newest });

    let store = open_store(&location, options()).await.unwrap();
    let results = vec![ok(1, at(0), 5), ok(1, at(60), 5)];
    store.commit(IngestBatch { results, ..IngestBatch::default() }).await.unwrap();
    store.close().await;
    let report = inspect_store(&location, options()).await.unwrap();
    assert_eq!((report.schema_version, report.newest_version, report.problems), (newest, newest, Vec::new()));
    let contents = report.contents.unwrap();
    assert_eq!((contents.monitor_count, contents.result_count), (0, 2));
    assert_eq!(contents.planned_range, Some((at(0), at(60))));
    assert!(report.size_bytes > 1 << 20);

    server.execute(&name, "UPDATE result_counts SET row_count = 5 WHERE row_count = 1".to_owned()).await;
    let report = inspect_store(&location, options()).await.unwrap();
    assert!(report.problems[0].contains("10 results, but there are 2"), "{:?}", report.problems);
}

#[tokio::test]
async fn migrations_that_start_together_wait_for_each_other() {
    let server = SharedDatabase::create().await.server;
    let name = server.create_database().await;
    let location = StoreLocation::parse(&server.url(&name)).unwrap();
    let migrations = (0..4).map(|_| migrate_store(&location, StoreOptions::default()));
    let summaries = futures::future::join_all(migrations).await;
    assert!(summaries.iter().all(Result::is_ok), "{summaries:?}");
}

#[tokio::test]
async fn a_value_that_cannot_be_decoded_is_named_as_the_database_names_it() {
    let database = SharedDatabase::create().await;
    let store = database.connect().await;
    let monitor = ConfigChange::CreateMonitor(new_monitor(Origin::Api, "shop"));
    let id = store.write_changes(vec![monitor], Vec::new()).await.unwrap()[0];
    store.insert(StoredToken::new([1; 32], TokenKind::Access, UserId(7), at(0))).await.unwrap();
    let damage = "UPDATE monitors SET metadata = '{'; UPDATE tokens SET kind = 9";
    database.server.execute(&database.name, damage.to_owned()).await;
    let failure = store.stored_monitors().await.unwrap_err().to_string();
    assert!(failure.contains(&format!("table `monitors`, row id {id}, column `metadata`: ")), "{failure}");
    let failure = store.token([1; 32]).await.unwrap_err().to_string();
    assert!(failure.contains("table `tokens`, row user_id 7, column `kind`: "), "{failure}");
    // Callers of the store decode some values themselves, and take the names from it; every table has its column.
    for json in [StoredJson::AlertState, StoredJson::EpisodeSnapshot, StoredJson::PerformanceAlertState] {
        let (table, column) = store.table_and_column(json);
        let statement = format!("SELECT {column} FROM {table} LIMIT 0");
        database.server.execute(&database.name, statement).await;
        let error = store.undecodable_json_error(json, "id 7".to_owned(), "why".to_owned()).to_string();
        assert!(error.contains(&format!("table `{table}`, row id 7, column `{column}`: why")), "{error}");
    }
    store.close().await;
    database.remove().await;
}
