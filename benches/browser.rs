//! What a browser check of one step takes, against the same calls to the same driver made bare: the driver is
//! started, the calls of a check are made as that check made them, and the driver is ended; no proxy, no journal, no
//! result. Both sides run in turns, on a page of this program's own.
//!
//! `cargo bench --bench browser` takes the median of 20 pairs; `-- --quick` of 7. It ends with 1 when the ratio is
//! over its bound. It needs `chromium` and `chromedriver`.
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
use vigie::probe::{ProbeContext, ProbeSettings, build};
use vigie::schema::MonitorDocument;

use driver::{Call, between, calls, recorder, replay};

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/driver.rs"]
mod driver;

/// The bound of the ratio.
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
    let at = served().await;
    let folder = tempfile::tempdir().unwrap();
    let program = found("chromedriver");
    let (between, record) = recorder(&std::env::current_exe().unwrap(), &program, folder.path());
    checked(at, &house(Some(between))).await;
    let calls = calls(&record);
    println!("a check of one step makes {} calls: {}", calls.len(), named(&calls));
    // One for all checks, as a process has one.
    let pool = house(None);
    let mut times = Vec::new();
    for pair in 0..=pairs {
        let start = Instant::now();
        let observation = checked(at, &pool).await;
        let middle = Instant::now();
        replay(&program, &calls).await;
        // The first pair warms up.
        if pair > 0 {
            let (ours, bare) = (middle - start, middle.elapsed());
            println!(
                "  ours {:.3} s ({}), bare {:.3} s",
                ours.as_secs_f64(),
                parts(&observation),
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

/// The browsers; `driver` where it is not the one of the system.
fn house(driver: Option<PathBuf>) -> Arc<BrowserPool> {
    Arc::new(BrowserPool::new(BrowserPoolConfig {
        chromedriver: driver,
        // Both sides ask for the processor in the same way.
        nice: 0,
        ..BrowserPoolConfig::default()
    }))
}

/// A check of one step, to its end.
async fn checked(at: SocketAddr, pool: &Arc<BrowserPool>) -> Observation {
    let fields =
        json!({ "url": format!("http://{at}/"), "browser_type": BrowserKind::Chrome.name(), "timeout": 30 });
    let serde_json::Value::Object(fields) = fields else { unreachable!() };
    let document = MonitorDocument::new(MonitorType::BrowserScript, fields).unwrap();
    let settings = ProbeSettings { browser_pool: Arc::clone(pool), ..ProbeSettings::default() };
    let (probe, _) = build(&document, &settings);
    let (net, cancel) = (cpu::net(), CancellationToken::new());
    let deadline = Deadline::within(probe.time_limit(Duration::from_secs(30)));
    let observation = probe.attempt(ProbeContext::new(&net, deadline, &cancel, &SystemClock)).await;
    assert!(observation.failure.is_none(), "{:?}", observation.failure);
    assert_eq!(observation.details.steps.len(), 1);
    observation
}

fn named(calls: &[Call]) -> String {
    let last = |call: &Call| call.path.rsplit('/').next().unwrap_or_default().to_owned();
    calls.iter().map(last).collect::<Vec<_>>().join(" ")
}

fn parts(observation: &Observation) -> String {
    let all =
        observation.phases.iter().map(|(phase, micros)| format!("{} {} ms", phase.key(), micros / 1000));
    all.collect::<Vec<_>>().join(", ")
}

fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).map(|folder| folder.join(program));
    all.into_iter()
        .find(|path| Path::is_file(path))
        .expect("chromedriver, which Debian has as chromium-driver")
}

async fn served() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = hyper::service::service_fn(|_| {
                let page = "<!doctype html><title>A page</title><h1>A page</h1><p>with a few words</p>";
                let answer = Response::builder().header(header::CONTENT_TYPE, "text/html; charset=utf-8");
                std::future::ready(Ok::<_, Infallible>(answer.body(Full::new(Bytes::from(page))).unwrap()))
            });
            let serving =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            tokio::spawn(async move { drop(serving.await) });
        }
    });
    at
}
