//! Version 3 of a real server over loopback: monitors created over 16 connections, pages of 100 from all over the list,
//! and the whole list in one response, with the memory of the server before and after; then the metrics of all monitors.
//! The server plans and runs the created monitors meanwhile.
//!
//! `cargo bench --bench api` creates 100,000 monitors; `-- --quick` 5,000; `-- --monitors N` sets the number.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

/// Connections that create in parallel.
const CONNECTIONS: u64 = 16;
/// Entries of a page.
const PAGE: u64 = 100;
/// Pages that are read, from all over the list.
const PAGES: u64 = 500;
/// Longest wait for results of all monitors.
const RESULTS_TIMEOUT: Duration = Duration::from_mins(5);
/// Longest accepted start.
const START_TIMEOUT: Duration = Duration::from_mins(1);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(monitors()));
}

/// Returns the number of monitors from the command line.
fn monitors() -> u64 {
    let mut args = std::env::args().skip(1);
    let mut monitors = 100_000;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => monitors = 5_000,
            "--monitors" => monitors = args.next().and_then(|n| n.parse().ok()).expect("--monitors N"),
            _ => {}
        }
    }
    monitors
}

async fn run(monitors: u64) {
    let target = target().await;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let token = std::fs::read_to_string(folder.path().join("host-token")).unwrap();
    let token = Arc::from(token.lines().next().expect("a token"));
    let client = Client { address: server.address, token };

    let rss = server.rss();
    let started = Instant::now();
    let next = Arc::new(AtomicU64::new(0));
    let creators: Vec<_> = (0..CONNECTIONS)
        .map(|_| tokio::spawn(create(client.clone(), Arc::clone(&next), monitors, target.port())))
        .collect();
    let mut longest = Duration::ZERO;
    for creator in creators {
        longest = longest.max(creator.await.unwrap());
    }
    let elapsed = started.elapsed();
    println!(
        "create   {monitors} monitors over {CONNECTIONS} connections: {:.0} a second for {:.1} s, longest {:.1} ms; \
         RSS {} to {} MB",
        monitors as f64 / elapsed.as_secs_f64(),
        elapsed.as_secs_f64(),
        millis(longest),
        rss >> 20,
        server.rss() >> 20,
    );

    let mut times = Vec::new();
    let mut connection = client.connect().await;
    for page in 0..PAGES {
        let offset = (monitors - PAGE) * page / PAGES.saturating_sub(1).max(1);
        let started = Instant::now();
        let path = format!("/api/v3/monitors?limit={PAGE}&offset={offset}");
        let page_json = client.get(&mut connection, &path).await;
        times.push(started.elapsed());
        let page_json: Value = serde_json::from_slice(&page_json).unwrap();
        assert_eq!(page_json["results"].as_array().map(Vec::len), Some(100), "{path}");
        assert_eq!(page_json["metadata"]["resultset"]["count"], monitors, "{path}");
    }
    times.sort_unstable();
    let at = |part: usize| millis(times[(times.len() - 1) * part / 100]);
    println!(
        "page     {PAGES} pages of {PAGE}: p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        at(50),
        at(99),
        at(100)
    );

    let before = server.rss();
    let started = Instant::now();
    let (bytes, peak) = client.stream(&mut connection, "/api/v3/monitors", "identity", || server.rss()).await;
    println!(
        "list     {monitors} monitors in one answer: {} MB in {:.1} s; RSS {} MB before, {} MB at most",
        bytes >> 20,
        started.elapsed().as_secs_f64(),
        before >> 20,
        peak.max(before) >> 20,
    );

    // Those that were created first have several by then.
    client.wait_for_results(&mut connection, 2 * monitors).await;
    // The first page is the first one that shows states, too; the others read those that have changed.
    for (page, encoding) in [("first", "identity"), ("again", "identity"), ("gzip", "gzip"), ("gzip", "gzip")]
    {
        let before = server.rss();
        let started = Instant::now();
        let (bytes, peak) =
            client.stream(&mut connection, "/metrics/monitors", encoding, || server.rss()).await;
        println!(
            "metrics  of {monitors} monitors, {page}: {:.1} MB in {:.2} s; RSS {} MB before, {} MB at most",
            bytes as f64 / 1e6,
            started.elapsed().as_secs_f64(),
            before >> 20,
            peak.max(before) >> 20,
        );
    }
}

