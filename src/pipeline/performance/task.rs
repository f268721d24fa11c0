//! The task that evaluates performance alerts each minute.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::evaluator::PerformanceEvaluator;
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat};

/// Time between two evaluations.
const EVALUATION_INTERVAL: Duration = Duration::from_mins(1);

/// Evaluates performance alerts until `stop` is cancelled.
pub struct PerformanceTask {
    /// The evaluator.
    pub evaluator: PerformanceEvaluator,
    /// Ends the task.
    pub stop: CancellationToken,
    /// Heartbeat of the task.
    pub heartbeat: TaskHeartbeat,
    /// Set during each evaluation, so still set after a panic; then the active alerts must be loaded again.
    pub needs_recovery: bool,
}

impl PerformanceTask {
    async fn evaluate_each_minute(&mut self) {
        let clock = Arc::clone(&self.evaluator.dependencies.clock);
        loop {
            if self.needs_recovery {
                match self.evaluator.recover().await {
                    Ok(()) => self.needs_recovery = false,
                    Err(error) => {
                        tracing::warn!(error = %error, "failed to load the active performance alerts");
                    }
                }
            }
            self.heartbeat.mark_idle_for(EVALUATION_INTERVAL);
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = clock.sleep(EVALUATION_INTERVAL) => {}
            }
            if self.needs_recovery {
                continue;
            }
            self.needs_recovery = true;
            let evaluation_result = self.heartbeat.clone().watch(self.evaluator.evaluate_all()).await;
            self.needs_recovery = false;
            if let Err(error) = evaluation_result {
                tracing::warn!(error_kind = error.kind(), "failed to evaluate performance alerts: {error}");
            }
        }
    }
}

impl SupervisedTask for PerformanceTask {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(self.evaluate_each_minute())
    }
}
