//! Rules for the pool of locations, and for how many of them a run uses (behaviour.md 1 and 5, fields.md 3).

use serde_json::Value;

use super::super::reader::InputFormat;
use super::rule_context::RuleContext;
use crate::domain::{LocationId, LocationMode, MonitorType};

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if !cx.are_valid(&["locations"]) {
        return;
    }
    if matches!(cx.document().monitor_type(), MonitorType::MobileCloud | MonitorType::MobileLab) {
        return;
    }
    let mode = cx.document().settings().location_mode;
    check_location_ids(cx);
    check_home_location(cx);
    if cx.are_valid(&["mode"]) {
        check_min_locations(cx, mode);
        check_rotation(cx, mode);
    }
    check_location_count(cx);
}

/// Returns the monitor's own locations, or else those of the account; empty when neither is known.
fn location_pool(cx: &RuleContext<'_>) -> Vec<i64> {
    let own_ids: Vec<i64> = cx.document().location_ids().iter().map(|location| location.0).collect();
    if own_ids.is_empty() { cx.context().default_location_ids.to_vec() } else { own_ids }
}

fn check_location_ids(cx: &mut RuleContext<'_>) {
    let ids: Vec<_> =
        cx.document().list("locations").iter().map(|location| location.get("id").cloned()).collect();
    for (index, id) in ids.iter().enumerate() {
        let Some(id) = id.as_ref().and_then(Value::as_i64) else { continue };
        let path = format!("locations[{index}].id");
        let is_accepted = cx.context().stored_locations_are_unknown && LocationId(id).is_stored();
        if !is_accepted && cx.context().location_ids.is_some_and(|known_ids| !known_ids.contains(&id)) {
            cx.add_conflict(&path, format!("`{path}`: location `{id}` does not exist"));
        }
        if ids[..index].iter().flatten().any(|earlier| earlier.as_i64() == Some(id)) {
            cx.add_conflict(&path, format!("`{path}`: location `{id}` is in the list already"));
        }
    }
}

fn check_home_location(cx: &mut RuleContext<'_>) {
    let Some(LocationId(home)) = cx.document().settings().schedule.home_location else { return };
    let pool = location_pool(cx);
    if !pool.is_empty() && !pool.contains(&home) && cx.are_valid(&["home_location"]) {
        cx.add_conflict_with_hint(
            "home_location",
            format!("`home_location` must be one of the monitor's locations, not `{home}`"),
            format!("they are {}", join_ids(&pool)),
        );
    }
}

fn check_min_locations(cx: &mut RuleContext<'_>, mode: LocationMode) {
    let pool = location_pool(cx);
    if matches!(mode, LocationMode::RoundRobin | LocationMode::MultiPop) && pool.len() == 1 {
        cx.add_conflict(
            "mode",
            format!("`mode` `{}` needs at least 2 locations, and there is 1", mode.name()),
        );
    }
}

fn check_rotation(cx: &mut RuleContext<'_>, mode: LocationMode) {
    let rotates = cx.document().settings().schedule.rotate_locations;
    if mode == LocationMode::Primary && rotates && cx.are_valid(&["rotate_locations"]) {
        let field = if cx.input.format == InputFormat::Legacy {
            "monitor_location_count"
        } else {
            "rotate_locations"
        };
        cx.add_conflict(field, format!("`{field}`: mode `Primary` has no rotation"));
    }
}

/// Checks the count: version 3 accepts 0 and the stored value; the other formats accept up to the size of the pool.
fn check_location_count(cx: &mut RuleContext<'_>) {
    let count = cx.document().settings().schedule.locations_per_run;
    if count == 0 || !cx.are_valid(&["monitor_location_count"]) {
        return;
    }
    let previous_count = cx.input.previous.map_or(0, |old| old.settings().schedule.locations_per_run);
    let pool_size = location_pool(cx).len();
    if cx.input.format == InputFormat::V3 {
        if count != previous_count {
            let message = format!("`monitor_location_count` must be `0`, not `{count}`");
            cx.add_conflict("monitor_location_count", message);
        }
    } else if pool_size > 0 && usize::from(count) > pool_size {
        let message = format!(
            "`monitor_location_count` must be at most {pool_size}, the number of locations, not `{count}`"
        );
        cx.add_conflict("monitor_location_count", message);
    }
}

fn join_ids(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
