//! What the handlers work with.

use std::sync::Arc;

use crate::clock::Clock;
use crate::service::{
    AccountService, AlertService, MonitorContext, OnDemandTests, ResourceService, StatusQueries,
};

/// The use cases behind the APIs. Cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    /// Who may in.
    pub accounts: Arc<AccountService>,
    /// Monitors.
    pub monitors: Arc<MonitorContext>,
    /// All else that accounts have.
    pub resources: Arc<ResourceService>,
    /// Outages and messages.
    pub alerts: Arc<AlertService>,
    /// Tests on demand.
    pub on_demand_tests: Arc<OnDemandTests>,
    /// Results.
    pub queries: Arc<StatusQueries>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}
