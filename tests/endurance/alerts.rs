//! `vigie serve` killed at random moments while monitors fail and recover: every notification that follows from the
//! results is delivered, and only once at a receiver that honours the idempotency key.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{CheckResult, Outcome};

use crate::endurance::daemon::Daemon;
use crate::endurance::kill::RandomMoments;
use crate::support::long_tests::full;

/// Each runs once a minute and fails every other minute: five failures and five recoveries a second.
const MONITORS: usize = 300;
/// Each has few monitors, so that none exceeds its notifications per minute.
const RECIPIENTS: usize = 100;
/// Time limit for the last notifications, since a failed delivery waits before its retry.
const DELIVERED_WITHIN: Duration = Duration::from_mins(4);

/// A notification: kind, monitor, planned time of the run in microseconds.
pub type Notice = (String, i64, i64);

#[test]
fn a_killed_server_delivers_every_notification_once() {
    let rounds = if full() { 200 } else { 10 };
    let mut random = RandomMoments::new();
    println!("seed {}, to be repeated with VIGIE_TEST_SEED", random.0);
    let (target, receiver) = (Target::start(), Receiver::start());
    let folder = tempfile::tempdir().unwrap();
    let (monitors, data) = (folder.path().join("monitors"), folder.path().join("data"));
    // No runs start before all recipients exist.
    write_monitors(&monitors, target.address, false);
    let args = ["--data", data.to_str().unwrap(), "--monitors", monitors.to_str().unwrap()];
    let server = Daemon::start(&args);
    make_recipients(&server, receiver.address);
    drop(server);
    write_monitors(&monitors, target.address, true);
    let min = 10 * rounds.min(60);
    let mut round = 0;
    // Continues with more rounds when random moments left too few notifications.
    while round < rounds || receiver.count() <= min {
        assert!(round < 10 * rounds, "too little happens: {} messages", receiver.count());
        let mut server = Daemon::start(&args);
        // The moment is arbitrary on purpose.
        std::thread::sleep(Duration::from_millis(random.below(9_000)));
        if round % 2 == 1 {
            // The worst moment: a notification was accepted, and the server has not received the response yet.
            receiver.hold_one_response(Duration::from_secs(9));
        }
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        receiver.release();
        round += 1;
    }
    let server = Daemon::start(&args);
    target.is_well.store(true, Ordering::Relaxed);
    let started = Instant::now();
    loop {
        let expected = expected_notices(&results(&server));
        let stored_notices = stored_notices(&data);
        let written: BTreeSet<Notice> = stored_notices.values().map(|(notice, _)| notice.clone()).collect();
        let open = stored_notices
            .values()
            .filter(|(_, state)| ["pending", "held"].contains(&state.as_str()))
            .count();
        let all_passed = all_well(&results(&server));
        if all_passed && open == 0 && expected == written {
            break;
        }
        let lost: Vec<_> = expected.difference(&written).take(5).collect();
        let unexpected: Vec<_> = written.difference(&expected).take(5).collect();
        assert!(
            started.elapsed() < DELIVERED_WITHIN,
            "well: {all_passed}, open: {open}, not told: {lost:?}, told without a reason: {unexpected:?}"
        );
        std::thread::sleep(Duration::from_millis(500));
    }
    let stored_notices = stored_notices(&data);
    let received = receiver.received.lock().unwrap();
    for (key, (notice, state)) in &stored_notices {
        assert_eq!(state, "sent", "{key}: {notice:?}");
        assert!(received.contains_key(key), "{notice:?} counts as sent, and never came");
    }
    for key in received.keys() {
        assert!(stored_notices.contains_key(key), "{key} came, and is not known");
    }
    let repeats: usize = received.values().map(|times| times - 1).sum();
    println!(
        "{round} kills, {} messages, all delivered; {repeats} came again with their key, {} were refused once",
        stored_notices.len(),
        receiver.refused.load(Ordering::Relaxed)
    );
    assert!(repeats > 0, "no message was sent again, so nothing shows that its key stays the same");
}