/// Creates until there are `monitors`; returns the duration of the longest call.
async fn create(client: Client, next: Arc<AtomicU64>, monitors: u64, port: u16) -> Duration {
    let mut connection = client.connect().await;
    let mut longest = Duration::ZERO;
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        if n >= monitors {
            return longest;
        }
        let body = json!({
            "billing_plancode": "bench", "name": format!("Shop front {n}"), "interval": 2,
            "hostname": "127.0.0.1", "port": port, "note": "made by the bench",
        });
        let started = Instant::now();
        let (status, response) =
            client.send(&mut connection, "POST", "/api/v3/monitors/tcp", Some(&body)).await;
        longest = longest.max(started.elapsed());
        assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&response));
    }
}

/// Starts a listener that accepts connections and closes them.
async fn target() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    address
}

#[derive(Clone)]
struct Client {
    address: SocketAddr,
    token: Arc<str>,
}

type Connection = SendRequest<Full<Bytes>>;

impl Client {
    async fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (requests, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        requests
    }

    async fn start_request(
        &self,
        connection: &mut Connection,
        method: &str,
        path: &str,
        encoding: &str,
        body: Option<&Value>,
    ) -> http::Response<hyper::body::Incoming> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept-encoding", encoding)
            .header("content-type", "application/json");
        let body = body.map(Value::to_string).unwrap_or_default();
        connection.ready().await.unwrap();
        connection.send_request(request.body(Full::from(body)).unwrap()).await.unwrap()
    }

    async fn send(
        &self,
        connection: &mut Connection,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> (StatusCode, Bytes) {
        let response = self.start_request(connection, method, path, "identity", body).await;
        let status = response.status();
        (status, response.into_body().collect().await.unwrap().to_bytes())
    }

    async fn get(&self, connection: &mut Connection, path: &str) -> Bytes {
        let (status, response) = self.send(connection, "GET", path, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {}", String::from_utf8_lossy(&response));
        response
    }

    /// Waits until the server has stored `count` results.
    async fn wait_for_results(&self, connection: &mut Connection, count: u64) {
        let started = Instant::now();
        loop {
            let page = self.get(connection, "/metrics").await;
            let lines = std::str::from_utf8(&page).unwrap().lines();
            let results = lines.filter(|line| line.starts_with("vigie_check_results_total"));
            let results: f64 = results.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
            if results >= count as f64 {
                return;
            }
            assert!(started.elapsed() < RESULTS_TIMEOUT, "{results} results of {count} monitors");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Reads the response to `path` in `encoding` frame by frame; returns its size in bytes and the greatest value of
    /// `watch`.
    async fn stream(
        &self,
        connection: &mut Connection,
        path: &str,
        encoding: &str,
        watch: impl Fn() -> u64,
    ) -> (u64, u64) {
        let response = self.start_request(connection, "GET", path, encoding, None).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let mut body = response.into_body();
        let (mut bytes, mut peak, mut frames) = (0, watch(), 0_u32);
        while let Some(frame) = body.frame().await {
            bytes += frame.unwrap().data_ref().map_or(0, Bytes::len) as u64;
            frames += 1;
            if frames.is_multiple_of(20) {
                peak = peak.max(watch());
            }
        }
        (bytes, peak)
    }
}

/// A separate server, killed on drop.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).current_dir(data);
        command.env("VIGIE_LOG_FORMAT", "json").env("VIGIE_LOG_LEVEL", "info");
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.by_ref().find_map(|line| {
            assert!(started.elapsed() < START_TIMEOUT, "the server does not start");
            let line: Value = serde_json::from_str(&line).ok()?;
            line["message"].as_str().filter(|message| message.starts_with("serving at"))?;
            line["address"].as_str()?.parse().ok()
        });
        // Drained, so that the log never blocks the process.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.expect("the server ended before it served") }
    }

    /// Returns the resident memory of the server, in bytes.
    fn rss(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
