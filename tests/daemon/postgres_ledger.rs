//! The ledger over PostgreSQL: the server, its database, or both are killed at moments of chance. Every planned run is
//! one stored result or a missed one, and every notification that follows from the results is there once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use vigie::domain::{CheckTrigger, MonitorId, Notification, NotificationState, Timestamp};
use vigie::store::{NotificationFilter, Outbox, Pagination, PostgresStore, Store};

use super::ledger::{Ledger, MONITORS, RUN_TIME_AFTER_RESTART, Record, all_results, monitor_ids, now};
use super::process::{Daemon, command, folder};
use crate::endurance::alerts::{Notice, expected_notices, serve};
use crate::endurance::kill::RandomMoments;
use crate::support::long_tests::full;
use crate::support::postgres::PostgresServer;

/// The first of the monitors fail every other minute. There are few, so that no recipient gets too much in a minute.
const FLAPPING_MONITORS: usize = 24;
const MONITORS_PER_RECIPIENT: usize = 4;
/// A round in which all is away for longer than an interval, so that runs are missed.
const ROUND_OF_LONG_OUTAGE: u64 = 50;
const LONG_OUTAGE: Duration = Duration::from_secs(70);
/// Time within which an outage of the database is reported.
const REPORTED_WITHIN: Duration = Duration::from_secs(30);

/// Minute, location, outcome, number that is counted, number of rows.
type DifferingCount = (i64, i64, i64, Option<i64>, Option<i64>);

/// What a round kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Victim {
    Server,
    Database,
    Both,
}

#[test]
fn every_planned_run_is_one_result_or_missed_when_server_and_database_are_killed() {
    let (rounds, longest_pause_ms, longest_outage_ms) =
        if full() { (100_u64, 4_000, 3_000) } else { (3, 2_000, 1_500) };
    let mut random = RandomMoments::new();
    println!("seed {}, to be repeated with VIGIE_TEST_SEED", random.0);
    let started_at = Instant::now();
    let mut scene = Scene::start();
    let mut kills: HashMap<Victim, usize> = HashMap::new();
    let first = random.below(3);
    for round in 0..rounds {
        // One of each kind even in few rounds.
        let kind = if round < 3 { first + round } else { random.below(3) };
        let victim = match kind % 3 {
            0 => Victim::Server,
            1 => Victim::Database,
            _ => Victim::Both,
        };
        // The moment is arbitrary on purpose.
        std::thread::sleep(Duration::from_millis(random.below(longest_pause_ms)));
        let is_long = round + 1 == ROUND_OF_LONG_OUTAGE;
        let victim = if is_long { Victim::Both } else { victim };
        *kills.entry(victim).or_default() += 1;
        let outage =
            if is_long { LONG_OUTAGE } else { Duration::from_millis(random.below(longest_outage_ms)) };
        scene.play(victim, outage, random.below(300));
    }
    scene.settle();
    let report = scene.stop_and_examine();
    println!("{kills:?} in {:.0?}: {report}", started_at.elapsed());
}

#[test]
fn a_long_outage_of_the_database_is_reported_and_the_spool_keeps_its_results() {
    let mut scene = Scene::start();
    std::thread::sleep(Duration::from_secs(2));
    scene.database.kill();
    let started = Instant::now();
    while scene.server.get_with_headers("/readyz", "").0 == 200 {
        assert!(started.elapsed() < REPORTED_WITHIN, "still ready");
        std::thread::sleep(Duration::from_millis(100));
    }
    let (_, reason) = scene.server.get_with_headers("/readyz", "");
    assert!(reason.contains("check that the server runs"), "{reason}");
    assert_eq!(scene.server.get_with_headers("/healthz", "").0, 200, "a restart would not help");
    // Results that the database did not get.
    std::thread::sleep(Duration::from_secs(3));
    scene.server.signal(Signal::SIGTERM);
    let status = scene.server.wait_for_exit();
    let log = scene.server.log_text();
    assert!(status.success() && log.contains("the rest is in the spool"), "{status}: {log}");
    scene.start_server();
    scene.server.wait_for_log("the database is not available yet");
    scene.database.restart();
    scene.server.wait_until_serving();
    let log = scene.server.log_text();
    assert!(log.contains("stored the results of an earlier process"), "{log}");
    scene.settled_until = now();
    scene.settle();
    let report = scene.stop_and_examine();
    println!("{report}");
}

/// A server with its database, target and receiver of notifications.
struct Scene {
    server: Daemon,
    database: PostgresServer,
    name: String,
    ids: Vec<MonitorId>,
    from: Timestamp,
    /// Until when all runs are to be accounted for: the last start.
    settled_until: Timestamp,
    /// Idempotency keys of the messages that arrived.
    received: Arc<Mutex<HashSet<String>>>,
    runtime: tokio::runtime::Runtime,
}