/// Returns the notifications that follow from results: each error, and the first passing run after errors.
pub fn expected_notices(results: &[CheckResult]) -> BTreeSet<Notice> {
    let mut outcomes: BTreeMap<(i64, i64), Outcome> = BTreeMap::new();
    for result in results {
        outcomes.insert((result.monitor_id.0, result.planned_at.as_micros()), result.outcome);
    }
    let (mut notices, mut failing) = (BTreeSet::new(), HashMap::new());
    for ((monitor, at), outcome) in outcomes {
        match outcome {
            Outcome::Error => {
                failing.insert(monitor, true);
                notices.insert(("site_error".to_owned(), monitor, at));
            }
            Outcome::Ok | Outcome::Warning if failing.insert(monitor, false) == Some(true) => {
                notices.insert(("site_clear".to_owned(), monitor, at));
            }
            _ => {}
        }
    }
    notices
}

fn all_well(results: &[CheckResult]) -> bool {
    let mut last: BTreeMap<i64, (i64, Outcome)> = BTreeMap::new();
    for result in results.iter().filter(|result| result.missed.is_none()) {
        let newest = last.entry(result.monitor_id.0).or_insert((i64::MIN, Outcome::Missed));
        *newest = (*newest).max((result.planned_at.as_micros(), result.outcome));
    }
    last.len() == MONITORS && last.values().all(|(_, outcome)| *outcome == Outcome::Ok)
}

fn results(server: &Daemon) -> Vec<CheckResult> {
    let all = server.list("/api/v3/results").into_iter();
    all.map(|result| serde_json::from_value(result).unwrap()).collect()
}

/// Returns every notification in the database by its key, with its state. SQLite permits reads beside the server.
fn stored_notices(data: &Path) -> HashMap<String, (Notice, String)> {
    const STATES: [&str; 5] = ["pending", "held", "sent", "digested", "dead"];
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = rusqlite::Connection::open_with_flags(data.join("vigie.db"), flags).unwrap();
    let mut rows = database.prepare("SELECT key, state, notice FROM notifications").unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let notice: Value = serde_json::from_str(&row.get::<_, String>(2)?).unwrap();
        let at: vigie::domain::Timestamp = serde_json::from_value(notice["at"].clone()).unwrap();
        let kind = notice["kind"].as_str().unwrap_or_default().to_owned();
        let notice_key = (kind, notice["monitor_id"].as_i64().unwrap_or_default(), at.as_micros());
        Ok((row.get(0)?, (notice_key, STATES[row.get::<_, usize>(1)?].to_owned())))
    };
    rows.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

fn write_monitors(folder: &Path, target: SocketAddr, enabled: bool) {
    std::fs::create_dir_all(folder).unwrap();
    let monitor = |n: usize| {
        json!({"key": format!("m{n}"), "name": format!("m{n}"), "type": "website", "billing_plancode": "x",
            "interval": 1, "timeout": 10, "enabled": enabled, "url": format!("http://{target}/{n}")})
    };
    let all: Vec<Value> = (0..MONITORS).map(monitor).collect();
    std::fs::write(folder.join("all.json"), Value::from(all).to_string()).unwrap();
}

