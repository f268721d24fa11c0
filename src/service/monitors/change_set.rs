//! The changes of one call: as the store takes them, as the audit trail tells them, and how they are undone.

use std::sync::Arc;

use super::context::MonitorParts;
use super::differences::{after_create, before_delete, differences};
use super::plan_places::Reserved;
use super::seal::seal;
use super::step::Step;
use crate::domain::{MonitorId, Revision, Timestamp};
use crate::pipeline::PlanError;
use crate::schema::{Document, Monitor, Origin, Trail};
use crate::service::caller::{Caller, Refusal, Via};
use crate::store::{AuditObject, ConfigChange, NewAuditEntry, NewMonitor, StoredMonitor};

/// What becomes of one step.
enum Outcome {
    /// New, once it has a number.
    New(Monitor),
    /// Another version: as it is to be, and as it was.
    Next(Monitor, Monitor),
    /// Nothing to do.
    Same(Monitor),
    /// Gone.
    Gone(Monitor),
}

/// All changes of a call, ready for the store.
#[derive(Default)]
pub(super) struct ChangeSet {
    outcomes: Vec<Outcome>,
    writes: Vec<ConfigChange>,
    audit: Vec<NewAuditEntry>,
    created: usize,
    /// What takes versions back, should nothing be planned any more.
    undo: Vec<ConfigChange>,
    undo_audit: Vec<NewAuditEntry>,
}

impl ChangeSet {
    pub(super) fn add(&mut self, parts: &MonitorParts, caller: &Caller, step: Step, now: Timestamp) {
        match step {
            Step::New { action, origin, document } => {
                let entry =
                    caller.entry(now, action, "monitor", AuditObject::Created(self.created), name(&document));
                self.audit.push(NewAuditEntry { after: after_create(&document), ..entry });
                self.created += 1;
                self.create(parts, caller, origin, document, now);
            }
            Step::Next { action, old, document, trail, origin } => {
                let same = *old.document == *document && old.trail.paused_until == trail.paused_until;
                if same && origin.is_none() {
                    self.outcomes.push(Outcome::Same(*old));
                    return;
                }
                let mut next = next(caller, &old, document, trail, now);
                next.origin = origin.unwrap_or(next.origin);
                let entry =
                    caller.entry(now, action, "monitor", AuditObject::Id(old.id.0), name(&next.document));
                let (before, after) = differences(&old, &next);
                let (undone_before, undone_after) = (after.clone(), before.clone());
                let undoing = undone(entry.clone());
                self.undo_audit.push(NewAuditEntry { before: undone_before, after: undone_after, ..undoing });
                self.audit.push(NewAuditEntry { before, after, ..entry });
                self.writes.push(put(parts, &next, old.revision));
                let back = Monitor { revision: Revision(next.revision.0 + 1), ..(*old).clone() };
                self.undo.push(put(parts, &back, next.revision));
                self.outcomes.push(Outcome::Next(next, *old));
            }
            Step::Gone { old } => {
                let entry =
                    caller.entry(now, "delete", "monitor", AuditObject::Id(old.id.0), name(&old.document));
                self.audit.push(NewAuditEntry { before: before_delete(&old.document), ..entry });
                self.writes.push(ConfigChange::RemoveMonitor { id: old.id, expected: old.revision });
                self.outcomes.push(Outcome::Gone(*old));
            }
        }
    }

    fn create(
        &mut self,
        parts: &MonitorParts,
        caller: &Caller,
        origin: Origin,
        document: Arc<Document>,
        now: Timestamp,
    ) {
        let mut trail = Trail {
            created_at: Some(now),
            created_by: caller.login.to_string(),
            modified_by: caller.login.to_string(),
            ..Trail::default()
        };
        if document.is_set("script") {
            script_changed(&mut trail, caller, now);
        }
        let customer = caller.customer;
        self.writes.push(ConfigChange::CreateMonitor(NewMonitor {
            customer,
            origin: origin.clone(),
            modified_at: now,
            authorship: trail.clone(),
            document: Arc::clone(&document),
            sealed: seal(&parts.vault, customer, &document),
        }));
        self.outcomes.push(Outcome::New(Monitor {
            id: MonitorId(0),
            customer,
            origin,
            revision: Revision(1),
            modified_at: now,
            document,
            trail: Arc::new(trail),
        }));
    }

