//! What the handlers work with.

use std::sync::Arc;

use crate::clock::Clock;
use crate::service::{Accounts, Alerting, MonitorContext, Resources, Trials, View};

/// The use cases behind the APIs. Cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    /// Who may in.
    pub accounts: Arc<Accounts>,
    /// Monitors.
    pub monitors: Arc<MonitorContext>,
    /// All else that accounts have.
    pub resources: Arc<Resources>,
    /// Outages and messages.
    pub alerting: Arc<Alerting>,
    /// Tests on demand.
    pub trials: Arc<Trials>,
    /// Results.
    pub view: Arc<View>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}