/// Creates recipients, each for a share of the monitors, with errors and clears.
fn make_recipients(server: &Daemon, receiver: SocketAddr) {
    let ids: Vec<i64> =
        server.list("/api/v3/monitors").iter().map(|monitor| monitor["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), MONITORS);
    for (n, share) in ids.chunks(MONITORS.div_ceil(RECIPIENTS)).enumerate() {
        let recipient = json!({"name": format!("r{n}"), "recipient": format!("http://{receiver}/{n}"),
            "method_id": 16, "notify_on_clear": true, "stop_threshold": 0});
        let id: i64 = post(server, "/api/v3/recipients", &recipient);
        let monitors: Vec<Value> = share.iter().map(|id| json!({"id": id})).collect();
        let group = json!({"name": format!("g{n}"), "monitors": monitors, "recipients": [{"id": id}]});
        post(server, "/api/v3/notifier-groups", &group);
    }
}

/// Creates a record; returns its id.
fn post(server: &Daemon, path: &str, body: &Value) -> i64 {
    let (body, token) = (body.to_string(), server.token.as_deref().unwrap());
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{path}: {response}");
    let start = response.find('{').unwrap();
    let end = response.rfind('}').unwrap();
    let created: Value = serde_json::from_str(&response[start..=end]).unwrap();
    created["id"].as_str().unwrap().parse().unwrap()
}

/// Pages that fail every other minute, half of them in turn, until `is_well` is set.
struct Target {
    address: SocketAddr,
    is_well: Arc<AtomicBool>,
}

impl Target {
    fn start() -> Self {
        let is_well = Arc::new(AtomicBool::new(false));
        let is_well_flag = Arc::clone(&is_well);
        let address = serve(move |path, _| {
            let minute =
                std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 60;
            let number: u64 = path.trim_start_matches('/').parse().unwrap_or_default();
            if is_well_flag.load(Ordering::Relaxed) || (number + minute).is_multiple_of(2) {
                200
            } else {
                500
            }
        });
        Self { address, is_well }
    }
}

/// A receiver that counts each message by its key and refuses some at first.
struct Receiver {
    address: SocketAddr,
    /// How often each message arrived.
    received: Arc<Mutex<HashMap<String, usize>>>,
    refused: Arc<AtomicUsize>,
    hold: Arc<ResponseHold>,
}

/// Holds back the response to a message until its sender has been killed.
#[derive(Default)]
struct ResponseHold {
    state: Mutex<HoldState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum HoldState {
    #[default]
    Open,
    Armed,
    Holding,
}

impl ResponseHold {
    fn change(&self, state: HoldState) {
        *self.state.lock().unwrap() = state;
        self.changed.notify_all();
    }

    /// Blocks the caller when the hold is armed, until it is opened.
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        if *state == HoldState::Armed {
            *state = HoldState::Holding;
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |state| *state == HoldState::Holding).unwrap());
        }
    }
}

impl Receiver {
    fn start() -> Self {
        let (received, refused) =
            (Arc::<Mutex<HashMap<String, usize>>>::default(), Arc::<AtomicUsize>::default());
        let hold = Arc::<ResponseHold>::default();
        let (received_log, refused_count, response_hold) =
            (Arc::clone(&received), Arc::clone(&refused), Arc::clone(&hold));
        let calls = AtomicUsize::new(0);
        let address = serve(move |_, key| {
            let Some(key) = key else { return 400 };
            if calls.fetch_add(1, Ordering::Relaxed) % 10 == 9 {
                refused_count.fetch_add(1, Ordering::Relaxed);
                return 503;
            }
            *received_log.lock().unwrap().entry(key.to_owned()).or_default() += 1;
            response_hold.pass();
            200
        });
        Self { address, received, refused, hold }
    }

    /// Returns the number of distinct messages so far.
    fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }

    /// Waits until a message was received and its response is held, at most `timeout`: no delivery may be due.
    fn hold_one_response(&self, timeout: Duration) {
        self.hold.change(HoldState::Armed);
        let state = self.hold.state.lock().unwrap();
        drop(
            self.hold.changed.wait_timeout_while(state, timeout, |state| *state == HoldState::Armed).unwrap(),
        );
    }

    fn release(&self) {
        self.hold.change(HoldState::Open);
    }
}

/// Starts a server on loopback that returns a status by path and idempotency key, with one thread and one request per
/// connection.
pub fn serve(handler: impl Fn(&str, Option<&str>) -> u16 + Send + Sync + 'static) -> SocketAddr {
    serve_at("127.0.0.1", move |path, key, _| handler(path, key))
}

/// Like [`serve`], at this address; the handler gets that of the client too.
pub fn serve_at(
    address: &str,
    handler: impl Fn(&str, Option<&str>, IpAddr) -> u16 + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let (address, handler) = (listener.local_addr().unwrap(), Arc::new(handler));
    std::thread::spawn(move || {
        while let Ok((stream, peer)) = listener.accept() {
            let handler = Arc::clone(&handler);
            let handle = move |path: &str, key: Option<&str>| handler(path, key, peer.ip());
            // Errors of clients that were killed meanwhile are ignored.
            std::thread::spawn(move || drop(exchange(stream, &handle)));
        }
    });
    address
}

fn exchange(stream: TcpStream, handler: &dyn Fn(&str, Option<&str>) -> u16) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut key) = (0, None);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or_default(),
            "idempotency-key" => key = Some(value.trim_matches('"').to_owned()),
            _ => {}
        }
    }
    // Only complete messages count.
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let status = handler(path, key.as_deref());
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} It\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
}
