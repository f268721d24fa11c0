//! The pool of locations, and how many of it a run uses (behaviour.md 1 and 5, fields.md 3).

use serde_json::Value;

use super::super::reader::InputFormat;
use super::rule_context::RuleContext;
use crate::domain::{LocationId, LocationMode, MonitorType};

pub(super) fn check(bench: &mut RuleContext<'_>) {
    if !bench.are_valid(&["locations"]) {
        return;
    }
    if matches!(bench.document().monitor_type(), MonitorType::MobileCloud | MonitorType::MobileLab) {
        return;
    }
    let mode = bench.document().settings().location_mode;
    check_known(bench);
    check_home(bench);
    if bench.are_valid(&["mode"]) {
        check_minimum(bench, mode);
        check_rotation(bench, mode);
    }
    check_count(bench);
}

/// The monitor's own locations, or else the account's; empty when neither is known.
fn pool(bench: &RuleContext<'_>) -> Vec<i64> {
    let own: Vec<i64> = bench.document().location_ids().iter().map(|location| location.0).collect();
    if own.is_empty() { bench.context().default_locations.to_vec() } else { own }
}

fn check_known(bench: &mut RuleContext<'_>) {
    let own: Vec<_> = bench.document().list("locations").iter().map(|at| at.get("id").cloned()).collect();
    for (index, id) in own.iter().enumerate() {
        let Some(id) = id.as_ref().and_then(Value::as_i64) else { continue };
        let path = format!("locations[{index}].id");
        if bench.context().locations.is_some_and(|known| !known.contains(&id)) {
            bench.add_conflict(&path, format!("`{path}`: there is no location `{id}`"));
        }
        if own[..index].iter().flatten().any(|earlier| earlier.as_i64() == Some(id)) {
            bench.add_conflict(&path, format!("`{path}`: location `{id}` is in the list already"));
        }
    }
}

fn check_home(bench: &mut RuleContext<'_>) {
    let Some(LocationId(home)) = bench.document().settings().schedule.home_location else { return };
    let pool = pool(bench);
    if !pool.is_empty() && !pool.contains(&home) && bench.are_valid(&["home_location"]) {
        bench.add_conflict_with_hint(
            "home_location",
            format!("`home_location` must be one of the monitor's locations, not `{home}`"),
            format!("they are {}", join_ids(&pool)),
        );
    }
}

fn check_minimum(bench: &mut RuleContext<'_>, mode: LocationMode) {
    let pool = pool(bench);
    if matches!(mode, LocationMode::RoundRobin | LocationMode::MultiPop) && pool.len() == 1 {
        bench.add_conflict(
            "mode",
            format!("`mode` `{}` needs at least 2 locations, and there is 1", mode.name()),
        );
    }
}

fn check_rotation(bench: &mut RuleContext<'_>, mode: LocationMode) {
    let rotates = bench.document().settings().schedule.rotate_locations;
    if mode == LocationMode::Primary && rotates && bench.are_valid(&["rotate_locations"]) {
        let field = if bench.input.format == InputFormat::Legacy {
            "monitor_location_count"
        } else {
            "rotate_locations"
        };
        bench.add_conflict(field, format!("`{field}`: mode `Primary` has no rotation"));
    }
}

/// Version 3 takes 0 and what is stored now; the other forms up to the size of the pool.
fn check_count(bench: &mut RuleContext<'_>) {
    let count = bench.document().settings().schedule.monitor_location_count;
    if count == 0 || !bench.are_valid(&["monitor_location_count"]) {
        return;
    }
    let stored = bench.input.old.map_or(0, |old| old.settings().schedule.monitor_location_count);
    let pool = pool(bench).len();
    if bench.input.format == InputFormat::V3 {
        if count != stored {
            let message = format!("`monitor_location_count` must be `0`, not `{count}`");
            bench.add_conflict("monitor_location_count", message);
        }
    } else if pool > 0 && usize::from(count) > pool {
        let message = format!(
            "`monitor_location_count` must be at most {pool}, the number of locations, not `{count}`"
        );
        bench.add_conflict("monitor_location_count", message);
    }
}

fn join_ids(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