impl Scene {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // Waits for its disk, as servers do.
        let database = PostgresServer::start_with(&[]);
        let name = runtime.block_on(database.create_database());
        let received: Arc<Mutex<HashSet<String>>> = Arc::default();
        // No runs start before all recipients exist.
        let (disabled, enabled) = monitors();
        let folder = folder(&disabled);
        let file = folder.path().join("monitors/all.yaml");
        let child = serve_command(&folder, &database.url(&name)).spawn().unwrap();
        let mut server = Daemon::from_child(child, folder);
        let ids = monitor_ids(&server);
        create_recipients(&server, start_receiver(Arc::clone(&received)));
        std::fs::write(file, enabled).unwrap();
        server.signal(Signal::SIGHUP);
        server.wait_for_log("reloaded");
        let from = now();
        Self { server, database, name, ids, from, settled_until: from, received, runtime }
    }

    /// Starts the server, which may not serve yet.
    fn start_server(&mut self) {
        let folder = std::mem::replace(&mut self.server.folder, tempfile::tempdir().unwrap());
        let child = serve_command(&folder, &self.database.url(&self.name)).spawn().unwrap();
        self.server = Daemon::starting(child, folder);
    }

    /// Kills `victim`; what is killed runs again after `outage`, of both first one and then, `gap_ms` later, the other.
    fn play(&mut self, victim: Victim, outage: Duration, gap_ms: u64) {
        let gap = Duration::from_millis(gap_ms);
        let is_server_first = gap_ms.is_multiple_of(2);
        if victim == Victim::Database {
            self.database.kill();
            std::thread::sleep(outage);
            self.database.restart();
            return;
        }
        let kill_server = |scene: &mut Self| {
            scene.server.signal(Signal::SIGKILL);
            scene.server.wait_for_exit();
        };
        if victim == Victim::Server {
            kill_server(self);
            std::thread::sleep(gap);
            self.start_server();
        } else {
            if is_server_first {
                kill_server(self);
            }
            self.database.kill();
            if !is_server_first {
                std::thread::sleep(gap);
                kill_server(self);
            }
            std::thread::sleep(outage);
            if is_server_first {
                // It waits for its database.
                self.start_server();
                std::thread::sleep(gap);
                self.database.restart();
            } else {
                // It may meet a database that recovers.
                self.database.begin_restart();
                self.start_server();
                self.database.wait_until_ready();
            }
        }
        self.server.wait_until_serving();
        self.settled_until = now();
    }

    /// Waits until every run that was due before the last start has its record.
    fn settle(&mut self) {
        let deadline = Instant::now() + RUN_TIME_AFTER_RESTART;
        while Instant::now() < deadline {
            let open = self.runtime.block_on(async {
                let rows: Vec<(i64, i64, i64, bool)> = sqlx::query_as(
                    "SELECT monitor_id, planned_at, coalesce(missed_run_count, 1), missed_run_count IS NOT NULL FROM results",
                )
                .fetch_all(&mut PgConnection::connect(&self.database.url(&self.name)).await.unwrap())
                .await
                .unwrap();
                let records = rows.into_iter().map(|(monitor, planned_at, run_count, is_missed)| Record {
                    monitor_id: MonitorId(monitor),
                    planned_at: Timestamp::from_micros(planned_at),
                    run_count: run_count.try_into().unwrap(),
                    is_missed,
                });
                Ledger::new(records, &self.ids, self.from, self.settled_until).wrong.len()
            });
            if open == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Stops the server, and examines what it stored.
    fn stop_and_examine(mut self) -> String {
        self.server.signal(Signal::SIGTERM);
        let status = self.server.wait_for_exit();
        assert!(status.success(), "ended with {status}: {}", self.server.log_text());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.examine())
    }

    async fn examine(&self) -> String {
        let store = PostgresStore::connect(&self.database.settings(&self.name)).await.unwrap();
        let results = all_results(&store).await;
        let ledger = Ledger::new(results.iter().map(Record::from), &self.ids, self.from, self.settled_until);
        let Ledger { planned, stored, missed, wrong } = ledger;
        assert!(
            wrong.is_empty() && stored > 0,
            "{planned} planned, {stored} stored, {missed} missed: {wrong:#?}"
        );
        let mut checked_first = HashSet::new();
        for result in results.iter().filter(|result| result.trigger == CheckTrigger::First) {
            assert!(checked_first.insert(result.monitor_id), "checked first twice: {result:?}");
        }
        let notifications =
            store.notifications(NotificationFilter::default(), Pagination::ALL).await.unwrap().items;
        let sent = self.examine_notifications(&notifications, &expected_notices(&results));
        store.close().await;
        assert_eq!(differing_counts(&self.database.url(&self.name)).await, [] as [&str; 0]);
        format!("{planned} planned = {stored} stored + {missed} missed, {sent} notifications")
    }

    /// Asserts that each notification is there once, and that none is missing; returns their number.
    fn examine_notifications(&self, notifications: &[Notification], expected: &BTreeSet<Notice>) -> usize {
        let (mut notices, mut keys) = (BTreeSet::new(), HashSet::new());
        for notification in notifications {
            let content = &notification.message.content;
            let monitor_id = content.monitor_id.map_or(0, |id| id.0);
            let notice = (content.kind.name().to_owned(), monitor_id, content.occurred_at.as_micros());
            assert!(notices.insert(notice), "there twice: {notification:?}");
            let key = notification.message.idempotency_key.as_str();
            assert!(keys.insert(key), "its key is there twice: {notification:?}");
            assert_ne!(notification.state, NotificationState::Dead, "{notification:?}");
        }
        let difference: Vec<_> = expected.symmetric_difference(&notices).collect();
        assert!(difference.is_empty(), "missing or unexpected notifications: {difference:#?}");
        for key in self.received.lock().unwrap().iter() {
            assert!(keys.contains(key.as_str()), "{key} arrived and is not stored");
        }
        notices.len()
    }
}

