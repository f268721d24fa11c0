//! Settings of the PostgreSQL database.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::store::location::PostgresLocation;

/// Settings of the database.
#[derive(Clone)]
pub struct PostgresSettings {
    /// Where it is, and who connects.
    pub location: PostgresLocation,
    /// Most connections.
    pub max_connections: u32,
    /// How long a call waits for a connection.
    pub connect_timeout: Duration,
    /// Longest duration of a statement.
    pub query_timeout: Duration,
    /// The epoch of the controller that this is for: it writes only while it leads. `None` for a server without others.
    pub leader_epoch: Option<i64>,
    /// This host's clock, which that of the database must not differ from by more than a minute.
    pub clock: Arc<dyn Clock>,
}

impl PostgresSettings {
    /// Settings with default limits.
    #[must_use]
    pub fn new(location: PostgresLocation) -> Self {
        Self {
            location,
            max_connections: 10,
            connect_timeout: Duration::from_secs(10),
            query_timeout: Duration::from_secs(30),
            leader_epoch: None,
            clock: Arc::new(SystemClock),
        }
    }
}
