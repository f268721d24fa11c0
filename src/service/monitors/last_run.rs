//! The outcome of the last runs of monitors.

use crate::schema::Monitor;
use crate::store::MonitorLocationState;

/// Looks up the outcome of the last runs of monitors.
pub trait LastRunLookup: Send + Sync + 'static {
    /// Returns the state of `monitor` at the location of its last run; `None` before the first.
    fn last_run(&self, monitor: &Monitor) -> Option<MonitorLocationState>;
}