    pub(super) async fn keep(
        mut self,
        parts: &MonitorParts,
        caller: &Caller,
        mut reserved: Reserved,
    ) -> Result<Vec<Monitor>, Refusal> {
        let (writes, audit) = (std::mem::take(&mut self.writes), std::mem::take(&mut self.audit));
        if !writes.is_empty() {
            // Asked before anything is kept: a runner that ended already takes nothing.
            parts.planner.plan(Vec::new(), Vec::new()).await.map_err(stopped)?;
            let ids = parts.ledger.write_changes(writes, audit).await?;
            self.number(ids);
        }
        let (mut puts, mut removed) = (Vec::new(), Vec::new());
        for outcome in &self.outcomes {
            match outcome {
                Outcome::New(monitor) | Outcome::Next(monitor, _) => puts.push(monitor.clone()),
                Outcome::Gone(monitor) => removed.push(monitor.id),
                Outcome::Same(_) => {}
            }
        }
        if !puts.is_empty() || !removed.is_empty() {
            let planned = parts.planner.plan(puts.clone(), removed.clone()).await;
            // What is gone is not run by a runner that ended, either.
            if let Err(error) = planned
                && !puts.is_empty()
            {
                self.take_back(parts, caller).await;
                return Err(stopped(error));
            }
        }
        reserved.settle(|| parts.roster.change(puts, &removed));
        Ok(self.outcomes.into_iter().map(Outcome::monitor).collect())
    }

    fn number(&mut self, ids: Vec<i64>) {
        let new = self.outcomes.iter_mut().filter_map(|outcome| match outcome {
            Outcome::New(monitor) => Some(monitor),
            _ => None,
        });
        for (monitor, id) in new.zip(ids) {
            monitor.id = MonitorId(id);
        }
    }

    /// The runner ended while this was kept: nothing of it is to stay, but monitors that are gone.
    async fn take_back(self, parts: &MonitorParts, caller: &Caller) {
        let (mut undo, mut audit, mut back) = (self.undo, self.undo_audit, Vec::new());
        for outcome in self.outcomes {
            match outcome {
                Outcome::New(monitor) => {
                    let (id, at) = (AuditObject::Id(monitor.id.0), monitor.modified_at);
                    audit.push(undone(caller.entry(at, "undo", "monitor", id, monitor.name())));
                    undo.push(ConfigChange::RemoveMonitor { id: monitor.id, expected: monitor.revision });
                }
                Outcome::Next(next, old) => {
                    back.push(Monitor { revision: Revision(next.revision.0 + 1), ..old });
                }
                Outcome::Same(_) | Outcome::Gone(_) => {}
            }
        }
        match parts.ledger.write_changes(undo, audit).await {
            Ok(_) => parts.roster.change(back, &[]),
            Err(error) => {
                tracing::error!(error = %error, "a change that came with the end of the server stays kept");
            }
        }
    }
}

impl Outcome {
    fn monitor(self) -> Monitor {
        match self {
            Self::New(monitor) | Self::Next(monitor, _) | Self::Same(monitor) | Self::Gone(monitor) => {
                monitor
            }
        }
    }
}

/// The version of `old` that has `document` and `trail`.
fn next(
    caller: &Caller,
    old: &Monitor,
    document: Arc<Document>,
    mut trail: Trail,
    now: Timestamp,
) -> Monitor {
    caller.login.as_ref().clone_into(&mut trail.modified_by);
    if old.document.script() != document.script() {
        script_changed(&mut trail, caller, now);
    }
    Monitor {
        revision: Revision(old.revision.0 + 1),
        modified_at: now,
        document,
        trail: Arc::new(trail),
        ..old.clone()
    }
}

fn script_changed(trail: &mut Trail, caller: &Caller, now: Timestamp) {
    trail.script_created.get_or_insert(now);
    trail.script_modified = Some(now);
    caller.login.as_ref().clone_into(&mut trail.script_modified_by);
}

/// The secrets of a file's monitor stay with its file.
fn put(parts: &MonitorParts, monitor: &Monitor, expected: Revision) -> ConfigChange {
    let sealed = match monitor.origin {
        Origin::File { .. } => None,
        _ => seal(&parts.vault, monitor.customer, &monitor.document),
    };
    let kept = StoredMonitor { monitor: monitor.clone(), sealed };
    ConfigChange::UpdateMonitor { monitor: Box::new(kept), expected }
}

fn undone(entry: NewAuditEntry) -> NewAuditEntry {
    NewAuditEntry { entry_point: Via::Server.name(), action: "undo", ..entry }
}

fn name(document: &Document) -> &str {
    document.name()
}

fn stopped(error: PlanError) -> Refusal {
    Refusal::Unavailable(error.to_string())
}
