//! The way of every change: sealed, kept with its audit entry, planned, into the roster.

use crate::sync::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::differences::{after_create, before_delete, differences};
use super::fleet::{Fleet, FleetParts};
use super::seal::seal;
use crate::catalog::AccountFacts;
use crate::domain::{CustomerId, MonitorId, Revision, Right, Role, Timestamp};
use crate::pipeline::PlanError;
use crate::schema::validation_context::{Plan, Surroundings};
use crate::schema::{Document, Monitor, Origin, Trail};
use crate::service::caller::{Caller, Refusal, Via};
use crate::store::{AuditEntry, AuditObject, KeptMonitor, NewMonitor, Write};
use crate::syntax::source::Place;
use crate::syntax::{FieldFault, Rule};

/// A change that was judged.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A new monitor of the caller's account.
    New {
        /// The word of the audit trail: `create`, `clone`, …
        action: &'static str,
        /// [`Origin::Api`] or [`Origin::Applied`].
        origin: Origin,
        /// Its fields, secrets revealed.
        document: Arc<Document>,
    },
    /// A new version of a monitor. Without a difference nothing is kept, and the version stays.
    Next {
        /// The word of the audit trail: `change`, `bulk-edit`, …
        action: &'static str,
        /// As it is in the roster.
        old: Box<Monitor>,
        /// Its fields to be, secrets revealed.
        document: Arc<Document>,
        /// Its trail to be; [`Fleet::save_all`] sets who changed it and its script.
        trail: Trail,
        /// Where it is written down from now on, if that changes: a new version even when nothing else differs.
        origin: Option<Origin>,
    },
    /// The end of a monitor.
    Gone {
        /// As it is in the roster.
        old: Box<Monitor>,
    },
}

/// How many monitors are being made, by account and plan.
pub(super) type Pending = Arc<Mutex<HashMap<(CustomerId, String), usize>>>;

/// What a monitor is judged by: the account of the caller, as it is now.
pub(super) struct Scene {
    facts: Arc<AccountFacts>,
    plans: Option<Vec<Plan>>,
    role: Role,
}

impl Scene {
    /// What is known of the account.
    pub(super) fn facts(&self) -> &AccountFacts {
        &self.facts
    }

    /// As the rules take it.
    pub(super) fn around(&self) -> Surroundings<'_> {
        Surroundings { plans: self.plans.as_deref(), ..self.facts.surroundings(self.role) }
    }
}

impl Fleet {
    /// What monitors of `caller` are judged by; refuses callers that may not edit. To be asked for while the
    /// turn is held, so that plans are counted as they stay.
    pub(super) async fn scene(&self, caller: &Caller) -> Result<Scene, Refusal> {
        caller.require(Right::Edit)?;
        let facts = self.parts.directory.facts(caller.customer).await?;
        let plans = self.plans(caller, &facts);
        Ok(Scene { facts, plans, role: caller.role })
    }

    /// Keeps all of `steps` or none, with an audit entry each, plans them and takes them into the roster. The
    /// caller of this holds [`Fleet::alone`], or [`Fleet::beside`] when all of `steps` are new. Answers the
    /// monitors as they are now, in the order of `steps`; of those that are gone, their last version.
    ///
    /// # Errors
    /// [`Refusal::Faults`] when a plan is full, [`Refusal::Unavailable`] when nothing is planned any more, and
    /// as the store's. Nothing was changed then.
    pub(super) async fn save_all(&self, caller: &Caller, steps: Vec<Step>) -> Result<Vec<Monitor>, Refusal> {
        let facts = self.parts.directory.facts(caller.customer).await?;
        let reserved = self.reserve(caller.customer, &facts, &steps)?;
        let now = self.parts.clock.now();
        let mut sheet = Sheet::default();
        for (place, step) in steps.into_iter().enumerate() {
            if place % 128 == 127 {
                // Thousands of them leave others their turn.
                tokio::task::yield_now().await;
            }
            sheet.add(&self.parts, caller, step, now);
        }
        let (parts, caller) = (self.parts.clone(), caller.clone());
        // A task of its own: a caller that goes away in the middle leaves nothing half done.
        let saving = tokio::spawn(async move { sheet.keep(&parts, &caller, reserved).await });
        saving.await.map_err(|_| Refusal::Unavailable("the server is shutting down".to_owned()))?
    }

