//! What the simulation found, as tables and as JSON.

use serde::Serialize;

use super::arithmetic::{Needs, PLANNED_SHARE};
use super::cluster_plan::ClusterPlan;
use super::result_flow::{OutageOutcome, STREAM_BYTES};
use super::spread::Spread;
use super::unit_costs::UnitCosts;
use crate::service::result_view::format_grouped;

/// A figure by the formulas, and as the simulation came to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ComparedFigure {
    computed: Option<f64>,
    simulated: Option<f64>,
}

/// The report of a simulation. Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SimulationReport {
    monitors: u32,
    agents: u32,
    locations: u32,
    interval_seconds: u32,
    outage_seconds: u64,
    #[serde(flatten)]
    costs: UnitCosts,
    /// Simulated: in the busiest second.
    checks_per_second: ComparedFigure,
    /// Simulated: of the busiest agent.
    monitors_per_agent: ComparedFigure,
    waiting_results: ComparedFigure,
    catch_up_seconds: ComparedFigure,
    waiting_bytes_in_nats: f64,
    waiting_bytes_per_agent: f64,
    agent_cores: f64,
    control_cores: f64,
    agent_memory_bytes: f64,
    control_memory_bytes: f64,
    bus_bytes_per_second: f64,
    partition_bytes: f64,
    assign_seconds: f64,
    /// Share of the results that the database stores a second.
    store_share: f64,
    cells: f64,
}

impl SimulationReport {
    pub(super) fn new(
        plan: &ClusterPlan,
        costs: UnitCosts,
        needs: &Needs,
        spread: &Spread,
        outage: &OutageOutcome,
    ) -> Self {
        let compared =
            |computed, simulated| ComparedFigure { computed: Some(computed), simulated: Some(simulated) };
        Self {
            monitors: plan.monitors,
            agents: plan.agents,
            locations: plan.locations,
            interval_seconds: plan.interval_seconds,
            outage_seconds: plan.outage.as_secs(),
            costs,
            checks_per_second: compared(needs.checks_per_second, spread.busiest_second().into()),
            monitors_per_agent: compared(needs.monitors_per_agent, spread.busiest_agent().into()),
            waiting_results: compared(needs.waiting, outage.most_waiting),
            catch_up_seconds: ComparedFigure {
                computed: needs.catch_up_seconds,
                simulated: outage.catch_up_seconds.map(f64::from),
            },
            waiting_bytes_in_nats: outage.most_in_nats,
            waiting_bytes_per_agent: outage.most_per_agent,
            agent_cores: needs.agent_cores,
            control_cores: needs.control_cores,
            agent_memory_bytes: needs.agent_memory,
            control_memory_bytes: needs.control_memory,
            bus_bytes_per_second: needs.bus_bytes_per_second,
            partition_bytes: needs.partition_bytes,
            assign_seconds: needs.assign_seconds,
            store_share: needs.store_share,
            cells: needs.cells,
        }
    }

    /// Renders tables for people.
    pub(super) fn render_tables(&self) -> String {
        let mut text = format!(
            "{} monitors every {} s, {} agents at {} locations; an outage of {} s without a database\n\n",
            self.monitors, self.interval_seconds, self.agents, self.locations, self.outage_seconds
        );
        let row = |name: &str, computed: &str, simulated: &str| {
            format!("{name:<34} {computed:>16} {simulated:>16}").trim_end().to_owned() + "\n"
        };
        text += &row("", "computed", "simulated");
        let mut compare = |name: &str, figure: &ComparedFigure, show: fn(f64) -> String| {
            let show = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), show);
            text += &row(name, &show(figure.computed), &show(figure.simulated));
        };
        compare("checks a second; in the busiest", &self.checks_per_second, show_count);
        compare("monitors of an agent; the busiest", &self.monitors_per_agent, show_count);
        compare("results that wait in the outage", &self.waiting_results, show_count);
        compare("until they are stored", &self.catch_up_seconds, show_seconds);
        let needs = [
            ("of them in NATS", show_bytes(self.waiting_bytes_in_nats)),
            ("of them kept by each agent", show_bytes(self.waiting_bytes_per_agent)),
            ("processors, all agents", format!("{:.1}", self.agent_cores)),
            ("processors, controller that leads", format!("{:.1}", self.control_cores)),
            ("memory of an agent", show_bytes(self.agent_memory_bytes)),
            ("memory of a controller", show_bytes(self.control_memory_bytes)),
            ("bus, a second", show_bytes(self.bus_bytes_per_second)),
            ("results of a day on disk", show_bytes(self.partition_bytes)),
            ("all monitors assigned after", show_seconds(self.assign_seconds)),
        ];
        for (name, value) in needs {
            text += &row(name, &value, "");
        }
        let measured = format!(
            "\nmeasured on this host: {:.0} µs CPU per check, {:.0} bytes a result, {:.2} kB a monitor\n",
            self.costs.measured.agent_cpu_us,
            self.costs.measured.waiting_bytes,
            self.costs.measured.monitor_bytes / 1e3
        );
        text + &measured + &self.what_gives_first()
    }

    /// Says which part is short of what it needs, and what to do.
    fn what_gives_first(&self) -> String {
        let percent = self.store_share * 100.0;
        let stored = show_count(self.costs.taken.stored_per_second);
        if self.cells > 1.0 {
            return format!(
                "gives first: the database, with {percent:.0} % of the {stored} results that it stores a second; \
                 {:.0} cells use at most {:.0} % each\n",
                self.cells,
                PLANNED_SHARE * 100.0
            );
        }
        let fits = format!(
            "one cell is enough: {percent:.0} % of the {stored} results that its database stores a second"
        );
        if self.waiting_bytes_in_nats >= STREAM_BYTES {
            return format!("{fits}; the stream of NATS fills in the outage, and agents keep the rest\n");
        }
        fits + "\n"
    }
}

/// Shows a count with separators, such as `33,333`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no count is negative or beyond 64 bits"
)]
fn show_count(count: f64) -> String {
    format_grouped(count.round_ties_even() as u64)
}

fn show_seconds(seconds: f64) -> String {
    format!("{} s", show_count(seconds))
}

fn show_bytes(bytes: f64) -> String {
    match bytes {
        1e12.. => format!("{:.1} TB", bytes / 1e12),
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} kB", bytes / 1e3),
    }
}
