//! Work that takes long, apart from the threads that wait for targets: so much of it at once, and no more.

use std::sync::{Arc, LazyLock};
use std::thread;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::Deadline;

/// Bytes of a text that are searched in passing.
pub(super) const INLINE_SEARCH_BYTES: usize = 32 * 1024;
/// Pieces of work for each processor. What is given up at its deadline goes on to its end, and keeps its place
/// until then: else threads would pile up.
const TASKS_PER_CPU: usize = 2;

/// The places of this process.
static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(TASKS_PER_CPU * processors))
});

/// What `work` comes to, when it is over by `deadline`; `what` it is is told when it is not. The target has
/// delivered by then, so that this is no fault of its.
///
/// # Errors
/// [`FailureKind::Internal`] in phase `Validate`.
pub(super) async fn run_blocking<T: Send + 'static>(
    what: &str,
    deadline: Deadline,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let internal =
        |text: &str| Failure::new(Phase::Validate, FailureKind::Internal, format!("{what} {text}"));
    let place = deadline.enforce(Phase::Validate, Arc::clone(&PERMITS).acquire_owned()).await;
    let Ok(Ok(place)) = place else {
        return Err(internal("was not begun by the timeout: searches of other checks took all the time"));
    };
    let working = spawn_blocking(move || {
        let done = work();
        drop(place);
        done
    });
    match deadline.enforce(Phase::Validate, working).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => Err(internal("ended early")),
        Err(_) => Err(internal("was not over at the timeout")),
    }
}
