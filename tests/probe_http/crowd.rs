//! Many checks at once whose expressions take minutes: they are given up in time, and no threads pile up behind them.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind as Kind, Fault, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, Roots, TrustConfig};
use vigie::probe::{ProbeContext, ProbeSettings};
use vigie::schema::MonitorDocument;

use crate::probe_http::check::Expect::Passes;
use crate::probe_http::server::{Server, answers, page};
use crate::support::alone::alone;

/// Checks at once; far more than there are places.
const CHECKS: usize = 40;
/// Takes 60 ms for each kilobyte of a text without order, even where the crate is optimised: 8 s for all of it.
const SLOW: &str = r"(?s)(?:[a-h].{1,100}){1,40}[0-9A-Z]";
/// A small part of what the search takes, on machines a few times as quick too.
const TIMEOUT: Duration = Duration::from_millis(500);
/// What the threads of this test are called.
const NAME: &str = "crowd";

fn chaos() -> String {
    let mut seed = 7_u64;
    let letter = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ' ', 'x'][(seed >> 33) as usize % 10]
    };
    (0..128 * 1024).map(letter).chain(" öende".chars()).collect()
}

/// Threads of the runtime of this test.
fn threads() -> usize {
    let of_test = |task: &fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim_end() == NAME)
    };
    fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok).filter(of_test).count()
}

/// So many checks of `url` at once for this expression.
async fn search(url: &str, expression: &str, timeout: Duration, checks: usize) -> Vec<Observation> {
    let fields =
        json!({"url": url, "keyword_match_type": "Regular Expression", "keyword_string": expression});
    let Value::Object(fields) = fields else { unreachable!() };
    let (probe, _) = vigie::probe::build(
        &MonitorDocument::new(MonitorType::Website, fields).unwrap(),
        &ProbeSettings::default(),
    );
    let trust = TrustConfig { roots: Roots::None, ..TrustConfig::default() };
    let net = Arc::new(Net::new(&NetConfig { trust, ..NetConfig::default() }).unwrap());
    let going = (0..checks).map(|_| {
        let (probe, net) = (Arc::clone(&probe), Arc::clone(&net));
        tokio::spawn(async move {
            let cancel = CancellationToken::new();
            probe.attempt(ProbeContext::new(&net, Deadline::within(timeout), &cancel, &SystemClock)).await
        })
    });
    let mut observations = Vec::new();
    for check in going.collect::<Vec<_>>() {
        observations.push(check.await.unwrap());
    }
    observations
}

/// Looks again and again how many threads there are.
fn watched(done: Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let most = AtomicUsize::new(0);
        while !done.load(Ordering::SeqCst) {
            most.fetch_max(threads(), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
        }
        most.into_inner()
    })
}

#[test]
fn expressions_that_take_minutes_leave_no_threads_behind() {
    // The places for long searches are those of a process, and all of them are taken here.
    if !alone("probe_http::crowd::expressions_that_take_minutes_leave_no_threads_behind") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(512)
        .thread_name(NAME)
        .enable_all()
        .build()
        .unwrap();
    let text = chaos();
    runtime.block_on(async {
        let target = Server::start(vec![answers(page(&text))]).await;
        let (url, done) = (target.url("/"), Arc::new(AtomicBool::new(false)));
        let watching = watched(done.clone());
        for observation in search(&url, SLOW, TIMEOUT, CHECKS).await {
            let failure = observation.failure.unwrap();
            assert_eq!((failure.kind, failure.fault), (Kind::Internal, Fault::Ours), "{failure}");
        }
        done.store(true, Ordering::SeqCst);
        // Two of the runtime, and two for each processor that search; as many again may be on their way to rest.
        let (max, bound) = (watching.join().unwrap(), 2 + 4 * available_parallelism().unwrap().get());
        assert!((3..=bound).contains(&max), "{max} threads, {bound} are allowed");
        // None of them goes on for minutes: there is room for who needs it now.
        let quick = search(&url, "ö?ende$", Duration::from_mins(1), 1).await;
        Passes.compare(&quick[0]).unwrap();
    });
}
