//! `vigie serve` killed at random moments while monitors fail and recover all the time: every message that follows
//! from the results is delivered, and none twice at a receiver that honours the idempotency key.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{CheckResult, Outcome};

use crate::endurance::daemon::Daemon;
use crate::endurance::kill::Moments;

/// Each runs once a minute and fails every other minute: five failures and five recoveries a second.
const MONITORS: usize = 300;
/// Each hears of few monitors, so that none gets more in a minute than it may.
const RECIPIENTS: usize = 100;
/// The last messages may take so long: what failed once waits before it is sent again.
const DELIVERED_WITHIN: Duration = Duration::from_mins(4);

/// What somebody is told: kind, monitor, planned time of the run in microseconds.
type News = (String, i64, i64);

#[test]
fn a_server_that_is_killed_delivers_every_message_and_none_twice() {
    let rounds = if crate::endurance::full() { 200 } else { 10 };
    let mut moments = Moments::new();
    println!("seed {}, to be repeated with VIGIE_TEST_SEED", moments.0);
    let (target, hook) = (Target::start(), Hook::start());
    let folder = tempfile::tempdir().unwrap();
    let (monitors, data) = (folder.path().join("monitors"), folder.path().join("data"));
    // Nothing runs before everybody is there who is told.
    write_monitors(&monitors, target.address, false);
    let args = ["--data", data.to_str().unwrap(), "--monitors", monitors.to_str().unwrap()];
    let server = Daemon::start(&args);
    make_recipients(&server, hook.address);
    drop(server);
    write_monitors(&monitors, target.address, true);
    let min = 10 * rounds.min(60);
    let mut round = 0;
    // More rounds when chance made them so short that little was told.
    while round < rounds || hook.count() <= min {
        assert!(round < 10 * rounds, "too little happens: {} messages", hook.count());
        let mut server = Daemon::start(&args);
        // No wait for something to happen: the moment itself is what is tried.
        std::thread::sleep(Duration::from_millis(moments.below(9_000)));
        if round % 2 == 1 {
            // The worst moment: a message was taken, and nobody has heard yet that it was.
            hook.catch_one(Duration::from_secs(9));
        }
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        hook.let_go();
        round += 1;
    }
    let server = Daemon::start(&args);
    target.is_well.store(true, Ordering::Relaxed);
    let started = Instant::now();
    loop {
        let expected = news_of(&results(&server));
        let kept = kept(&data);
        let written: BTreeSet<News> = kept.values().map(|(news, _)| news.clone()).collect();
        let open = kept.values().filter(|(_, state)| ["pending", "held"].contains(&state.as_str())).count();
        let well = all_well(&results(&server));
        if well && open == 0 && expected == written {
            break;
        }
        let lost: Vec<_> = expected.difference(&written).take(5).collect();
        let strange: Vec<_> = written.difference(&expected).take(5).collect();
        assert!(
            started.elapsed() < DELIVERED_WITHIN,
            "well: {well}, open: {open}, not told: {lost:?}, told without a reason: {strange:?}"
        );
        std::thread::sleep(Duration::from_millis(500));
    }
    let kept = kept(&data);
    let taken = hook.taken.lock().unwrap();
    for (key, (news, state)) in &kept {
        assert_eq!(state, "sent", "{key}: {news:?}");
        assert!(taken.contains_key(key), "{news:?} counts as sent, and never came");
    }
    for key in taken.keys() {
        assert!(kept.contains_key(key), "{key} came, and is not known");
    }
    let repeats: usize = taken.values().map(|times| times - 1).sum();
    println!(
        "{round} kills, {} messages, all delivered; {repeats} came again with their key, {} were refused once",
        kept.len(),
        hook.refused.load(Ordering::Relaxed)
    );
    assert!(repeats > 0, "no message was sent again, so nothing shows that its key stays the same");
}

