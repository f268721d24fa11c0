//! Notices that another server has taken the place of the database.

use std::time::Duration;

use crate::store::Store;

/// Time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Waits until a server that may lack commits has taken the place of the database of `store`. The process has to start
/// anew then: what it knows is not what is stored.
pub(super) async fn wait_for_failover(store: &dyn Store) {
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        // While the database is away, others report it.
        if matches!(store.has_lost_commits().await, Ok(true)) {
            return;
        }
    }
}
