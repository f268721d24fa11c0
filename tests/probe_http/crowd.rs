//! Many checks at once whose expressions take minutes: they are given up in time, and no threads pile up behind them.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use serde_json::json;
use vigie::model::FailureKind as Kind;
use vigie::model::Fault;

use crate::check::Check;
use crate::check::Expect::Passes;
use crate::server::{Server, answers, page};

/// Checks at once; far more than there are places.
const CHECKS: usize = 40;
/// Takes milliseconds for each kilobyte of a text without order.
const SLOW: &str = r"(?:[aeg].{200}){1,30}#";
const NAME: &str = "crowd";

fn chaos() -> String {
    let mut seed = 7_u64;
    let letter = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ' ', 'x'][(seed >> 33) as usize % 10]
    };
    (0..900_000).map(letter).chain("öende".chars()).collect()
}

/// Threads of the runtime of this test.
fn threads() -> usize {
    let of_test = |task: &fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim_end() == NAME)
    };
    fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok).filter(of_test).count()
}

#[test]
fn expressions_that_take_minutes_leave_no_threads_behind() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(512)
        .thread_name(NAME)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let text = chaos();
        let target = Server::start(vec![answers(page(&text))]).await;
        let fields = json!({"keyword_match_type": "Regular Expression", "keyword_string": SLOW});
        let url = target.url("/");
        let slow = || Check::of(&url).with(fields.clone()).within(Duration::from_secs(3));
        let (most, done) = (Arc::new(std::sync::Mutex::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen_most, is_done) = (most.clone(), done.clone());
        let watching = std::thread::spawn(move || {
            while !is_done.load(Ordering::SeqCst) {
                let now = threads();
                let mut most = seen_most.lock().unwrap();
                *most = now.max(*most);
                drop(most);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let checks: Vec<_> = (0..CHECKS)
            .map(|_| {
                let check = slow();
                tokio::spawn(async move { check.run().await })
            })
            .collect();
        for check in checks {
            let failure = check.await.unwrap().failure.unwrap();
            assert_eq!((failure.kind, failure.fault), (Kind::Internal, Fault::Ours), "{failure}");
        }
        done.store(true, Ordering::SeqCst);
        watching.join().unwrap();
        // Two of the runtime, and two for each processor that search.
        let bound = 2 + 2 * available_parallelism().unwrap().get();
        let most = *most.lock().unwrap();
        assert!((3..=bound).contains(&most), "{most} threads, {bound} are allowed");
        // None of them goes on for minutes: there is room for who needs it now.
        let quick = Check::of(&url)
            .with(json!({"keyword_match_type": "Regular Expression", "keyword_string": "[ö]+ende$"}))
            .within(Duration::from_secs(20));
        Passes.compare(&quick.run().await).unwrap();
    });
}