/// The messages that follow from results: each error, and the first good run after errors.
fn news_of(results: &[CheckResult]) -> BTreeSet<News> {
    let mut of: BTreeMap<(i64, i64), Outcome> = BTreeMap::new();
    for result in results {
        of.insert((result.monitor_id.0, result.planned_at.as_micros()), result.outcome);
    }
    let (mut news, mut failing) = (BTreeSet::new(), HashMap::new());
    for ((monitor, at), outcome) in of {
        match outcome {
            Outcome::Error => {
                failing.insert(monitor, true);
                news.insert(("site_error".to_owned(), monitor, at));
            }
            Outcome::Ok | Outcome::Warning if failing.insert(monitor, false) == Some(true) => {
                news.insert(("site_clear".to_owned(), monitor, at));
            }
            _ => {}
        }
    }
    news
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

/// Every message in the database by its key, with its state; read beside the server, as SQLite lets others.
fn kept(data: &Path) -> HashMap<String, (News, String)> {
    const STATES: [&str; 5] = ["pending", "held", "sent", "digested", "dead"];
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = rusqlite::Connection::open_with_flags(data.join("vigie.db"), flags).unwrap();
    let mut rows = database.prepare("SELECT key, state, notice FROM notifications").unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let notice: Value = serde_json::from_str(&row.get::<_, String>(2)?).unwrap();
        let at: vigie::domain::Timestamp = serde_json::from_value(notice["at"].clone()).unwrap();
        let kind = notice["kind"].as_str().unwrap_or_default().to_owned();
        let news = (kind, notice["monitor_id"].as_i64().unwrap_or_default(), at.as_micros());
        Ok((row.get(0)?, (news, STATES[row.get::<_, usize>(1)?].to_owned())))
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

/// Each recipient hears of its share of the monitors, of all errors and their ends.
fn make_recipients(server: &Daemon, hook: SocketAddr) {
    let ids: Vec<i64> =
        server.list("/api/v3/monitors").iter().map(|monitor| monitor["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), MONITORS);
    for (n, share) in ids.chunks(MONITORS.div_ceil(RECIPIENTS)).enumerate() {
        let recipient = json!({"name": format!("r{n}"), "recipient": format!("http://{hook}/{n}"),
            "method_id": 16, "notify_on_clear": true, "stop_threshold": 0});
        let id: i64 = post(server, "/api/v3/recipients", &recipient);
        let monitors: Vec<Value> = share.iter().map(|id| json!({"id": id})).collect();
        let group = json!({"name": format!("g{n}"), "monitors": monitors, "recipients": [{"id": id}]});
        post(server, "/api/v3/notifier-groups", &group);
    }
}

/// Makes a record; prints its id.
fn post(server: &Daemon, path: &str, body: &Value) -> i64 {
    let (body, token) = (body.to_string(), server.token.as_deref().unwrap());
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    let start = answer.find('{').unwrap();
    let end = answer.rfind('}').unwrap();
    let made: Value = serde_json::from_str(&answer[start..=end]).unwrap();
    made["id"].as_str().unwrap().parse().unwrap()
}

/// Pages that fail every other minute, half of them in turn, until all is well.
struct Target {
    address: SocketAddr,
    is_well: Arc<AtomicBool>,
}

impl Target {
    fn start() -> Self {
        let is_well = Arc::new(AtomicBool::new(false));
        let well = Arc::clone(&is_well);
        let address = serve(move |path, _| {
            let minute =
                std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 60;
            let number: u64 = path.trim_start_matches('/').parse().unwrap_or_default();
            if well.load(Ordering::Relaxed) || (number + minute).is_multiple_of(2) { 200 } else { 500 }
        });
        Self { address, is_well }
    }
}

/// A receiver that takes each message once, by its key, and refuses some at first.
struct Hook {
    address: SocketAddr,
    /// How often each message came.
    taken: Arc<Mutex<HashMap<String, usize>>>,
    refused: Arc<AtomicUsize>,
    snare: Arc<Snare>,
}

/// Keeps the answer to a message back until its sender is gone.
#[derive(Default)]
struct Snare {
    state: Mutex<Snared>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Snared {
    #[default]
    Open,
    Set,
    Caught,
}

impl Snare {
    fn change(&self, state: Snared) {
        *self.state.lock().unwrap() = state;
        self.changed.notify_all();
    }

    /// Holds the caller when the snare is set, until it is opened.
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        if *state == Snared::Set {
            *state = Snared::Caught;
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |state| *state == Snared::Caught).unwrap());
        }
    }
}

impl Hook {
    fn start() -> Self {
        let (taken, refused) =
            (Arc::<Mutex<HashMap<String, usize>>>::default(), Arc::<AtomicUsize>::default());
        let snare = Arc::<Snare>::default();
        let (took, turned_away, holds) = (Arc::clone(&taken), Arc::clone(&refused), Arc::clone(&snare));
        let calls = AtomicUsize::new(0);
        let address = serve(move |_, key| {
            let Some(key) = key else { return 400 };
            if calls.fetch_add(1, Ordering::Relaxed) % 10 == 9 {
                turned_away.fetch_add(1, Ordering::Relaxed);
                return 503;
            }
            *took.lock().unwrap().entry(key.to_owned()).or_default() += 1;
            holds.pass();
            200
        });
        Self { address, taken, refused, snare }
    }

    /// Messages that came so far, each once.
    fn count(&self) -> usize {
        self.taken.lock().unwrap().len()
    }

    /// Waits until a message was taken and not answered, at most `patience`: nothing may be due.
    fn catch_one(&self, timeout: Duration) {
        self.snare.change(Snared::Set);
        let state = self.snare.state.lock().unwrap();
        drop(self.snare.changed.wait_timeout_while(state, timeout, |state| *state == Snared::Set).unwrap());
    }

    fn let_go(&self) {
        self.snare.change(Snared::Open);
    }
}

/// A server on loopback: the status for a path and an idempotency key. A thread a connection, one request each.
pub fn serve(answer: impl Fn(&str, Option<&str>) -> u16 + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, answer) = (listener.local_addr().unwrap(), Arc::new(answer));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let answer = Arc::clone(&answer);
            // A client that was killed in between is as good as none.
            std::thread::spawn(move || drop(exchange(stream, answer.as_ref())));
        }
    });
    address
}

fn exchange(stream: TcpStream, answer: &dyn Fn(&str, Option<&str>) -> u16) -> std::io::Result<()> {
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
    // Only a message that came as a whole counts.
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let status = answer(path, key.as_deref());
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} It\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
}
