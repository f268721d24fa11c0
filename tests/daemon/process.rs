//! The built binary from outside.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use vigie::domain::{Outcome, Status};
use vigie::store::{Pagination, ResultFilter, ResultStore, SqliteSettings, SqliteStore};
use vigie::telemetry::LOG_FIELDS;

const TIMEOUT: Duration = Duration::from_secs(40);

/// A running `vigie serve` with its own folders and JSON logs.
pub struct Daemon {
    child: Child,
    lines: Receiver<String>,
    log: Vec<Value>,
    pub address: SocketAddr,
    pub folder: tempfile::TempDir,
}

/// Joins the chunks of `body` (RFC 9112, section 7.1).
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return whole;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap();
    }
}

/// A response of the server.
pub struct Response {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Response {
    /// Returns the values of the header `name`, which is in lower case.
    pub fn headers(&self, name: &str) -> Vec<String> {
        let fields = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        fields.filter(|(found, _)| *found == name).map(|(_, value)| value.to_owned()).collect()
    }
}

/// Sends a request to `address` with `headers`, `Host` among them, each with its line break.
fn send_raw(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> std::io::Result<Response> {
    let mut stream = TcpStream::connect(address)?;
    let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all((head + body).as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").ok_or(std::io::ErrorKind::UnexpectedEof)?;
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_owned() };
    Ok(Response { status: head[9..12].parse().unwrap(), head: head.to_owned(), body })
}

/// Sends `GET path` to `address`; `None` when nobody answers there.
pub fn http_get(address: SocketAddr, path: &str) -> Option<Response> {
    send_raw(address, "GET", path, "Host: localhost\r\n", "").ok()
}

pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command
        .arg("serve")
        .args(["--listen", "127.0.0.1:0"])
        .arg("--data")
        .arg(folder.join("data"))
        .arg("--monitors")
        .arg(folder.join("monitors"))
        .env("VIGIE_LOG_FORMAT", "json")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Creates a folder with one monitor file.
pub fn folder(monitors: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("monitors")).unwrap();
    fs::write(folder.path().join("monitors/all.yaml"), monitors).unwrap();
    folder
}

pub fn tcp_monitor(key: &str, port: u16) -> String {
    format!(
        "- {{key: {key}, type: tcp, name: {key}, billing_plancode: x, hostname: 127.0.0.1, port: {port}, interval: 1, timeout: 30}}\n"
    )
}

impl Daemon {
    pub fn start(monitors: &str) -> Self {
        let folder = folder(monitors);
        let child = command(folder.path()).spawn().unwrap();
        Self::from_child(child, folder)
    }

    pub fn from_child(child: Child, folder: tempfile::TempDir) -> Self {
        let mut daemon = Self::starting(child, folder);
        daemon.wait_until_serving();
        daemon
    }

    /// Returns a server that may not serve yet.
    pub fn starting(mut child: Child, folder: tempfile::TempDir) -> Self {
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let address = "127.0.0.1:0".parse().unwrap();
        Self { child, lines, log: vec![], address, folder }
    }

    pub fn wait_until_serving(&mut self) {
        let serving = self.wait_for_log("serving at");
        self.address = serving["address"].as_str().unwrap().parse().unwrap();
    }

    /// Ends the server and starts it again over the same folders. The log begins anew.
    pub fn restart(&mut self) {
        self.signal(Signal::SIGTERM);
        self.wait_for_exit();
        self.start_again();
    }

    /// Starts a server that has ended again, over the same folders. The log begins anew.
    pub fn start_again(&mut self) {
        self.start_again_with(|_| {});
    }

    /// Like [`Self::start_again`], with a changed command.
    pub fn start_again_with(&mut self, change: impl FnOnce(&mut Command)) {
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        let mut command = command(folder.path());
        change(&mut command);
        *self = Self::from_child(command.spawn().unwrap(), folder);
    }

    /// Waits for the next log line whose message contains `part`.
    pub fn wait_for_log(&mut self, part: &str) -> Value {
        let until = Instant::now() + TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else { panic!("no `{part}` in {:#?}", self.log) };
            let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            self.log.push(line.clone());
            if line["message"].as_str().is_some_and(|message| message.contains(part)) {
                return line;
            }
        }
    }

    /// Returns the token of the host from its file.
    pub fn token(&self) -> String {
        let text = fs::read_to_string(self.folder.path().join("data/host-token")).unwrap();
        text.lines().next().unwrap().to_owned()
    }

    /// Sends `GET path` with the token of the host.
    fn get(&self, path: &str) -> (u16, String) {
        self.get_with_headers(path, &format!("Authorization: Bearer {}\r\n", self.token()))
    }

    /// Sends `GET path` with `headers`, each with its line break.
    pub fn get_with_headers(&self, path: &str, headers: &str) -> (u16, String) {
        self.send("GET", path, headers, "")
    }

