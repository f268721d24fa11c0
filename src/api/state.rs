//! Dependencies of the API handlers.

use std::sync::Arc;

use super::upload_permits::UploadPermits;
use crate::clock::Clock;
use crate::service::{
    AccountService, AlertService, ConfigRecordService, MonitorReader, MonitorService, OnDemandTests,
    ResultShares, agents::AgentService, hosts::HostService, hosts::PushService,
};

/// The services behind the APIs. Cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    /// Accounts, logins and tokens.
    pub account_service: Arc<AccountService>,
    /// Monitors.
    pub monitor_service: Arc<MonitorService>,
    /// All other records of accounts.
    pub record_service: Arc<ConfigRecordService>,
    /// Agents on other hosts.
    pub agent_service: Arc<AgentService>,
    /// Hosts that report metrics.
    pub host_service: Arc<HostService>,
    /// Pushes.
    pub push_service: Arc<PushService>,
    /// Outages and notifications.
    pub alert_service: Arc<AlertService>,
    /// Tests on demand.
    pub on_demand_tests: Arc<OnDemandTests>,
    /// Shares of results.
    pub result_shares: Arc<ResultShares>,
    /// Reads monitors, their results and their health.
    pub monitor_reader: Arc<MonitorReader>,
    /// Permits to read large bodies.
    pub upload_permits: Arc<UploadPermits>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}
