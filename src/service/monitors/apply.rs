//! `vigie apply`: monitors of a folder on another machine, brought in line.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::audit_fields::{changed_document_fields, created_fields, removed_fields};
use super::bulk_change::FaultCollector;
use super::monitor_change::MonitorChange;
use super::monitor_context::MonitorContext;
use super::save::save_all;
use super::validation_context::AccountValidation;
use crate::domain::{CustomerId, MonitorId, MonitorType};
use crate::schema::reader::{InputFormat, SecretSource};
use crate::schema::validate::create_with;
use crate::schema::validation_context::{BillingPlan, ValidationContext};
use crate::schema::{Monitor, MonitorDocument, Origin};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::{ValidationErrorKind, display_value};

/// Fields at the top of an entry that are not the monitor's.
const ENVELOPE_FIELDS: &[&str] = &["key", "customer", "type"];

/// What the key of a monitor that an API made begins with, in what `vigie export` writes.
const API_KEY_PREFIX: &str = "api-";

/// A monitor as a file of `vigie apply` wants it.
#[derive(Clone, Debug)]
pub struct ApplyEntry {
    /// Unique over the files.
    pub key: String,
    /// Its type.
    pub kind: MonitorType,
    /// Its fields.
    pub body: Node,
}

/// How `vigie apply` goes about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Remove what an earlier apply made and `wanted` does not have.
    pub prune: bool,
}

/// What an apply did, or would do, to one monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedChange {
    /// Its key.
    pub key: String,
    /// Its number; `None` when it was not made.
    pub id: Option<MonitorId>,
    /// `create`, `change`, `remove` or `none`.
    pub action: &'static str,
    /// The fields that differ, as they were; secrets masked.
    pub before: Map<String, Value>,
    /// The same as they are to be.
    pub after: Map<String, Value>,
    /// What its author should know.
    pub warnings: Vec<String>,
}

/// `vigie apply`: brings the applied monitors of the caller's account in line with `wanted`, or only says
/// what it would do. All or nothing.
///
/// Each of `wanted` is the whole monitor: what it does not set has its default. A key that an earlier apply
/// made stays with its monitor; the key `api-7` takes over monitor 7, when an API made that. `prune` removes
/// what an earlier apply made or took over and `wanted` does not have. The answer has the changes in the
/// order of `wanted`, and the removed ones behind them.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit; [`ServiceError::Invalid`] with every fault of every
/// monitor, masked secrets among them; and as the store's.
pub async fn apply(
    context: &MonitorContext,
    caller: &Caller,
    entries: Vec<ApplyEntry>,
    options: ApplyOptions,
) -> Result<Vec<AppliedChange>, ServiceError> {
    let _lock = context.lock_exclusive().await;
    let validation = AccountValidation::new(context, caller).await?;
    let customer = caller.customer;
    let all = context
        .dependencies
        .monitors
        .list_from(MonitorId(0), usize::MAX, |monitor| monitor.customer == customer);
    let judged =
        tokio::task::spawn_blocking(move || decide_all(customer, &validation, &entries, all, options.prune));
    let stopped = |_| ServiceError::Unavailable("the server is shutting down".to_owned());
    let verdicts = judged.await.map_err(stopped)??;
    let (steps, mut changes): (Vec<_>, Vec<_>) =
        verdicts.into_iter().map(|verdict| (verdict.step, verdict.change)).unzip();
    if options.dry_run {
        return Ok(changes);
    }
    let (places, steps): (Vec<usize>, Vec<MonitorChange>) =
        steps.into_iter().enumerate().filter_map(|(place, step)| Some((place, step?))).unzip();
    let saved = save_all(context, caller, steps).await?;
    for (place, monitor) in places.into_iter().zip(saved) {
        changes[place].id = Some(monitor.id);
    }
    Ok(changes)
}

/// What is to become of one monitor.
struct ApplyDecision {
    /// `None` when it is as wanted.
    step: Option<MonitorChange>,
    change: AppliedChange,
}

/// The monitors of an account as an apply meets them.
struct ExistingMonitors {
    /// What an earlier apply made or took over, by key.
    applied: HashMap<Arc<str>, Monitor>,
    /// What an API made.
    api: HashMap<MonitorId, Monitor>,
}

impl ExistingMonitors {
    fn from_monitors(all: Vec<Monitor>) -> Self {
        let mut present = Self { applied: HashMap::new(), api: HashMap::new() };
        for monitor in all {
            match monitor.origin.clone() {
                Origin::Applied { key } => drop(present.applied.insert(key, monitor)),
                Origin::Api => drop(present.api.insert(monitor.id, monitor)),
                Origin::File { .. } => {}
            }
        }
        present
    }

