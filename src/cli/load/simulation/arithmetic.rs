//! The formulas of the manual (growth.md).

use super::cluster_plan::ClusterPlan;
use super::unit_costs::UnitCosts;

/// The share of the database's capacity that a cell uses in the long run: the rest is for catching up.
pub(super) const PLANNED_SHARE: f64 = 0.5;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// What a cluster needs, in the mean.
#[derive(Debug)]
pub(super) struct Needs {
    pub(super) checks_per_second: f64,
    pub(super) monitors_per_agent: f64,
    /// Processors of all agents.
    pub(super) agent_cores: f64,
    /// Processors of the controller that leads.
    pub(super) control_cores: f64,
    /// Memory of an agent for its monitors, in bytes.
    pub(super) agent_memory: f64,
    /// Memory of a controller, in bytes.
    pub(super) control_memory: f64,
    pub(super) bus_bytes_per_second: f64,
    /// Share of what the database stores.
    pub(super) store_share: f64,
    /// Bytes of the results of one day, which is a partition.
    pub(super) partition_bytes: f64,
    /// Results that wait at the end of the outage.
    pub(super) waiting: f64,
    /// Seconds until they are stored; `None`: never.
    pub(super) catch_up_seconds: Option<f64>,
    /// Seconds until all monitors are assigned, after a start of everything.
    pub(super) assign_seconds: f64,
    /// Cells that use no more than [`PLANNED_SHARE`] each.
    pub(super) cells: f64,
}

impl Needs {
    pub(super) fn of(plan: &ClusterPlan, costs: &UnitCosts) -> Self {
        let (monitors, agents) = (f64::from(plan.monitors), f64::from(plan.agents));
        let rate = plan.checks_per_second();
        let waiting = rate * plan.outage.as_secs_f64();
        let spare = costs.taken.stored_per_second - rate;
        let store_share = rate / costs.taken.stored_per_second;
        Self {
            checks_per_second: rate,
            monitors_per_agent: monitors / agents,
            agent_cores: rate * costs.measured.agent_cpu_us / 1e6,
            control_cores: rate * costs.taken.control_cpu_us / 1e6,
            agent_memory: monitors / agents * costs.measured.monitor_bytes,
            control_memory: monitors * costs.measured.monitor_bytes + agents * costs.taken.agent_bytes,
            bus_bytes_per_second: rate * costs.taken.bus_bytes,
            store_share,
            partition_bytes: rate * SECONDS_PER_DAY * costs.taken.stored_bytes,
            waiting,
            catch_up_seconds: (spare > 0.0).then(|| waiting / spare),
            assign_seconds: monitors / costs.taken.assigned_per_second,
            cells: (store_share / PLANNED_SHARE).ceil().max(1.0),
        }
    }
}
