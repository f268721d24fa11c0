//! How the last runs of monitors ended.

use crate::schema::Monitor;
use crate::store::MonitorState;

/// Knows how the last runs of monitors ended.
pub trait LastRunLookup: Send + Sync + 'static {
    /// Where `monitor` stands, at the location of its last run; `None` before the first.
    fn last_run(&self, monitor: &Monitor) -> Option<MonitorState>;
}
