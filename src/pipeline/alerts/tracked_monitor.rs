//! A monitor that the alert engine tracks.

use std::sync::Arc;

use super::monitor_rules::{self, MonitorRules};
use super::settings::AlertEngineSettings;
use crate::alerting::{AlertContext, AlertState, Effect, LocationResult, MonitorHealth, ParentState};
use crate::catalog::AccountSnapshot;
use crate::domain::{LocationId, MonitorId, SecurityFinding, Timestamp, Verification};
use crate::evaluate::page_comparison::PageBaseline;
use crate::schema::Monitor;

/// A monitor that the alert engine tracks.
pub(super) struct TrackedMonitor {
    /// Its current revision.
    pub(super) monitor: Monitor,
    /// The monitors that it depends on.
    pub(super) parent_ids: Vec<MonitorId>,
    /// Whether it is planned: neither disabled nor paused.
    pub(super) is_active: bool,
    /// Its alert state.
    pub(super) alert_state: AlertState,
    /// Its alerting rules, with the version of the account snapshot that they come from.
    pub(super) cached_rules: Option<(u64, Arc<MonitorRules>)>,
    /// Whether the store has an alert state of it.
    pub(super) has_stored_state: bool,
    /// Its earliest timer.
    pub(super) next_timer_at: Option<Timestamp>,
    /// The last good page at each location, where changes are notified.
    pub(super) last_pages: Vec<(LocationId, Option<PageFingerprint>)>,
    /// The objects of the last page at each location, where they are compared; `None` when there was no page yet.
    pub(super) object_baselines: Vec<(LocationId, Option<PageBaseline>)>,
    /// The findings of the last security scan at each location; `None` when there was no scan yet.
    pub(super) last_scans: Vec<(LocationId, Option<Vec<SecurityFinding>>)>,
    /// Health that was published last.
    pub(super) published_health: Option<MonitorHealth>,
}

/// Identifies the content of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageFingerprint {
    /// Decoded size in bytes.
    pub(super) body_bytes: u64,
    /// Hash of its text.
    pub(super) text_hash: Option<String>,
}

/// Account, locations and time at which an input is applied.
#[derive(Clone, Copy)]
pub(super) struct InputContext<'a> {
    pub(super) account: &'a AccountSnapshot,
    pub(super) offline_locations: &'a [LocationId],
    /// The monitors that it depends on, without those that suppress nothing.
    pub(super) parents: &'a [ParentState],
    pub(super) now: Timestamp,
}

/// An input to an alert state.
pub(super) enum AlertInput {
    Result(LocationResult),
    /// The verification of the run planned at this time.
    Verification(Timestamp, Verification),
    /// The parents of the run planned at this time were checked; the monitors are those whose check failed.
    ParentsChecked(Timestamp, Vec<MonitorId>),
    /// A timer of the alert state is due.
    Tick,
}

impl TrackedMonitor {
    pub(super) fn new(monitor: Monitor) -> Self {
        Self {
            parent_ids: monitor.document.parent_ids(),
            monitor,
            is_active: false,
            alert_state: AlertState::default(),
            cached_rules: None,
            has_stored_state: false,
            next_timer_at: None,
            last_pages: Vec::new(),
            object_baselines: Vec::new(),
            last_scans: Vec::new(),
            published_health: None,
        }
    }

    /// Forgets the rules, which are built again for the next input.
    pub(super) fn clear_cached_rules(&mut self) {
        self.cached_rules = None;
    }

    /// Returns its rules for `account_version` of the account snapshot.
    pub(super) fn rules(
        &mut self,
        account: &AccountSnapshot,
        account_version: u64,
        settings: AlertEngineSettings,
    ) -> Arc<MonitorRules> {
        match &self.cached_rules {
            Some((cached_version, rules)) if *cached_version == account_version => Arc::clone(rules),
            _ => {
                let rules = Arc::new(monitor_rules::build_monitor_rules(&self.monitor, account, settings));
                self.cached_rules = Some((account_version, Arc::clone(&rules)));
                rules
            }
        }
    }

    /// Applies an input to the alert state; returns the effects.
    pub(super) fn apply_input(
        &mut self,
        input: AlertInput,
        rules: &MonitorRules,
        context: InputContext<'_>,
    ) -> Vec<Effect> {
        let alert_context = AlertContext {
            policy: &rules.policy,
            contacts: &context.account.contacts,
            blackout_calendar: &context.account.blackout_calendar,
            offline_locations: context.offline_locations,
            parents: context.parents,
            now: context.now,
        };
        match input {
            AlertInput::Result(result) => self.alert_state.on_result(result, &alert_context),
            AlertInput::Verification(planned_at, verification) => {
                self.alert_state.on_verification(planned_at, verification, &alert_context)
            }
            AlertInput::ParentsChecked(planned_at, failed_parents) => {
                self.alert_state.on_parents_checked(planned_at, failed_parents, &alert_context)
            }
            AlertInput::Tick => self.alert_state.on_tick(&alert_context),
        }
    }
}
