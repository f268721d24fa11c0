//! What the monitors of `vigie apply` depend on, by key and id, and whether that closes a circle.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::bulk_change::ErrorCollector;
use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::schema::dependency_circle::{describe_circle, find_circle};
use crate::schema::validation_context::MonitorLookup;
use crate::syntax::ValidationErrorKind;

/// A monitor after the call: one that exists, or one that it creates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AppliedMonitor {
    Existing(MonitorId),
    New(Arc<str>),
}

impl fmt::Display for AppliedMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Existing(id) => id.fmt(f),
            Self::New(key) => key.fmt(f),
        }
    }
}

/// The stored dependencies of each monitor. Validation sees only that the monitors exist: this call may change them.
#[derive(Debug)]
pub(super) struct ExistingDependencies(HashMap<MonitorId, Vec<MonitorId>>);

impl ExistingDependencies {
    pub(super) fn from_monitors(monitors: &[Monitor]) -> Self {
        Self(monitors.iter().map(|monitor| (monitor.id, monitor.document.parent_ids())).collect())
    }

    fn stored_parents(&self, id: MonitorId) -> Vec<AppliedMonitor> {
        self.0.get(&id).into_iter().flatten().copied().map(AppliedMonitor::Existing).collect()
    }
}

impl MonitorLookup for ExistingDependencies {
    fn parents_of(&self, id: MonitorId) -> Option<Vec<MonitorId>> {
        self.0.contains_key(&id).then(Vec::new)
    }
}

/// Reports each circle of the monitors in `applied`, which are given with their label and what they depend on.
pub(super) fn report_circles(
    applied: &HashMap<AppliedMonitor, (String, Vec<AppliedMonitor>)>,
    existing_dependencies: &ExistingDependencies,
    collector: &mut ErrorCollector,
) {
    let parents_of = |monitor: &AppliedMonitor| match (applied.get(monitor), monitor) {
        (Some((_, parents)), _) => parents.clone(),
        (None, AppliedMonitor::Existing(id)) => existing_dependencies.stored_parents(*id),
        (None, AppliedMonitor::New(_)) => Vec::new(),
    };
    let mut starts: Vec<_> = applied.iter().filter(|(_, (_, parents))| !parents.is_empty()).collect();
    starts.sort_by(|(_, (a, _)), (_, (b, _))| a.cmp(b));
    let mut in_circle: HashSet<AppliedMonitor> = HashSet::new();
    for (monitor, (label, _)) in starts {
        if in_circle.contains(monitor) {
            continue;
        }
        if let Some(circle) = find_circle(monitor, parents_of) {
            let message = format!("`depends_on` closes a circle: {}", describe_circle(&circle));
            collector.add(label, ValidationErrorKind::Conflict, "depends_on", message);
            in_circle.extend(circle);
        }
    }
}
