use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use vigie::clock::SystemClock;
use vigie::engine::{Limits, ResultSink, start};
use vigie::model::Outcome;
use vigie::telemetry::Metrics;

use crate::kit::{Scripted, Step, assignment, place, put, sink, within};

struct Figures {
    runs: usize,
    missed: usize,
    p50: Duration,
    p99: Duration,
}

/// Runs `monitors` at `interval` on probes that pass at once, until `enough` results are there.
async fn run(monitors: i64, interval: Duration, enough: usize) -> Figures {
    let sink = sink();
    let as_sink: Arc<dyn ResultSink> = sink.clone();
    let runner =
        start(Limits::default(), place(Arc::new(SystemClock)), as_sink, Arc::new(Metrics::default()));
    let probe = Scripted::new(&[Step::Pass]);
    let changes = (1..=monitors).map(|id| {
        let mut assigned = assignment(id, probe.clone());
        (assigned.interval, assigned.offset) = (interval, None);
        put(assigned)
    });
    runner.apply(changes.collect()).await.unwrap();
    sink.until_that(|results| results.len() >= enough).await;
    within(runner.shutdown(Duration::from_secs(5))).await;
    let results = sink.results.borrow().clone();
    let mut lateness: Vec<_> = results.iter().filter_map(vigie::model::CheckResult::lateness).collect();
    lateness.sort_unstable();
    let runs = lateness.len();
    let missed = results.iter().filter(|r| r.outcome == Outcome::Missed).count();
    let (p50, p99, max) = (lateness[runs / 2], lateness[runs * 99 / 100], lateness[runs - 1]);
    // Written past the capture of the test harness, so that the figures are seen in every run.
    let _ = writeln!(
        std::io::stderr(),
        "{monitors} every {interval:?}: {runs} runs, {missed} missed, p50 {p50:?}, p99 {p99:?}, max {max:?}"
    );
    Figures { runs, missed, p50, p99 }
}

/// Bounds are generous: the machine may be busy with other tests, and the build is not optimised.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_monitors_start_on_time() {
    let fast = run(20_000, Duration::from_secs(1), 60_000).await;
    assert!(fast.p50 < Duration::from_millis(900), "p50 {:?}", fast.p50);
    assert!(fast.missed < fast.runs, "{} missed, {} runs", fast.missed, fast.runs);
    let many = run(100_000, Duration::from_mins(1), 8_000).await;
    assert!(many.p99 < Duration::from_secs(1), "p99 {:?}", many.p99);
    assert_eq!(many.missed, 0);
}
