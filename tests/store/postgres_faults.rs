//! Faults of a PostgreSQL database: each is a clear error, loses nothing, doubles nothing, and the store continues
//! afterwards.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{ConfigRecordKind, Timestamp};
use vigie::store::{
    ConfigRecordFilter, ConfigStore, Ingest, IngestBatch, MonitorStore, Pagination, PostgresSettings,
    PostgresStore, PostgresTls, ResultFilter, ResultStore, Store, StoreError, StorePassword,
};

use crate::store::samples::{all, at, commit_results, error, fill_the_disk_and_go_on, new_property, ok};
use crate::support::cutting_proxy::{Cut, CuttingProxy};
use crate::support::daemon::is_root;
use crate::support::postgres::{PostgresServer, SharedDatabase};
use crate::support::small_disk::SmallDisk;
use crate::support::tls_server::Authority;

async fn connect_error(settings: &PostgresSettings) -> String {
    let error = PostgresStore::connect(settings).await.err().expect("refused");
    assert!(!matches!(error, StoreError::Closed), "{error}");
    error.to_string()
}

fn batch(results: Vec<vigie::domain::CheckResult>) -> IngestBatch {
    IngestBatch { results, ..IngestBatch::default() }
}

#[tokio::test]
async fn a_wrong_password_is_an_error_that_does_not_show_it() {
    let database = SharedDatabase::create().await;
    let create =
        "DO $$ BEGIN CREATE ROLE guest LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN END $$";
    database.server.execute(&database.name, create.to_owned()).await;
    let mut settings = database.server.settings(&database.name);
    settings.location.user = "guest".to_owned();
    settings.location.password = Some(StorePassword::new("wr0ng-one"));
    let message = connect_error(&settings).await;
    assert!(message.contains("guest@127.0.0.1") && message.contains("`store.password_file`"), "{message}");
    assert!(!message.contains("wr0ng-one"), "{message}");
    // With the right one, the user is let in and told what it may not do.
    settings.location.password = Some(StorePassword::new("right"));
    let message = connect_error(&settings).await;
    assert!(message.contains("owner of the database"), "{message}");
    database.remove().await;
}

#[tokio::test]
async fn a_database_that_does_not_exist_or_answer_is_named_with_what_to_do() {
    let database = SharedDatabase::create().await;
    let message = connect_error(&database.server.settings("nowhere")).await;
    assert!(message.contains("createdb"), "{message}");
    database.remove().await;

    // A port that is held, but where nobody accepts.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut settings = PostgresServer::settings_at(silent.local_addr().unwrap().port(), "vigie");
    settings.connect_timeout = Duration::from_millis(300);
    let failure = PostgresStore::connect(&settings).await.err().unwrap();
    assert!(
        matches!(&failure, StoreError::Unavailable(reason) if reason.contains("did not answer")),
        "{failure}"
    );
    let port = silent.local_addr().unwrap().port();
    drop(silent);
    let failure = PostgresStore::connect(&PostgresServer::settings_at(port, "vigie")).await.err().unwrap();
    assert!(matches!(&failure, StoreError::Unavailable(_)) && failure.is_transient(), "{failure}");
    assert!(failure.to_string().contains("check that the server runs"), "{failure}");
}

#[tokio::test]
async fn the_tables_of_a_newer_version_or_another_program_are_refused() {
    let database = SharedDatabase::create().await;
    // The version after this one only adds: both work side by side.
    let version = "INSERT INTO vigie_schema (version, usable_since) VALUES".to_owned();
    database.server.execute(&database.name, format!("{version} (998, 1)")).await;
    database.connect().await.close().await;
    database.server.execute(&database.name, format!("{version} (999, 998)")).await;
    let failure = PostgresStore::connect(&database.server.settings(&database.name)).await.err().unwrap();
    assert!(matches!(failure, StoreError::TooNew { found: 999, .. }), "{failure}");
    database.remove().await;

    let server = SharedDatabase::create().await.server;
    let name = server.create_database().await;
    server.execute(&name, "CREATE TABLE customers (id INT)".to_owned()).await;
    let message = connect_error(&server.settings(&name)).await;
    assert!(message.contains("another program") && message.contains("of its own"), "{message}");
}

/// A clock that is ahead.
struct AheadClock(Duration);

impl Clock for AheadClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + self.0
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        SystemClock.sleep(duration)
    }
}

