use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use vigie::agent::{AdmissionLimits, start_runner};
use vigie::bus::contract::{BusFuture, ResultSink};
use vigie::clock::SystemClock;
use vigie::domain::CheckResult;
use vigie::telemetry::Metrics;

use crate::agent::kit::{AttemptStep, ScriptedProbe, assignment, context, put, within};

/// Counts results and stores only their lateness, since storing the results would dominate the measurement.
#[derive(Default)]
struct LatenessSink {
    expected_runs: usize,
    lateness: Mutex<Vec<Duration>>,
    missed: AtomicUsize,
    reached: Notify,
}

impl ResultSink for LatenessSink {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        match result.lateness() {
            None => drop(self.missed.fetch_add(result.run_count() as usize, Ordering::Relaxed)),
            Some(lateness) => {
                let mut all = self.lateness.lock().unwrap();
                all.push(lateness);
                if all.len() == self.expected_runs {
                    self.reached.notify_one();
                }
            }
        }
        Box::pin(std::future::ready(()))
    }
}

struct Figures {
    runs: usize,
    missed: usize,
    p50: Duration,
    p99: Duration,
}

/// Runs `monitors` at `interval` with probes that pass at once, until `expected_runs` checks have run.
async fn run(monitors: i64, interval: Duration, expected_runs: usize) -> Figures {
    let tally = Arc::new(LatenessSink { expected_runs, ..LatenessSink::default() });
    let sink: Arc<dyn ResultSink> = tally.clone();
    let runner = start_runner(
        AdmissionLimits::default(),
        context(Arc::new(SystemClock)),
        sink,
        Arc::new(Metrics::default()),
    );
    let probe = ScriptedProbe::new(&[AttemptStep::Pass]);
    let changes = (1..=monitors).map(|id| {
        let mut assigned = assignment(id, probe.clone());
        (assigned.interval, assigned.schedule_offset) = (interval, None);
        put(assigned)
    });
    runner.apply_changes(changes.collect()).await.unwrap();
    within(tally.reached.notified()).await;
    within(runner.shutdown(Duration::from_secs(5))).await;
    let mut lateness = tally.lateness.lock().unwrap().clone();
    lateness.sort_unstable();
    let (runs, missed) = (lateness.len(), tally.missed.load(Ordering::Relaxed));
    let (p50, p99, max) = (lateness[runs / 2], lateness[runs * 99 / 100], lateness[runs - 1]);
    // Written past the capture of the test harness, so that every run prints the figures.
    let _ = writeln!(
        std::io::stderr(),
        "{monitors} every {interval:?}: {runs} runs, {missed} missed, p50 {p50:?}, p99 {p99:?}, max {max:?}"
    );
    Figures { runs, missed, p50, p99 }
}

/// Limits are generous: other tests may keep the machine busy, and the build is not optimised.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_monitors_start_on_time() {
    let fast = run(20_000, Duration::from_secs(1), 60_000).await;
    assert!(fast.p50 < Duration::from_millis(900), "p50 {:?}", fast.p50);
    assert!(fast.missed < fast.runs, "{} missed, {} runs", fast.missed, fast.runs);
    let many = run(100_000, Duration::from_mins(1), 8_000).await;
    assert!(many.p99 < Duration::from_secs(1), "p99 {:?}", many.p99);
    assert_eq!(many.missed, 0);
}
