//! Duration of a browser check of one step, against the same calls to the same driver without Vigie: the driver is
//! started, the recorded calls of a check are made, and the driver is ended; no proxy, no network log, no result. Both
//! sides alternate, on a page served by this program.
//!
//! `cargo bench --bench browser` takes the median of 20 pairs; `-- --quick` of 7. It exits with 1 when the ratio is
//! over its limit. It needs `chromium` and `chromedriver`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Response, header};
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vigie::browser::{BrowserKind, BrowserPool, BrowserPoolConfig};
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::Deadline;
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

use driver::{Call, between, calls, recorder, replay};

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/driver.rs"]
mod driver;

/// Greatest accepted ratio.
const WALL: f64 = 1.2;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--between") {
        runtime.block_on(between(&arguments[at + 1..]));
        return ExitCode::SUCCESS;
    }
    let pairs = if arguments.iter().any(|argument| argument == "--quick") { 7 } else { 20 };
    let ratio = runtime.block_on(compare(pairs));
    println!("{}", if ratio <= WALL { "the bound holds" } else { "THE BOUND DOES NOT HOLD" });
    if ratio <= WALL { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn compare(pairs: usize) -> f64 {
    let at = start_server().await;
    let folder = tempfile::tempdir().unwrap();
    let program = find_program("chromedriver");
    let (between, record) = recorder(&std::env::current_exe().unwrap(), &program, folder.path());
    run_check(at, &browser_pool(Some(between))).await;
    let calls = calls(&record);
    println!("a check of one step makes {} calls: {}", calls.len(), call_names(&calls));
    // One pool for all checks, as in a process.
    let pool = browser_pool(None);
    let mut times = Vec::new();
    for pair in 0..=pairs {
        let start = Instant::now();
        let observation = run_check(at, &pool).await;
        let middle = Instant::now();
        replay(&program, &calls).await;
        // The first pair is a warm-up.
        if pair > 0 {
            let (ours, bare) = (middle - start, middle.elapsed());
            println!(
                "  ours {:.3} s ({}), bare {:.3} s",
                ours.as_secs_f64(),
                phase_times(&observation),
                bare.as_secs_f64()
            );
            times.push((ours, bare));
        }
    }
    let mut ratios: Vec<f64> =
        times.iter().map(|(ours, bare)| ours.as_secs_f64() / bare.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("a check of one step: {median:.2} times the time of its calls made bare, at most {WALL}");
    median
}

/// Returns a browser pool with `driver`, or with that of the system.
fn browser_pool(driver: Option<PathBuf>) -> Arc<BrowserPool> {
    Arc::new(BrowserPool::new(BrowserPoolConfig {
        chromedriver: driver,
        // Both sides run at the same priority.
        niceness: 0,
        ..BrowserPoolConfig::default()
    }))
}

/// Runs a check of one step.
async fn run_check(at: SocketAddr, pool: &Arc<BrowserPool>) -> Observation {
    let fields =
        json!({ "url": format!("http://{at}/"), "browser_type": BrowserKind::Chrome.name(), "timeout": 30 });
    let serde_json::Value::Object(fields) = fields else { unreachable!() };
    let document = MonitorDocument::new(MonitorType::BrowserScript, fields).unwrap();
    let settings = ProbeBuildContext { browser_pool: Arc::clone(pool), ..ProbeBuildContext::default() };
    let (probe, _) = build_probe(&document, &settings);
    let (net, cancel) = (cpu::net(), CancellationToken::new());
    let deadline = Deadline::within(probe.time_limit(Duration::from_secs(30)));
    let observation = probe.attempt(ProbeContext::new(&net, deadline, &cancel, &SystemClock)).await;
    assert!(observation.failure.is_none(), "{:?}", observation.failure);
    assert_eq!(observation.details.steps.len(), 1);
    observation
}

fn call_names(calls: &[Call]) -> String {
    let last = |call: &Call| call.path.rsplit('/').next().unwrap_or_default().to_owned();
    calls.iter().map(last).collect::<Vec<_>>().join(" ")
}

fn phase_times(observation: &Observation) -> String {
    let all =
        observation.phases.iter().map(|(phase, micros)| format!("{} {} ms", phase.key(), micros / 1000));
    all.collect::<Vec<_>>().join(", ")
}

fn find_program(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).map(|folder| folder.join(program));
    all.into_iter()
        .find(|path| Path::is_file(path))
        .expect("chromedriver, which Debian has as chromium-driver")
}

async fn start_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = hyper::service::service_fn(|_| {
                let page = "<!doctype html><title>A page</title><h1>A page</h1><p>with a few words</p>";
                let service = Response::builder().header(header::CONTENT_TYPE, "text/html; charset=utf-8");
                std::future::ready(Ok::<_, Infallible>(service.body(Full::new(Bytes::from(page))).unwrap()))
            });
            let serving =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move { drop(serving.await) });
        }
    });
    at
}
