//! Measures, computes, simulates, and prints.

use std::process::ExitCode;

use super::arithmetic::Needs;
use super::cluster_plan::ClusterPlan;
use super::measure::measure_costs;
use super::report::SimulationReport;
use super::result_flow::ResultFlow;
use super::spread::Spread;
use super::unit_costs::{OF_MANUAL, UnitCosts};
use crate::cli::output;

/// Runs the simulation of `plan`.
pub(in crate::cli::load) async fn run(plan: ClusterPlan, prints_json: bool) -> anyhow::Result<ExitCode> {
    let mut costs = UnitCosts { measured: measure_costs(&plan).await?, ..OF_MANUAL };
    if let Some(stored) = plan.stored_per_second {
        costs.taken.stored_per_second = stored.into();
    }
    let spread = Spread::of(&plan);
    let outage = ResultFlow {
        results_of_second: &spread.runs_of_second,
        stored_per_second: costs.taken.stored_per_second,
        outage_seconds: u32::try_from(plan.outage.as_secs()).unwrap_or(u32::MAX),
        agents: plan.agents.into(),
        waiting_bytes: costs.measured.waiting_bytes,
    }
    .run();
    let report = SimulationReport::new(&plan, costs, &Needs::of(&plan, &costs), &spread, &outage);
    let text =
        if prints_json { serde_json::to_string_pretty(&report)? + "\n" } else { report.render_tables() };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
