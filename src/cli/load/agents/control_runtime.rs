//! A runtime for one control plane: with it end all tasks of the control plane, as with a process.

use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;

/// How long threads may block the end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// A runtime, which ends on drop.
pub(super) struct ControlRuntime(Option<Runtime>);

impl ControlRuntime {
    /// Runs `work` and ends everything that it started.
    pub(super) async fn run<T: Send + 'static>(
        work: impl Future<Output = anyhow::Result<T>> + Send + 'static,
    ) -> anyhow::Result<T> {
        let mut runtime = Self(Some(crate::cli::process::build_multi_threaded_runtime()?));
        let running = runtime.0.as_ref().map(|runtime| runtime.spawn(work));
        let outcome = running.context("there is no runtime")?.await;
        if let Some(runtime) = runtime.0.take() {
            tokio::task::spawn_blocking(move || runtime.shutdown_timeout(END_TIMEOUT)).await?;
        }
        outcome?
    }
}

impl Drop for ControlRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
