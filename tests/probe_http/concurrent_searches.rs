//! Many concurrent checks whose regular expressions take minutes: they time out and leave no busy threads.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind as Kind, Fault, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

use crate::probe_http::check::Expect::Passes;
use crate::probe_http::server::{Server, page, respond};
use crate::support::alone::alone;

/// Number of concurrent checks: far more than search threads.
const CHECKS: usize = 40;
/// Takes 60 ms per kilobyte of random text, even where the crate is optimised: 8 s for the whole text.
const SLOW: &str = r"(?:[a-h][ -~]{1,100}){1,60}[0-9A-Z]";
/// A small part of the search time, also on machines that are a few times faster.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Name of the runtime threads of this test.
const THREAD_NAME: &str = "crowd";

fn random_text() -> String {
    let mut seed = 7_u64;
    let letter = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ' ', 'x'][(seed >> 33) as usize % 10]
    };
    (0..128 * 1024).map(letter).chain(" öende".chars()).collect()
}

/// Counts the runtime threads of this test.
fn threads() -> usize {
    let is_of_test = |task: &fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim_end() == THREAD_NAME)
    };
    fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok).filter(is_of_test).count()
}

/// Runs `checks` concurrent checks of `url` with this expression.
async fn search(url: &str, expression: &str, timeout: Duration, checks: usize) -> Vec<Observation> {
    let fields =
        json!({"url": url, "keyword_match_type": "Regular Expression", "keyword_string": expression});
    let Value::Object(fields) = fields else { unreachable!() };
    let (probe, _) = vigie::probe::build_probe(
        &MonitorDocument::new(MonitorType::Website, fields).unwrap(),
        &ProbeBuildContext::default(),
    );
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let net = Arc::new(Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap());
    let tasks = (0..checks).map(|_| {
        let (probe, net) = (Arc::clone(&probe), Arc::clone(&net));
        tokio::spawn(async move {
            let cancel = CancellationToken::new();
            probe.attempt(ProbeContext::new(&net, Deadline::within(timeout), &cancel, &SystemClock)).await
        })
    });
    let mut observations = Vec::new();
    for check in tasks.collect::<Vec<_>>() {
        observations.push(check.await.unwrap());
    }
    observations
}

/// Samples the number of threads until `done`; returns the maximum.
fn watch_threads(done: Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let max = AtomicUsize::new(0);
        while !done.load(Ordering::SeqCst) {
            max.fetch_max(threads(), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
        }
        max.into_inner()
    })
}

#[test]
fn expressions_that_take_minutes_leave_no_threads_behind() {
    // The threads for long searches are shared by the process, and this test occupies all of them.
    if !alone("probe_http::concurrent_searches::expressions_that_take_minutes_leave_no_threads_behind") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(512)
        .thread_name(THREAD_NAME)
        .enable_all()
        .build()
        .unwrap();
    let text = random_text();
    runtime.block_on(async {
        let target = Server::start(vec![respond(page(&text))]).await;
        let (url, done) = (target.url("/"), Arc::new(AtomicBool::new(false)));
        let watcher = watch_threads(done.clone());
        for observation in search(&url, SLOW, TIMEOUT, CHECKS).await {
            let failure = observation.failure.unwrap();
            assert_eq!((failure.kind, failure.fault), (Kind::Internal, Fault::Vigie), "{failure}");
        }
        done.store(true, Ordering::SeqCst);
        // Two threads of the runtime, and two searching threads per processor. As many again may be about to end.
        let (max, bound) = (watcher.join().unwrap(), 2 + 4 * available_parallelism().unwrap().get());
        assert!((3..=bound).contains(&max), "{max} threads, {bound} are allowed");
        // No search continues for minutes: a new search finds a free thread.
        let quick = search(&url, "ö?ende$", Duration::from_mins(1), 1).await;
        Passes.compare(&quick[0]).unwrap();
    });
}
