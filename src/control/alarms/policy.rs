//! What a monitor and its account say of alerting, put together.

use std::time::Duration;

use crate::alert::Policy;
use crate::control::AccountFacts;
use crate::judge::certificate::ExpiryRule;
use crate::model::{LocationId, Mode, Monitor};
use crate::schedule::{RunPlan, Slots};

use super::AlarmSettings;
use super::watched::Rules;

/// The rules of this version of `monitor`.
pub(super) fn rules(monitor: &Monitor, facts: &AccountFacts, settings: AlarmSettings) -> Rules {
    let document = &monitor.document;
    let pool: Vec<LocationId> = facts.pool(monitor).into_iter().map(LocationId).collect();
    let plan = plan(monitor, pool);
    let expiry = ExpiryRule::of(document, facts.certificate_days);
    let policy = Policy {
        monitor_id: monitor.id,
        mode: document.text("mode").and_then(Mode::of_name).unwrap_or(Mode::GlobalVerify),
        home: plan.pool.first().copied().unwrap_or(LocationId(0)),
        plan,
        quorum: facts.quorum,
        notify_on_error: document.flag("notify_on_error"),
        notify_on_content_change: document.flag("notify_on_content_change"),
        notify_on_expiry: expiry != ExpiryRule::Disabled,
        traceroute: document.flag("traceroute_on_error"),
        no_data_runs: settings.no_data_runs,
    };
    Rules { policy, expiry }
}

/// Its runs over `pool`.
fn plan(monitor: &Monitor, mut pool: Vec<LocationId>) -> RunPlan {
    let document = &monitor.document;
    let mode = document.text("mode").and_then(Mode::of_name).unwrap_or(Mode::GlobalVerify);
    let rotates = document.flag("rotate_locations") && mode != Mode::Primary;
    let home = LocationId(document.number("home_location"));
    pool.sort_by_key(|location| *location != home);
    let per_run = match usize::try_from(document.number("monitor_location_count")) {
        Ok(count @ 1..) => count.min(pool.len()),
        _ => mode.own_count(pool.len(), rotates),
    };
    let offset = || Duration::from_secs(60 * document.number("monitor_offset").unsigned_abs());
    let offset = document.is_set("monitor_offset").then(offset);
    let attempts = if document.flag("retry_on_failure") { 2 } else { 1 };
    RunPlan {
        slots: Slots::new(monitor.id, monitor.interval(), offset),
        pool,
        per_run: per_run.max(1),
        rotates,
        staggered: mode == Mode::RoundRobin,
        longest: monitor.timeout() * attempts,
    }
}
