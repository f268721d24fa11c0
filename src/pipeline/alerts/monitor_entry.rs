//! A monitor that is watched.

use std::sync::Arc;

use super::monitor_rules::{self, MonitorRules};
use super::settings::AlertEngineSettings;
use crate::alerting::{AlertContext, AlertState, Effect, LocationResult, MonitorHealth};
use crate::catalog::AccountFacts;
use crate::domain::{LocationId, Timestamp, Verification};
use crate::evaluate::page_comparison::PageBaseline;
use crate::schema::Monitor;

/// A monitor that is watched.
pub(super) struct MonitorEntry {
    /// Its version.
    pub(super) monitor: Monitor,
    /// Whether it is planned: neither disabled nor at rest.
    pub(super) active: bool,
    /// What is remembered of its runs.
    pub(super) state: AlertState,
    /// What it says of alerting, by which state of its account.
    pub(super) rules: Option<(u64, Arc<MonitorRules>)>,
    /// Whether the store has a watch of it.
    pub(super) has_stored_state: bool,
    /// The earliest timer that is set for it.
    pub(super) timer: Option<Timestamp>,
    /// The last good page at each location, where a change is told.
    pub(super) pages: Vec<(LocationId, Option<PageFingerprint>)>,
    /// The objects of the last page at each location, where they are compared; none where there was no page yet.
    pub(super) objects: Vec<(LocationId, Option<PageBaseline>)>,
    /// What was told last of how it is.
    pub(super) health: Option<MonitorHealth>,
}

/// What is remembered of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageFingerprint {
    /// Decoded bytes.
    pub(super) bytes: u64,
    /// The fingerprint of its text.
    pub(super) text: Option<String>,
}

/// What a decision is made by, beside the monitor.
#[derive(Clone, Copy)]
pub(super) struct InputContext<'a> {
    pub(super) facts: &'a AccountFacts,
    pub(super) offline_locations: &'a [LocationId],
    pub(super) now: Timestamp,
}

/// What happens to a watch.
pub(super) enum AlertInput {
    Result(LocationResult),
    Verification(Timestamp, Verification),
    Tick,
}

impl MonitorEntry {
    pub(super) fn new(monitor: Monitor) -> Self {
        Self {
            monitor,
            active: false,
            state: AlertState::default(),
            rules: None,
            has_stored_state: false,
            timer: None,
            pages: Vec::new(),
            objects: Vec::new(),
            health: None,
        }
    }

    /// Its rules, by `version` of what is known of its account.
    pub(super) fn rules(
        &mut self,
        facts: &AccountFacts,
        version: u64,
        settings: AlertEngineSettings,
    ) -> Arc<MonitorRules> {
        match &self.rules {
            Some((of, rules)) if *of == version => Arc::clone(rules),
            _ => {
                let rules = Arc::new(monitor_rules::monitor_rules(&self.monitor, facts, settings));
                self.rules = Some((version, Arc::clone(&rules)));
                rules
            }
        }
    }

    /// Lets the watch take it; answers what follows.
    pub(super) fn apply(
        &mut self,
        what: AlertInput,
        rules: &MonitorRules,
        moment: InputContext<'_>,
    ) -> Vec<Effect> {
        let cx = AlertContext {
            policy: &rules.policy,
            contacts: &moment.facts.contacts,
            calendar: &moment.facts.calendar,
            offline_locations: moment.offline_locations,
            now: moment.now,
        };
        match what {
            AlertInput::Result(result) => self.state.on_result(result, &cx),
            AlertInput::Verification(planned_at, answer) => {
                self.state.on_verification(planned_at, answer, &cx)
            }
            AlertInput::Tick => self.state.on_tick(&cx),
        }
    }
}