/// Returns the minutes whose counted results are not those of the rows, and the numbers of checks when these differ.
pub async fn differing_counts(url: &str) -> Vec<String> {
    let mut conn = PgConnection::connect(url).await.unwrap();
    let differing: Vec<DifferingCount> = sqlx::query_as(
        "WITH counts AS (SELECT minute, location_id, outcome::bigint, sum(row_count)::bigint AS n
             FROM result_counts GROUP BY 1, 2, 3),
         rows AS (SELECT planned_at / 60000000 * 60000000 AS minute, location_id, outcome::bigint, count(*) AS n
             FROM results GROUP BY 1, 2, 3)
         SELECT minute, location_id, outcome, c.n, r.n
         FROM counts AS c FULL JOIN rows AS r USING (minute, location_id, outcome)
         WHERE c.n IS DISTINCT FROM r.n",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    let (checks, rows): (i64, i64) = sqlx::query_as(
        "SELECT coalesce((SELECT sum(checks) FROM usage), 0)::bigint,
             (SELECT count(*) FROM results WHERE missed_run_count IS NULL AND NOT is_first_check)",
    )
    .fetch_one(&mut conn)
    .await
    .unwrap();
    let mut texts: Vec<_> = differing.iter().map(|count| format!("{count:?}")).collect();
    if checks != rows {
        texts.push(format!("{checks} checks are counted as used, and {rows} are stored"));
    }
    texts
}

fn serve_command(folder: &tempfile::TempDir, url: &str) -> Command {
    let mut command = command(folder.path());
    command.env("VIGIE_STORE_URL", url);
    command
}

/// Returns the monitors, disabled and enabled.
fn monitors() -> (String, String) {
    // Their threads live until the process ends.
    let page = serve(|path, _| {
        let number: i64 = path.trim_start_matches('/').parse().unwrap_or_default();
        let minute = now().as_micros() / 60_000_000;
        if (number + minute) % 2 == 0 { 200 } else { 500 }
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let monitor = |n, is_enabled| {
        let own = if n < FLAPPING_MONITORS {
            format!("type: website, url: 'http://{page}/{n}'")
        } else {
            format!("type: tcp, hostname: 127.0.0.1, port: {port}")
        };
        format!(
            "- {{key: m{n}, name: m{n}, billing_plancode: x, {own}, interval: 1, retry_on_failure: false, \
             enabled: {is_enabled}}}\n"
        )
    };
    let all = |is_enabled| (0..MONITORS).map(|n| monitor(n, is_enabled)).collect();
    (all(false), all(true))
}

/// Starts a receiver that notes the idempotency keys of messages.
fn start_receiver(received: Arc<Mutex<HashSet<String>>>) -> SocketAddr {
    serve(move |_, key| {
        received.lock().unwrap().extend(key.map(str::to_owned));
        200
    })
}

/// Creates recipients for the failing monitors, each for a few of them, with errors and clears.
fn create_recipients(server: &Daemon, receiver: SocketAddr) {
    let (_, list) = server.call("GET", "/monitors?limit=1000", &Value::Null);
    let is_flapping = |monitor: &&Value| monitor["type"] == "website";
    let ids: Vec<i64> = list["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_flapping)
        .map(|monitor| monitor["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids.len(), FLAPPING_MONITORS, "{list}");
    for (n, share) in ids.chunks(MONITORS_PER_RECIPIENT).enumerate() {
        let recipient = json!({"name": format!("r{n}"), "recipient": format!("http://{receiver}/{n}"),
            "method_id": 16, "notify_on_clear": true, "stop_threshold": 0});
        let (status, created) = server.call("POST", "/recipients", &recipient);
        assert_eq!(status, 200, "{created}");
        let id: i64 = created["id"].as_str().unwrap().parse().unwrap();
        let monitors: Vec<Value> = share.iter().map(|id| json!({"id": id})).collect();
        let group = json!({"name": format!("g{n}"), "monitors": monitors, "recipients": [{"id": id}]});
        let (status, created) = server.call("POST", "/notifier-groups", &group);
        assert_eq!(status, 200, "{created}");
    }
}