    /// Calls the API with the token of the host.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.call_with_token(&self.token(), method, path, body)
    }

    /// Like [`Self::call`], in `account`.
    pub fn call_in(&self, account: i64, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.call_with_token(&format!("{}~{account}", self.token()), method, path, body)
    }

    pub fn call_with_token(&self, token: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = format!(
            "Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
        let (status, response) = self.send(method, &format!("/api/v3{path}"), &headers, &body);
        (status, serde_json::from_str(&response).unwrap_or(Value::Null))
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let response = self.send_raw(method, path, &format!("Host: localhost\r\n{headers}"), body);
        (response.status, response.body)
    }

    /// Sends a request with `headers`, `Host` among them, each with its line break.
    pub fn send_raw(&self, method: &str, path: &str, headers: &str, body: &str) -> Response {
        send_raw(self.address, method, path, headers, body).unwrap()
    }

    /// Returns all log lines so far.
    pub fn log_text(&mut self) -> String {
        self.log.extend(
            self.lines.try_iter().map(|line| serde_json::from_str(&line).unwrap_or(Value::String(line))),
        );
        self.log.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
    }

    fn metric(&self, series: &str) -> f64 {
        let (_, text) = self.get("/metrics");
        let line = text.lines().find(|line| line.split(' ').next() == Some(series));
        line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    fn write(&self, text: &str) {
        fs::write(self.monitors(), text).unwrap();
    }

    fn monitors(&self) -> PathBuf {
        self.folder.path().join("monitors/all.yaml")
    }

    pub fn wait_for_exit(&mut self) -> ExitStatus {
        wait_for_exit(&mut self.child)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_for_exit(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < until, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs `command` until it exits; returns its exit code and its standard error.
fn run_to_exit(mut command: Command) -> (i32, String) {
    let mut child = command.spawn().unwrap();
    let code = wait_for_exit(&mut child).code().unwrap();
    let mut reply = String::new();
    child.stderr.take().unwrap().read_to_string(&mut reply).unwrap();
    (code, reply)
}

#[test]
fn it_serves_exits_cleanly_on_sigterm_and_logs_known_fields() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut daemon = Daemon::start(&tcp_monitor("a", listener.local_addr().unwrap().port()));
    let (status, ready) = daemon.get("/readyz");
    assert_eq!(status, 200, "{ready}");
    assert_eq!(daemon.get("/healthz").0, 200);
    let (status, page) = daemon.get("/");
    assert!(status == 200 && page.contains("waiting") | page.contains(">ok<"), "{page}");
    assert!(
        daemon.get("/api/v3/monitors").1.contains(r#""key"#)
            | daemon.get("/api/v3/monitors").1.contains(r#""name":"a""#)
    );
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("no result was lost");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
    let known = |name: &String| {
        ["timestamp", "level", "target", "message", "span"].contains(&name.as_str())
            || LOG_FIELDS.iter().any(|(field, _)| field == name)
    };
    for line in &daemon.log {
        assert!(line.as_object().unwrap().keys().all(known), "{line}");
    }
}

#[test]
fn a_reload_applies_changes_and_refuses_invalid_files() {
    let mut daemon = Daemon::start(&tcp_monitor("a", 9));
    assert!((daemon.metric("vigie_config_last_reload_taken") - 1.0).abs() < 0.1);
    // By SIGHUP.
    daemon.write(&[tcp_monitor("a", 9), tcp_monitor("b", 9)].concat());
    daemon.signal(Signal::SIGHUP);
    let line = daemon.wait_for_log("reloaded");
    assert_eq!((&line["added"], &line["changed"], &line["unchanged"]), (&1.into(), &0.into(), &1.into()));
    // By the watch of the files; first an invalid file.
    daemon.write("- {key: a, type: tcp, name: a, intervall: 7}\n");
    let line = daemon.wait_for_log("reload failed");
    let error = line["error"].as_str().unwrap();
    let at = format!("{}:1:", daemon.monitors().display());
    assert!(error.contains(&at) && error.contains("`interval`"), "{error}");
    assert!(daemon.metric("vigie_config_last_reload_taken") < 0.1);
    assert!(daemon.get("/api/v3/monitors").1.contains(r#""name":"b""#), "the running set stays");
    assert_eq!(daemon.get("/readyz").0, 200);
    // A valid file again, renamed into position as editors do.
    let beside = daemon.folder.path().join("monitors/.all.tmp");
    fs::write(&beside, tcp_monitor("b", 10)).unwrap();
    fs::rename(&beside, daemon.monitors()).unwrap();
    let line = daemon.wait_for_log("reloaded");
    assert_eq!((&line["removed"], &line["changed"]), (&1.into(), &1.into()));
    assert!(!daemon.get("/api/v3/monitors").1.contains(r#""name":"a""#));
    assert!((daemon.metric(r#"vigie_config_reloads_total{outcome="refused"}"#) - 1.0).abs() < 0.1);
}

/// Returns website monitors, spread over the minute, whose target accepts connections and sends nothing.
fn stalling_monitors(timeout: u32) -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let monitor = |n: usize| {
        format!(
            "- {{key: k{n}, type: website, name: k{n}, billing_plancode: x, url: '{url}', interval: 1, timeout: {timeout}, retry_on_failure: false}}\n"
        )
    };
    (listener, (0..60).map(monitor).collect())
}

fn wait_for_a_running_check(daemon: &Daemon) {
    let until = Instant::now() + TIMEOUT;
    while daemon.metric(r#"vigie_checks_in_flight{weight="light"}"#) < 1.0 {
        assert!(Instant::now() < until, "no check starts");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn sigterm_waits_for_running_checks_and_stores_their_results() {
    let (_target, monitors) = stalling_monitors(4);
    let mut daemon = Daemon::start(&monitors);
    wait_for_a_running_check(&daemon);
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("no result was lost");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
    let database = daemon.folder.path().join("data/vigie.db");
    let store = SqliteStore::open(&database, &SqliteSettings::default()).unwrap();
    let page = Pagination { limit: 100, offset: 0 };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let found = runtime.block_on(store.results(ResultFilter::default(), page)).unwrap();
    assert!(found.total > 0);
    for result in found.results {
        assert_eq!((result.outcome, result.status), (Outcome::Error, Status::TIMED_OUT), "{result:?}");
    }
}

#[test]
fn a_second_signal_exits_at_once() {
    let (_target, monitors) = stalling_monitors(30);
    let mut daemon = Daemon::start(&monitors);
    wait_for_a_running_check(&daemon);
    daemon.signal(Signal::SIGTERM);
    daemon.wait_for_log("shutting down");
    let started = Instant::now();
    while daemon.child.try_wait().unwrap().is_none() {
        daemon.signal(Signal::SIGTERM);
        assert!(started.elapsed() < Duration::from_secs(10), "it drains on");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(daemon.wait_for_exit().code(), Some(130));
}

#[test]
fn a_failed_start_reports_its_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let home = folder(&tcp_monitor("a", 9));
    let mut port_in_use = command(home.path());
    port_in_use.env("VIGIE_LISTEN", "x").args(["--listen", "127.0.0.1:1"]);
    let (code, reply) = run_to_exit(port_in_use);
    assert!(code == 2 && reply.contains("--listen"), "a flag twice: {code} {reply}");
    let serve = |listen: String, data: &Path, monitors: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
        command.args(["serve", "--listen", &listen]).arg("--data").arg(data).arg("--monitors").arg(monitors);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        run_to_exit(command)
    };
    let (monitors, data) = (home.path().join("monitors"), home.path().join("data"));
    let free = || "127.0.0.1:0".to_owned();
    let (code, reply) = serve(format!("127.0.0.1:{port}"), &data, &monitors);
    assert!(code == 1 && reply.contains(&format!("cannot listen on `127.0.0.1:{port}`")), "{reply}");
    assert!(reply.contains("hint: choose another port"), "{reply}");
    let (code, reply) = serve(free(), &data, Path::new("/nonexistent/monitors"));
    assert!(code == 1 && reply.contains("/nonexistent/monitors: cannot be read"), "{reply}");
    fs::write(monitors.join("b.yaml"), tcp_monitor("a", 9)).unwrap();
    let (code, reply) = serve(free(), &data, &monitors);
    assert!(code == 1 && reply.contains("`key` `a` is already in use by"), "{reply}");
    fs::remove_file(monitors.join("b.yaml")).unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let (code, reply) = serve(free(), &file, &monitors);
    assert!(code == 1 && reply.contains("cannot open the database"), "{reply}");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("vigie.db"), "this is no database, and it is long enough to be looked at").unwrap();
    let (code, reply) = serve(free(), &data, &monitors);
    assert!(code == 1 && reply.contains("cannot open the database"), "{reply}");
}

#[test]
fn a_second_process_on_the_same_data_is_refused() {
    let daemon = Daemon::start(&tcp_monitor("a", 9));
    let (code, reply) = run_to_exit(command(daemon.folder.path()));
    assert!(code == 1 && reply.contains("locked by another process"), "{reply}");
}

#[test]
fn systemd_is_notified_and_its_watchdog_fed() {
    let folder = folder(&tcp_monitor("a", 9));
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut command = command(folder.path());
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "600000");
    let mut daemon = Daemon::from_child(command.spawn().unwrap(), folder);
    let wait = |part: &str| {
        let (until, mut text, mut buffer) = (Instant::now() + TIMEOUT, String::new(), [0; 512]);
        while !text.contains(part) {
            assert!(Instant::now() < until, "no {part} in {text}");
            let length = socket.recv(&mut buffer).unwrap();
            text.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    };
    wait("READY=1");
    wait("WATCHDOG=1");
    daemon.signal(Signal::SIGHUP);
    wait("RELOADING=1");
    wait("READY=1");
    daemon.signal(Signal::SIGTERM);
    wait("STOPPING=1");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
}