    /// The plans of the settings with the number of monitors that the caller's account has under each, for
    /// `Surroundings::plans`.
    pub(super) fn plans(&self, caller: &Caller, facts: &AccountFacts) -> Option<Vec<Plan>> {
        let plans = facts.common.plans.as_ref()?;
        let pending = self.pending.lock();
        let counted = |plan: &Plan| {
            let making = pending.get(&(caller.customer, plan.code.clone())).copied().unwrap_or_default();
            let monitors = self.parts.roster.under_plan(caller.customer, &plan.code) + making;
            Plan { monitors, ..plan.clone() }
        };
        Some(plans.iter().map(counted).collect())
    }

    /// Takes places under the plans that `steps` need; refuses when there are not so many.
    fn reserve(
        &self,
        customer: CustomerId,
        facts: &AccountFacts,
        steps: &[Step],
    ) -> Result<Reserved, Refusal> {
        let mut reserved =
            Reserved { pending: Arc::clone(&self.pending), customer, places: BTreeMap::default() };
        let Some(plans) = &facts.common.plans else { return Ok(reserved) };
        let code = |document: &Document| document.billing_plancode().to_owned();
        let mut wanted: BTreeMap<String, i64> = BTreeMap::new();
        for step in steps {
            match step {
                Step::New { document, .. } => *wanted.entry(code(document)).or_default() += 1,
                Step::Next { old, document, .. } => {
                    *wanted.entry(code(document)).or_default() += 1;
                    *wanted.entry(code(&old.document)).or_default() -= 1;
                }
                Step::Gone { old } => *wanted.entry(code(&old.document)).or_default() -= 1,
            }
        }
        let mut pending = self.pending.lock();
        for (code, count) in wanted {
            let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else { continue };
            let most = plans.iter().find(|plan| plan.code == code).and_then(|plan| plan.most_monitors);
            let making = pending.entry((customer, code.clone())).or_default();
            let there = self.parts.roster.under_plan(customer, &code) + *making;
            if let Some(most) = most.filter(|most| there + count > *most) {
                // Before the lock is asked for again by giving back what was taken.
                drop(pending);
                let message = format!("`billing_plancode`: plan `{code}` is full with {most} monitors");
                let fault = FieldFault::new(Rule::Conflict, "billing_plancode", Place::default(), message);
                return Err(Refusal::Faults(vec![fault.given(code)]));
            }
            *making += count;
            reserved.places.insert(code, count);
        }
        drop(pending);
        Ok(reserved)
    }
}

/// Places under plans; given back when dropped, by when the roster counts what took them.
struct Reserved {
    pending: Pending,
    customer: CustomerId,
    places: BTreeMap<String, usize>,
}

impl Reserved {
    /// Lets the roster count instead, without a moment between in which both do or neither.
    fn settle(&mut self, roster: impl FnOnce()) {
        let mut pending = self.pending.lock();
        roster();
        give_back(&mut pending, self.customer, std::mem::take(&mut self.places));
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.settle(|| {});
    }
}

fn give_back(
    pending: &mut HashMap<(CustomerId, String), usize>,
    customer: CustomerId,
    places: BTreeMap<String, usize>,
) {
    for (code, count) in places {
        let key = (customer, code);
        if let Some(making) = pending.get_mut(&key) {
            *making = making.saturating_sub(count);
            if *making == 0 {
                pending.remove(&key);
            }
        }
    }
}

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

