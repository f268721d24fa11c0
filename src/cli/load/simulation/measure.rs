//! Unit costs of this host.

use std::time::Duration;

use anyhow::{Context, anyhow};

use super::cluster_plan::ClusterPlan;
use super::unit_costs::MeasuredCosts;
use crate::bus::messages::{BusMessage, ResultMessage};
use crate::cli::load::pipeline::{LoadPipeline, LoadStore, build_monitors};
use crate::cli::load::process_usage::{cpu_time, resident_bytes};
use crate::cli::load::targets::{LoadTargets, no_target_error};
use crate::clock::{Clock, SystemClock};

/// Monitors that run while costs are measured, and their interval.
const MONITORS: u32 = 50_000;
const INTERVAL_SECONDS: u32 = 60;
/// How long they run before, and while it is measured.
const WARM_UP: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_secs(6);
/// Most time to wait for running checks and for what is not stored yet.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(1);

/// Runs monitors of the type of `plan` for a few seconds.
pub(super) async fn measure_costs(plan: &ClusterPlan) -> anyhow::Result<MeasuredCosts> {
    let targets = LoadTargets::start_responder().await?;
    if targets.monitor_fields(plan.monitor_type, 0).is_none() {
        return Err(no_target_error(plan.monitor_type));
    }
    let mut settings = plan.settings.load_settings()?;
    targets.trust_target_ca(&mut settings);
    let store = LoadStore::open(None, settings.store.cache_bytes)?;
    let pipeline = LoadPipeline::start(&settings, &store)?;
    let memory_before = resident_bytes();
    let monitors = build_monitors(&targets, plan.monitor_type, MONITORS, INTERVAL_SECONDS, &settings)?;
    let start = SystemClock.now() + WARM_UP;
    pipeline.run_counter.set_measured_window(start..start + MEASURED);
    pipeline.plan_assignments(monitors.assignments).await?;
    let memory = resident_bytes().saturating_sub(memory_before);
    SystemClock.sleep(start.since(SystemClock.now())).await;
    let cpu_before = cpu_time();
    SystemClock.sleep(MEASURED).await;
    let cpu = cpu_time().saturating_sub(cpu_before);
    let totals = pipeline.drain_and_stop(DRAIN_TIMEOUT).await?;
    // A controller keeps the documents too: they count until here.
    drop(monitors.documents);
    let result = totals.first_result.context("no check ended while costs were measured")?;
    let encoded = ResultMessage::from_result(&result).and_then(|message| message.to_bytes());
    Ok(MeasuredCosts {
        agent_cpu_us: cpu.as_secs_f64() * 1e6 / totals.executed_checks.max(1) as f64,
        waiting_bytes: encoded.map_err(|error| anyhow!("a result cannot be encoded: {error}"))?.len() as f64,
        monitor_bytes: memory as f64 / f64::from(MONITORS),
    })
}