    fn get(&self, key: &str) -> Option<&Monitor> {
        let made = || self.api.get(&MonitorId(key.strip_prefix(API_KEY_PREFIX)?.parse().ok()?));
        self.applied.get(key).or_else(made)
    }
}

fn decide_all(
    customer: CustomerId,
    validation: &AccountValidation,
    wanted: &[ApplyEntry],
    all: Vec<Monitor>,
    prune: bool,
) -> Result<Vec<ApplyDecision>, ServiceError> {
    let context = validation.schema_context();
    // How full a plan is depends on all that is made and removed here: it is judged when they are saved.
    let plans: Option<Vec<BillingPlan>> = context
        .plans
        .map(|plans| plans.iter().map(|plan| BillingPlan { max_monitors: None, ..plan.clone() }).collect());
    let context = ValidationContext { plans: plans.as_deref(), ..context };
    let present = ExistingMonitors::from_monitors(all);
    let (mut verdicts, mut faults, mut keys) = (Vec::new(), FaultCollector::default(), HashSet::new());
    for applied in wanted {
        let who = format!("monitor with key `{}`", applied.key);
        if !keys.insert(applied.key.as_str()) {
            faults.add(&who, ValidationErrorKind::DuplicateField, "key", "`key` stands here a second time");
        }
        let old = present.get(&applied.key);
        check_account(customer, applied, &who, &mut faults);
        if let Some(old) = old.filter(|old| old.monitor_type() != applied.kind) {
            let message =
                format!("`type` must stay `{}`; give the new monitor another key", old.monitor_type());
            faults.add(&who, ValidationErrorKind::Conflict, "type", message);
            continue;
        }
        match create_with(
            applied.kind,
            InputFormat::File,
            &applied.body,
            &context,
            &reject_files,
            ENVELOPE_FIELDS,
        ) {
            Ok(accepted) => verdicts.push(decide(applied, old, accepted.document, accepted.warnings)),
            Err(errors) => faults.add_all(&who, errors),
        }
    }
    faults.finish()?;
    if prune {
        let mut gone: Vec<_> =
            present.applied.into_iter().filter(|(key, _)| !keys.contains(key.as_ref())).collect();
        gone.sort_by_key(|(_, monitor)| monitor.id);
        verdicts.extend(gone.into_iter().map(|(key, old)| decide_removal(&key, old)));
    }
    Ok(verdicts)
}

fn decide(
    applied: &ApplyEntry,
    old: Option<&Monitor>,
    document: MonitorDocument,
    warnings: Vec<String>,
) -> ApplyDecision {
    let key = applied.key.clone();
    let origin = Origin::Applied { key: Arc::from(key.as_str()) };
    let Some(old) = old else {
        let (before, after) = (Map::new(), created_fields(&document));
        let step = MonitorChange::Create { action: "create", origin, document: Arc::new(document) };
        let change = AppliedChange { key, id: None, action: "create", before, after, warnings };
        return ApplyDecision { step: Some(step), change };
    };
    let same = *old.document == document;
    let (before, after) =
        if same { <_>::default() } else { changed_document_fields(&old.document, &document) };
    let action = if same { "none" } else { "change" };
    let (taken_over, metadata) = (old.origin != origin, (*old.metadata).clone());
    let step = (taken_over || action == "change").then(|| MonitorChange::Update {
        action: if taken_over { "adopt" } else { "change" },
        old: Box::new(old.clone()),
        document: Arc::new(document),
        metadata,
        origin: taken_over.then_some(origin),
    });
    ApplyDecision { step, change: AppliedChange { key, id: Some(old.id), action, before, after, warnings } }
}

fn decide_removal(key: &str, old: Monitor) -> ApplyDecision {
    let change = AppliedChange {
        key: key.to_owned(),
        id: Some(old.id),
        action: "remove",
        before: removed_fields(&old.document),
        after: Map::new(),
        warnings: Vec::new(),
    };
    ApplyDecision { step: Some(MonitorChange::Remove { old: Box::new(old) }), change }
}

/// An entry may name its account, but no other one.
fn check_account(customer: CustomerId, applied: &ApplyEntry, who: &str, faults: &mut FaultCollector) {
    if let Some(node) = applied.body.get("customer").filter(|node| node.value != NodeValue::Int(customer.0)) {
        let message = format!("`customer` must be `{customer}`, your account, not `{}`", display_value(node));
        faults.add(who, ValidationErrorKind::Conflict, "customer", message);
    }
}

/// Whoever applies reads files and variables of its own host before it sends what is in them.
fn reject_files(_: SecretSource<'_>) -> Result<String, String> {
    Err("the server reads no files and variables for its callers; send the value".to_owned())
}