#[tokio::test]
async fn a_clock_that_is_off_by_more_than_a_minute_is_refused() {
    let database = SharedDatabase::create().await;
    let settings = |seconds| PostgresSettings {
        clock: Arc::new(AheadClock(Duration::from_secs(seconds))),
        ..database.server.settings(&database.name)
    };
    let message = connect_error(&settings(90)).await;
    assert!(message.contains("behind this host's") && message.contains("NTP"), "{message}");
    PostgresStore::connect(&settings(30)).await.unwrap().close().await;
    database.remove().await;
}

#[tokio::test]
async fn an_encoding_that_cannot_hold_all_texts_is_refused() {
    let server = SharedDatabase::create().await.server;
    server
        .execute(
            "postgres",
            "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0".to_owned(),
        )
        .await;
    let message = connect_error(&server.settings("latin")).await;
    assert!(message.contains("LATIN1") && message.contains("--encoding=UTF8"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_not_trusted_is_refused() {
    let trusted = Authority::new("trusted");
    let identity = trusted.issue(&["localhost"], (2020, 2090));
    let server = PostgresServer::start_with_tls(&identity.certificate, &identity.key);
    let name = server.create_database().await;
    let folder = tempfile::tempdir().unwrap();
    let ca_file = |name: &str, authority: &Authority| {
        let path = folder.path().join(name);
        std::fs::write(&path, authority.pem()).unwrap();
        path
    };
    let mut settings = server.settings(&name);
    settings.location.host = "localhost".to_owned();
    settings.location.tls = PostgresTls::VerifyFull;
    settings.location.ca_file = Some(ca_file("other.pem", &Authority::new("other")));
    let message = connect_error(&settings).await;
    assert!(message.contains("TLS") && message.contains("`sslrootcert`"), "{message}");
    settings.location.ca_file = Some(folder.path().join("missing.pem"));
    let message = connect_error(&settings).await;
    assert!(message.contains("missing.pem"), "{message}");

    settings.location.ca_file = Some(ca_file("trusted.pem", &trusted));
    let store = PostgresStore::connect(&settings).await.unwrap();
    commit_results(&store, vec![ok(1, at(0), 5)]).await;
    store.close().await;
    // The certificate is for another name.
    settings.location.host = "127.0.0.1".to_owned();
    let message = connect_error(&settings).await;
    assert!(message.contains("TLS"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_lost_in_a_commit_neither_loses_nor_doubles() {
    let database = SharedDatabase::create().await;
    let proxy = CuttingProxy::start(database.server.port).await;
    let mut settings = database.server.settings(&database.name);
    settings.location.port = proxy.address.port();
    let store = PostgresStore::connect(&settings).await.unwrap();
    commit_results(&store, vec![ok(1, at(0), 5)]).await;

    // The server has committed: the call succeeds, and nothing has to be repeated.
    proxy.cut(Cut::AfterCommit);
    commit_results(&store, vec![ok(1, at(60), 5)]).await;
    proxy.cut(Cut::AfterCommit);
    assert_eq!(store.write_changes(new_property("kept"), Vec::new()).await.unwrap().len(), 1);
    // It has not: the call fails, and may be repeated.
    proxy.cut(Cut::BeforeCommit);
    let failure = store.commit(batch(vec![ok(1, at(120), 5)])).await.unwrap_err();
    assert!(matches!(&failure, StoreError::Unavailable(_)) && failure.is_transient(), "{failure}");
    proxy.cut(Cut::BeforeCommit);
    store.write_changes(new_property("lost"), Vec::new()).await.unwrap_err();
    assert_eq!(proxy.cuts(), 4);

    assert_eq!(all(&store).await.len(), 2);
    commit_results(&store, vec![ok(1, at(120), 5)]).await;
    assert_eq!(all(&store).await.len(), 3);
    let properties =
        store.records(ConfigRecordFilter::new(ConfigRecordKind::Property), Pagination::ALL).await.unwrap();
    let names: Vec<_> = properties.items.iter().map(|record| record.fields["name"].clone()).collect();
    assert_eq!(names, ["kept"]);
    store.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_a_crash_undid_is_an_error_though_its_id_is_given_to_another_transaction() {
    // What is not committed is not on disk.
    let mut server = PostgresServer::start_with(&["-c", "wal_writer_delay=10s"]);
    let name = server.create_database().await;
    let proxy = CuttingProxy::start(server.port).await;
    let mut settings = server.settings(&name);
    settings.location.port = proxy.address.port();
    let store = Arc::new(PostgresStore::connect(&settings).await.unwrap());
    commit_results(store.as_ref(), vec![ok(1, at(0), 5)]).await;
    proxy.cut(Cut::HoldCommit);
    let write = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.write_changes(new_property("lost"), Vec::new()).await }
    });
    while proxy.cuts() == 0 {
        tokio::task::yield_now().await;
    }
    server.kill();
    server.restart();
    for _ in 0..20 {
        server.execute(&name, "SELECT pg_current_xact_id()".to_owned()).await;
    }
    proxy.cut(Cut::Never);
    let failure = write.await.unwrap().unwrap_err();
    assert!(matches!(&failure, StoreError::Unavailable(_)), "{failure}");
    let properties =
        store.records(ConfigRecordFilter::new(ConfigRecordKind::Property), Pagination::ALL).await.unwrap();
    assert_eq!(properties.items.len(), 0);
    commit_results(store.as_ref(), vec![ok(1, at(60), 5)]).await;
    // The next loss without a crash is resolved again.
    proxy.cut(Cut::AfterCommit);
    store.write_changes(new_property("kept"), Vec::new()).await.unwrap();
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_a_crash_kept_is_no_error() {
    let mut server = PostgresServer::start_with(&["-c", "fsync=on"]);
    let name = server.create_database().await;
    let proxy = CuttingProxy::start(server.port).await;
    let mut settings = server.settings(&name);
    settings.location.port = proxy.address.port();
    let store = Arc::new(PostgresStore::connect(&settings).await.unwrap());
    commit_results(store.as_ref(), vec![ok(1, at(0), 5)]).await;
    proxy.cut(Cut::HoldReply);
    let write = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.write_changes(new_property("kept"), Vec::new()).await }
    });
    while proxy.cuts() == 0 {
        tokio::task::yield_now().await;
    }
    server.kill();
    server.restart();
    proxy.cut(Cut::Never);
    // The caller need not repeat it, which would make a second one.
    assert_eq!(write.await.unwrap().unwrap().len(), 1);
    let properties =
        store.records(ConfigRecordFilter::new(ConfigRecordKind::Property), Pagination::ALL).await.unwrap();
    assert_eq!(properties.items.len(), 1);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_waits_for_the_commits_of_a_process_that_was_killed() {
    let database = SharedDatabase::create().await;
    let name = &database.name;
    let url = format!("{}&application_name=vigie", database.server.url(name));
    let mut old_process = PgConnection::connect(&url).await.unwrap();
    let last_commit = tokio::spawn(async move {
        let commit = "BEGIN; INSERT INTO result_bounds VALUES (7); SELECT pg_sleep(2); COMMIT";
        sqlx::raw_sql(commit).execute(&mut old_process).await.unwrap();
    });
    let mut conn = PgConnection::connect(&database.server.url(name)).await.unwrap();
    let running =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while sqlx::query_scalar::<_, i64>(running).fetch_one(&mut conn).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    let store = database.connect().await;
    let committed: i64 = sqlx::query_scalar("SELECT count(*) FROM result_bounds WHERE longest_missed_us = 7")
        .fetch_one(&mut conn)
        .await
        .unwrap();
    assert_eq!(committed, 1, "it may have read what was there before");
    last_commit.await.unwrap();
    store.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_goes_silent_is_an_error_in_time() {
    let database = SharedDatabase::create().await;
    let proxy = CuttingProxy::start(database.server.port).await;
    let mut settings = database.server.settings(&database.name);
    settings.location.port = proxy.address.port();
    settings.query_timeout = Duration::from_millis(50);
    let store = PostgresStore::connect(&settings).await.unwrap();
    commit_results(&store, vec![ok(1, at(0), 5)]).await;
    proxy.cut(Cut::Stall);
    let failure = store.commit(batch(vec![ok(1, at(60), 5)])).await.unwrap_err();
    assert!(matches!(&failure, StoreError::Unavailable(_)), "{failure}");
    proxy.cut(Cut::Never);
    commit_results(&store, vec![ok(1, at(60), 5)]).await;
    assert_eq!(all(&store).await.len(), 2);
    store.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_is_an_error_until_it_runs_again() {
    // Waits for its disk, as servers do.
    let mut server = PostgresServer::start_with(&[]);
    let name = server.create_database().await;
    let mut settings = server.settings(&name);
    settings.connect_timeout = Duration::from_secs(2);
    let store = PostgresStore::connect(&settings).await.unwrap();
    commit_results(&store, (0..50).map(|i| error(i, at(0))).collect()).await;
    server.kill();
    let failure = store.commit(batch(vec![ok(1, at(60), 5)])).await.unwrap_err();
    assert!(matches!(&failure, StoreError::Unavailable(_)) && failure.is_transient(), "{failure}");
    let failure = store.monitors().await.unwrap_err();
    assert!(matches!(&failure, StoreError::Unavailable(_)), "{failure}");
    server.restart();
    commit_results(&store, vec![ok(1, at(60), 5)]).await;
    assert_eq!(all(&store).await.len(), 51, "what was committed is there");
    server.stop();
    store.commit(batch(vec![ok(1, at(120), 5)])).await.unwrap_err();
    server.restart();
    commit_results(&store, vec![ok(1, at(120), 5)]).await;
    assert_eq!(all(&store).await.len(), 52);
    store.close().await;
}

#[tokio::test]
async fn a_read_only_database_is_named_as_that() {
    let database = SharedDatabase::create().await;
    let store = database.connect().await;
    commit_results(&store, vec![ok(1, at(0), 5)]).await;
    let name = &database.name;
    let set_read_only = |value: &str| {
        format!(
            "ALTER DATABASE {name} SET default_transaction_read_only = {value};
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        )
    };
    database.server.execute("postgres", set_read_only("on")).await;
    let failure = loop {
        // Connections that were ended are noticed first.
        match store.commit(batch(vec![ok(1, at(60), 5)])).await.unwrap_err() {
            StoreError::Unavailable(_) => {}
            failure => break failure,
        }
    };
    assert!(
        matches!(&failure, StoreError::Unusable(reason) if reason.contains("primary server")),
        "{failure}"
    );
    let message = connect_error(&database.server.settings(name)).await;
    assert!(message.contains("read-only"), "{message}");
    database.server.execute("postgres", set_read_only("off")).await;
    while let Err(failure) = store.commit(batch(vec![ok(1, at(60), 5)])).await {
        assert!(matches!(failure, StoreError::Unavailable(_)), "{failure}");
    }
    assert_eq!(all(&store).await.len(), 2);
    store.close().await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_query_times_out_without_affecting_others() {
    let database = SharedDatabase::create().await;
    let mut settings = database.server.settings(&database.name);
    settings.query_timeout = Duration::from_millis(300);
    let store = PostgresStore::connect(&settings).await.unwrap();
    commit_results(&store, vec![ok(1, at(0), 5)]).await;
    let block = "BEGIN; LOCK TABLE results; SELECT pg_sleep(2); COMMIT".to_owned();
    let (server, name) = (database.server, database.name.clone());
    let blocker = tokio::spawn(async move { server.execute(&name, block).await });
    // Until the lock is held, the query succeeds.
    let failure = loop {
        if let Err(failure) = store.results(ResultFilter::default(), Pagination::ALL).await {
            break failure;
        }
    };
    assert_eq!(failure, StoreError::QueryTimeout);
    store.monitors().await.unwrap();
    blocker.await.unwrap();
    assert_eq!(all(&store).await.len(), 1);
    store.close().await;
    database.remove().await;
}

#[tokio::test]
async fn a_full_disk_is_an_error_that_loses_nothing_and_ends_with_free_space() {
    let folder = tempfile::tempdir().unwrap();
    let disk = if is_root() { SmallDisk::mount(folder.path(), "8m") } else { None };
    let Some(_disk) = disk else {
        crate::support::lacking::lacks(
            "store::postgres_faults",
            "the right to mount a small disk",
            "run it as root",
        );
        return;
    };
    let server = SharedDatabase::create().await.server;
    let name = server.create_database().await;
    PostgresStore::connect(&server.settings(&name)).await.unwrap().close().await;
    PostgresServer::give_to_postgres(folder.path());
    let path = folder.path().display().to_string();
    server.execute("postgres", format!("CREATE TABLESPACE small LOCATION '{path}'")).await;
    server.execute("postgres", format!("ALTER DATABASE {name} SET default_tablespace = small")).await;
    let store = PostgresStore::connect(&server.settings(&name)).await.unwrap();
    fill_the_disk_and_go_on(&store, 200).await;
    store.close().await;
    server.execute("postgres", format!("DROP DATABASE {name} WITH (FORCE)")).await;
    server.execute("postgres", "DROP TABLESPACE small".to_owned()).await;
}

#[tokio::test]
async fn a_partition_that_was_removed_meanwhile_is_made_again() {
    let database = SharedDatabase::create().await;
    let store = database.connect().await;
    commit_results(&store, vec![ok(1, at(0), 5)]).await;
    let remove = "DO $$ BEGIN EXECUTE (SELECT 'DROP TABLE ' || inhrelid::regclass FROM pg_inherits
        WHERE inhparent = 'results'::regclass); END $$";
    database.server.execute(&database.name, remove.to_owned()).await;
    commit_results(&store, vec![ok(1, at(60), 5)]).await;
    let stored: Vec<_> = all(&store).await.into_iter().map(|result| result.planned_at).collect();
    assert_eq!(stored, [at(60)]);
    store.close().await;
    database.remove().await;
}