/// All steps of a call, ready for the store.
#[derive(Default)]
struct Sheet {
    outcomes: Vec<Outcome>,
    writes: Vec<Write>,
    audit: Vec<AuditEntry>,
    created: usize,
    /// What takes versions back, should nothing be planned any more.
    undo: Vec<Write>,
    undo_audit: Vec<AuditEntry>,
}

impl Sheet {
    fn add(&mut self, parts: &FleetParts, caller: &Caller, step: Step, now: Timestamp) {
        match step {
            Step::New { action, origin, document } => {
                let entry =
                    caller.entry(now, action, "monitor", AuditObject::Created(self.created), name(&document));
                self.audit.push(AuditEntry { after: after_create(&document), ..entry });
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
                self.undo_audit.push(AuditEntry { before: undone_before, after: undone_after, ..undoing });
                self.audit.push(AuditEntry { before, after, ..entry });
                self.writes.push(put(parts, &next, old.revision));
                let back = Monitor { revision: Revision(next.revision.0 + 1), ..(*old).clone() };
                self.undo.push(put(parts, &back, next.revision));
                self.outcomes.push(Outcome::Next(next, *old));
            }
            Step::Gone { old } => {
                let entry =
                    caller.entry(now, "delete", "monitor", AuditObject::Id(old.id.0), name(&old.document));
                self.audit.push(AuditEntry { before: before_delete(&old.document), ..entry });
                self.writes.push(Write::RemoveMonitor { id: old.id, expected: old.revision });
                self.outcomes.push(Outcome::Gone(*old));
            }
        }
    }

    fn create(
        &mut self,
        parts: &FleetParts,
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
        self.writes.push(Write::CreateMonitor(NewMonitor {
            customer,
            origin: origin.clone(),
            modified_at: now,
            trail: trail.clone(),
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

    async fn keep(
        mut self,
        parts: &FleetParts,
        caller: &Caller,
        mut reserved: Reserved,
    ) -> Result<Vec<Monitor>, Refusal> {
        let (writes, audit) = (std::mem::take(&mut self.writes), std::mem::take(&mut self.audit));
        if !writes.is_empty() {
            // Asked before anything is kept: a runner that ended already takes nothing.
            parts.planner.plan(Vec::new(), Vec::new()).await.map_err(stopped)?;
            let ids = parts.ledger.write(writes, audit).await?;
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
    async fn take_back(self, parts: &FleetParts, caller: &Caller) {
        let (mut undo, mut audit, mut back) = (self.undo, self.undo_audit, Vec::new());
        for outcome in self.outcomes {
            match outcome {
                Outcome::New(monitor) => {
                    let (id, at) = (AuditObject::Id(monitor.id.0), monitor.modified_at);
                    audit.push(undone(caller.entry(at, "undo", "monitor", id, monitor.name())));
                    undo.push(Write::RemoveMonitor { id: monitor.id, expected: monitor.revision });
                }
                Outcome::Next(next, old) => {
                    back.push(Monitor { revision: Revision(next.revision.0 + 1), ..old });
                }
                Outcome::Same(_) | Outcome::Gone(_) => {}
            }
        }
        match parts.ledger.write(undo, audit).await {
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
fn put(parts: &FleetParts, monitor: &Monitor, expected: Revision) -> Write {
    let sealed = match monitor.origin {
        Origin::File { .. } => None,
        _ => seal(&parts.vault, monitor.customer, &monitor.document),
    };
    let kept = KeptMonitor { monitor: monitor.clone(), sealed };
    Write::PutMonitor { kept: Box::new(kept), expected }
}

fn undone(entry: AuditEntry) -> AuditEntry {
    AuditEntry { via: Via::Server.name(), action: "undo", ..entry }
}

fn name(document: &Document) -> &str {
    document.name()
}

fn stopped(error: PlanError) -> Refusal {
    Refusal::Unavailable(error.to_string())
}
