//! Browsers at once: both of a case side by side, and never more over all tests than the machine has room for.

use std::sync::LazyLock;

use futures::future::join_all;
use tokio::sync::{Semaphore, SemaphorePermit};
use vigie::browser::BrowserKind;

/// A browser takes a processor while it starts, and waits in between.
static LIMIT: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Semaphore::new(cores + 1)
});

/// Waits until there is room for one more browser, and holds it. Who holds one must not ask for a second.
pub async fn browser_permit() -> SemaphorePermit<'static> {
    LIMIT.acquire().await.unwrap()
}

/// Does `case` with each of `kinds` at the same time.
pub async fn each(kinds: Vec<BrowserKind>, case: impl AsyncFn(BrowserKind)) {
    join_all(kinds.into_iter().map(|kind| case(kind))).await;
}
