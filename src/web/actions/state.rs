//! Dependencies of the actions.

use std::sync::Arc;

use crate::service::hosts::PushService;
use crate::service::{MonitorService, OnDemandTests};
use crate::web::page_auth::PageAuth;
use crate::web::page_state::PageState;

/// Dependencies of the actions.
#[derive(Clone)]
pub struct ActionsState {
    /// Monitors and results.
    pub pages: PageState,
    /// Who may do what.
    pub auth: PageAuth,
    /// Changes monitors.
    pub monitor_service: Arc<MonitorService>,
    /// Makes push URLs.
    pub push_service: Arc<PushService>,
    /// Runs checks on demand.
    pub on_demand_tests: Arc<OnDemandTests>,
}
