//! Runs the monitors of a suite side by side.

use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::cli::check_runner::CheckRunner;
use crate::cli::stop_signals::StopSignals;
use crate::cli::test_report::{TestCase, TestOutcome, TestVerdict};
use crate::schema::monitor_file::FileMonitor;

/// How a suite runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct SuiteOptions {
    /// Monitors that are checked at the same time.
    pub(super) jobs: usize,
    /// Further tries of a monitor that failed.
    pub(super) retries: u32,
}

/// Checks `monitors`, and calls `on_case` with each one's end, in their order. After a signal, running checks are cancelled
/// and no more are started; returns the exit code for the signal then.
pub(super) async fn run_suite(
    runner: &CheckRunner<'_>,
    monitors: &[FileMonitor],
    options: SuiteOptions,
    mut on_case: impl FnMut(TestCase) -> anyhow::Result<()>,
) -> anyhow::Result<Option<u8>> {
    let mut stop_signals = StopSignals::install()?;
    let cancellation = CancellationToken::new();
    let cases = monitors.iter().map(|monitor| async {
        let outcome = run_monitor(runner, monitor, options.retries, &cancellation).await;
        TestCase { name: monitor.document.name().to_owned(), group: monitor.file.to_string(), outcome }
    });
    let mut cases = stream::iter(cases).buffered(options.jobs);
    let mut signal_code = None;
    loop {
        tokio::select! {
            case = cases.next() => match case {
                Some(case) => on_case(case)?,
                None => break,
            },
            signal = stop_signals.next(), if signal_code.is_none() => {
                signal_code = Some(signal.exit_code());
                cancellation.cancel();
            }
        }
    }
    runner.close_browsers().await;
    Ok(signal_code)
}

async fn run_monitor(
    runner: &CheckRunner<'_>,
    monitor: &FileMonitor,
    retries: u32,
    cancellation: &CancellationToken,
) -> TestOutcome {
    if !monitor.document.settings().schedule.enabled {
        return TestOutcome::Skipped("it is disabled");
    }
    let mut tries = 0;
    loop {
        if cancellation.is_cancelled() {
            return TestOutcome::NotRun;
        }
        tries += 1;
        let result = runner.check(&monitor.document, cancellation).await;
        if result.is_cancelled() {
            return TestOutcome::NotRun;
        }
        let outcome = TestOutcome::Finished { result: Box::new(result), tries };
        if outcome.verdict() == TestVerdict::Passed || tries > retries {
            return outcome;
        }
    }
}
