//! Runs browsers in parallel: all kinds of a case at once, but never more over all tests than the machine can hold.

use std::sync::LazyLock;

use futures::future::join_all;
use tokio::sync::{Semaphore, SemaphorePermit};
use vigie::browser::BrowserKind;

/// Permits for running browsers. A browser uses a processor while it starts, and mostly waits afterwards.
static LIMIT: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Semaphore::new(cores + 1)
});

/// Waits for the permit to run one more browser. A holder must not request a second one.
pub async fn browser_permit() -> SemaphorePermit<'static> {
    LIMIT.acquire().await.unwrap()
}

/// Runs `case` with each of `kinds` in parallel.
pub async fn each(kinds: Vec<BrowserKind>, case: impl AsyncFn(BrowserKind)) {
    join_all(kinds.into_iter().map(|kind| case(kind))).await;
}
