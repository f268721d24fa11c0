//! Runs long computations on blocking threads, with a limit on how many run at once.

use std::sync::{Arc, LazyLock};
use std::thread;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::Deadline;
use crate::redaction::scope::RedactionScope;

/// Largest text that is searched on the async thread, in bytes.
pub(super) const INLINE_SEARCH_BYTES: usize = 32 * 1024;
/// Concurrent tasks per processor. A task abandoned at its deadline still runs to its end and keeps its permit until
/// then; otherwise threads would pile up.
const TASKS_PER_CPU: usize = 2;

/// The permits of this process.
static TASK_PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(TASKS_PER_CPU * processors))
});

/// Runs `work` on a blocking thread and returns its result if it ends by `deadline`; `task_name` names it in the
/// failure. The target has responded by then, so exceeding the deadline is an error of Vigie, not of the target.
///
/// # Errors
/// Fails with [`FailureKind::Internal`] in phase `Validate`.
pub(super) async fn run_blocking<T: Send + 'static>(
    task_name: &str,
    deadline: Deadline,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let internal_failure =
        |text: &str| Failure::new(Phase::Validate, FailureKind::Internal, format!("{task_name} {text}"));
    let permit = deadline.enforce(Phase::Validate, Arc::clone(&TASK_PERMITS).acquire_owned()).await;
    let Ok(Ok(permit)) = permit else {
        return Err(internal_failure(
            "did not start before the timeout: searches of other checks took all the time",
        ));
    };
    let redaction_scope = RedactionScope::current();
    let task = spawn_blocking(move || {
        let result = redaction_scope.run(work);
        drop(permit);
        result
    });
    match deadline.enforce(Phase::Validate, task).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_)) => Err(internal_failure("ended early")),
        Err(_) => Err(internal_failure("did not finish before the timeout")),
    }
}
