//! `vigie apply`: synchronizes monitors with files on another machine.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::account_validation::AccountValidationContext;
use super::apply_dependencies::{AppliedMonitor, ExistingDependencies, report_circles};
use super::audit_fields::{changed_document_fields, created_fields, removed_fields};
use super::bulk_change::ErrorCollector;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::save_changes;
use crate::domain::{CustomerId, MonitorId, MonitorType};
use crate::schema::file_dependencies::add_parents;
use crate::schema::parent_keys::split_parent_keys;
use crate::schema::reader::{InputFormat, SecretSource};
use crate::schema::validate::validate_new_with_secrets;
use crate::schema::validation_context::{BillingPlan, ValidationContext};
use crate::schema::{Monitor, MonitorDocument, Origin};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::{ValidationErrorKind, display_value, truncate_value};

/// Top-level fields of an entry that are not part of the monitor.
const ENVELOPE_FIELDS: &[&str] = &["key", "customer", "type"];

/// Prefix of the key that `vigie export` writes for a monitor created through an API.
const API_MONITOR_KEY_PREFIX: &str = "api-";

/// A monitor as defined in a file of `vigie apply`.
#[derive(Clone, Debug)]
pub struct MonitorDefinition {
    /// Its key, unique over the files.
    pub key: String,
    /// Its type.
    pub monitor_type: MonitorType,
    /// Its fields.
    pub body: Node,
}

/// Options of `vigie apply`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyOptions {
    /// Report what would be done without doing it.
    pub dry_run: bool,
    /// Remove monitors that an earlier apply created and the entries do not contain.
    pub prune: bool,
}

/// What `vigie apply` did to one monitor, or would do in a dry run.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedChange {
    /// Its key.
    pub key: String,
    /// Its id; `None` when it was not created.
    pub id: Option<MonitorId>,
    /// `create`, `change`, `remove` or `none`.
    pub action: &'static str,
    /// The fields that differ, with their previous values; secrets masked.
    pub before: Map<String, Value>,
    /// The same fields with their new values.
    pub after: Map<String, Value>,
    /// Warnings for its author.
    pub warnings: Vec<String>,
}

/// `vigie apply`: synchronizes the applied monitors of the caller's account with `entries`, or only reports the
/// changes. All or nothing.
///
/// Each entry is the whole monitor: fields that it does not set have their defaults. A key from an earlier apply stays
/// with its monitor; the key `api-7` takes over monitor 7 if it was created through an API. `prune` removes monitors
/// that an earlier apply created or took over and `entries` does not contain. Returns the changes in the order of
/// `entries`, followed by the removed monitors.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit; [`ServiceError::Invalid`] with every error of every
/// monitor, including masked secrets; errors of the store.
pub async fn apply(
    service: &MonitorService,
    caller: &Caller,
    entries: Vec<MonitorDefinition>,
    options: ApplyOptions,
) -> Result<Vec<AppliedChange>, ServiceError> {
    let _lock = service.lock_exclusive().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    let customer = caller.customer;
    let existing = service
        .dependencies
        .monitor_cache
        .list_from(MonitorId(0), usize::MAX, |monitor| monitor.customer == customer);
    let decision_task = tokio::task::spawn_blocking(move || {
        decide_all(customer, &validation, &entries, existing, options.prune)
    });
    let server_stopping = |_| ServiceError::Unavailable("the server is shutting down".to_owned());
    let decisions = decision_task.await.map_err(server_stopping)??;
    let new_parents: Vec<(String, Vec<Arc<str>>)> = decisions
        .iter()
        .filter(|decision| !decision.new_parents.is_empty())
        .map(|decision| (decision.applied_change.key.clone(), decision.new_parents.clone()))
        .collect();
    let (monitor_changes, mut changes): (Vec<_>, Vec<_>) =
        decisions.into_iter().map(|decision| (decision.monitor_change, decision.applied_change)).unzip();
    if options.dry_run {
        return Ok(changes);
    }
    let (indexes, monitor_changes): (Vec<usize>, Vec<MonitorChange>) = monitor_changes
        .into_iter()
        .enumerate()
        .filter_map(|(index, monitor_change)| Some((index, monitor_change?)))
        .unzip();
    let saved = save_changes(service, caller, monitor_changes).await?;
    for (index, monitor) in indexes.into_iter().zip(saved) {
        changes[index].id = Some(monitor.id);
    }
    save_new_parents(service, caller, new_parents, &changes).await?;
    Ok(changes)
}

/// Makes monitors depend on those that this call has created, in a second write: their ids were not known before.
async fn save_new_parents(
    service: &MonitorService,
    caller: &Caller,
    new_parents: Vec<(String, Vec<Arc<str>>)>,
    changes: &[AppliedChange],
) -> Result<(), ServiceError> {
    let ids: HashMap<&str, MonitorId> =
        changes.iter().filter_map(|change| Some((change.key.as_str(), change.id?))).collect();
    let mut monitor_changes = Vec::with_capacity(new_parents.len());
    for (key, parents) in new_parents {
        let monitor = ids.get(key.as_str()).and_then(|id| service.find(caller.customer, *id));
        let Some(old) = monitor else { continue };
        let parents = parents.iter().filter_map(|key| ids.get(key.as_ref()).copied());
        monitor_changes.push(MonitorChange::Update {
            audit_action: "change",
            document: Arc::new(add_parents(&old.document, parents)?),
            metadata: (*old.metadata).clone(),
            old: Box::new(old),
            new_origin: None,
        });
    }
    if !monitor_changes.is_empty() {
        save_changes(service, caller, monitor_changes).await?;
    }
    Ok(())
}

/// The decision about one monitor.
struct ApplyDecision {
    /// `None` when it is up to date.
    monitor_change: Option<MonitorChange>,
    applied_change: AppliedChange,
    /// Keys of new monitors that it depends on.
    new_parents: Vec<Arc<str>>,
}

/// The existing monitors of an account.
struct ExistingMonitors {
    /// Created or taken over by an earlier apply, by key.
    applied_by_key: HashMap<Arc<str>, Monitor>,
    /// Created through an API.
    api_created_by_id: HashMap<MonitorId, Monitor>,
    /// Ids of those defined in files of the server, which others may depend on.
    file_ids_by_key: HashMap<Arc<str>, MonitorId>,
}

impl ExistingMonitors {
    fn from_monitors(monitors: Vec<Monitor>) -> Self {
        let mut existing = Self {
            applied_by_key: HashMap::new(),
            api_created_by_id: HashMap::new(),
            file_ids_by_key: HashMap::new(),
        };
        for monitor in monitors {
            match monitor.origin.clone() {
                Origin::Applied { key } => drop(existing.applied_by_key.insert(key, monitor)),
                Origin::Api => drop(existing.api_created_by_id.insert(monitor.id, monitor)),
                Origin::File { key } => drop(existing.file_ids_by_key.insert(key, monitor.id)),
            }
        }
        existing
    }

    /// Returns the monitor of an earlier apply with this key, or else the one whose id the key `api-7` names.
    fn find_for_key(&self, key: &str) -> Option<&Monitor> {
        let api_created = || {
            self.api_created_by_id.get(&MonitorId(key.strip_prefix(API_MONITOR_KEY_PREFIX)?.parse().ok()?))
        };
        self.applied_by_key.get(key).or_else(api_created)
    }
}

/// What an entry depends on beside the ids in it.
#[derive(Default)]
struct KeyedParents {
    /// Ids of the monitors that exist already.
    stored_ids: Vec<MonitorId>,
    /// Keys of the monitors that this call creates; they have no id yet.
    new_keys: Vec<Arc<str>>,
}

impl KeyedParents {
    /// Finds the monitors with `keys`: among the entries, those of an earlier apply that stay, those created through an
    /// API, and those of files.
    fn find(
        keys: &[String],
        own_key: &str,
        entry_keys: &HashSet<&str>,
        existing: &ExistingMonitors,
        prune: bool,
    ) -> Result<Self, String> {
        let mut found = Self::default();
        for key in keys {
            if key == own_key {
                return Err("`depends_on`: a monitor cannot depend on itself".to_owned());
            }
            let is_entry = entry_keys.contains(key.as_str());
            let stays = |monitor: &&Monitor| is_entry || !prune || monitor.origin == Origin::Api;
            let id = existing.find_for_key(key).filter(stays).map(|monitor| monitor.id);
            match id.or_else(|| existing.file_ids_by_key.get(key.as_str()).copied()) {
                Some(id) => found.stored_ids.push(id),
                None if is_entry => found.new_keys.push(Arc::from(key.as_str())),
                None => {
                    let key = truncate_value(key);
                    return Err(format!("`depends_on`: no monitor has the key `{key}`"));
                }
            }
        }
        Ok(found)
    }
}

/// Decides what to do with each of `entries`, and with `prune`, which monitors to remove. Fails with all errors.
fn decide_all(
    customer: CustomerId,
    validation: &AccountValidationContext,
    entries: &[MonitorDefinition],
    monitors: Vec<Monitor>,
    prune: bool,
) -> Result<Vec<ApplyDecision>, ServiceError> {
    let validation_context = validation.validation_context();
    // Quotas of plans depend on all changes of this call together, so they are checked when saving.
    let plans: Option<Vec<BillingPlan>> = validation_context
        .billing_plans
        .map(|plans| plans.iter().map(|plan| BillingPlan { max_monitors: None, ..plan.clone() }).collect());
    let existing_dependencies = ExistingDependencies::from_monitors(&monitors);
    let validation_context = ValidationContext {
        billing_plans: plans.as_deref(),
        monitors: Some(&existing_dependencies),
        ..validation_context
    };
    let existing = ExistingMonitors::from_monitors(monitors);
    let (mut decisions, mut collector, mut seen_keys) =
        (Vec::new(), ErrorCollector::default(), HashSet::new());
    let entry_keys: HashSet<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let mut dependencies = HashMap::new();
    for entry in entries {
        let label = format!("monitor with key `{}`", entry.key);
        if !seen_keys.insert(entry.key.as_str()) {
            collector.add(&label, ValidationErrorKind::DuplicateField, "key", "`key` is used more than once");
        }
        let old = existing.find_for_key(&entry.key);
        validate_customer_field(customer, entry, &label, &mut collector);
        if let Some(old) = old.filter(|old| old.monitor_type() != entry.monitor_type) {
            let message =
                format!("`type` must stay `{}`; give the new monitor another key", old.monitor_type());
            collector.add(&label, ValidationErrorKind::Conflict, "type", message);
            continue;
        }
        let (body, keys) = match split_parent_keys(&entry.body) {
            Some((body, keys)) => (Cow::Owned(body), keys.into_iter().map(|parent| parent.key).collect()),
            None => (Cow::Borrowed(&entry.body), Vec::new()),
        };
        let parents = KeyedParents::find(&keys, &entry.key, &entry_keys, &existing, prune);
        let parents = parents.unwrap_or_else(|message| {
            collector.add(&label, ValidationErrorKind::Conflict, "depends_on", message);
            KeyedParents::default()
        });
        match validate_new_with_secrets(
            entry.monitor_type,
            InputFormat::File,
            &body,
            &validation_context,
            &reject_secret_files,
            ENVELOPE_FIELDS,
        ) {
            Ok(validated) => {
                let document = if parents.stored_ids.is_empty() {
                    validated.document
                } else {
                    add_parents(&validated.document, parents.stored_ids)?
                };
                let applied = old.map_or_else(
                    || AppliedMonitor::New(Arc::from(entry.key.as_str())),
                    |old| AppliedMonitor::Existing(old.id),
                );
                let ids = document.parent_ids().into_iter().map(AppliedMonitor::Existing);
                let new_keys = parents.new_keys.iter().cloned().map(AppliedMonitor::New);
                dependencies.insert(applied, (label, ids.chain(new_keys).collect()));
                decisions.push(decide_entry(entry, old, document, validated.warnings, parents.new_keys));
            }
            Err(errors) => collector.add_all(&label, errors),
        }
    }
    report_circles(&dependencies, &existing_dependencies, &mut collector);
    collector.into_result()?;
    if prune {
        let mut removed: Vec<_> = existing
            .applied_by_key
            .into_iter()
            .filter(|(key, _)| !seen_keys.contains(key.as_ref()))
            .collect();
        removed.sort_by_key(|(_, monitor)| monitor.id);
        decisions.extend(removed.into_iter().map(|(key, old)| decide_removal(&key, old)));
    }
    Ok(decisions)
}

fn decide_entry(
    entry: &MonitorDefinition,
    old: Option<&Monitor>,
    document: MonitorDocument,
    warnings: Vec<String>,
    new_parents: Vec<Arc<str>>,
) -> ApplyDecision {
    let key = entry.key.clone();
    let origin = Origin::Applied { key: Arc::from(key.as_str()) };
    let Some(old) = old else {
        let (before, mut after) = (Map::new(), created_fields(&document));
        add_new_parent_keys(&mut after, &document, &new_parents);
        let monitor_change =
            MonitorChange::Create { audit_action: "create", origin, document: Arc::new(document) };
        let change = AppliedChange { key, id: None, action: "create", before, after, warnings };
        return ApplyDecision { monitor_change: Some(monitor_change), applied_change: change, new_parents };
    };
    let is_unchanged = *old.document == document;
    let (before, mut after) =
        if is_unchanged { <_>::default() } else { changed_document_fields(&old.document, &document) };
    add_new_parent_keys(&mut after, &document, &new_parents);
    let action = if is_unchanged && new_parents.is_empty() { "none" } else { "change" };
    let (taken_over, metadata) = (old.origin != origin, (*old.metadata).clone());
    let monitor_change = (taken_over || action == "change").then(|| MonitorChange::Update {
        audit_action: if taken_over { "adopt" } else { "change" },
        old: Box::new(old.clone()),
        document: Arc::new(document),
        metadata,
        new_origin: taken_over.then_some(origin),
    });
    ApplyDecision {
        monitor_change,
        applied_change: AppliedChange { key, id: Some(old.id), action, before, after, warnings },
        new_parents,
    }
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
    ApplyDecision {
        monitor_change: Some(MonitorChange::Remove { old: Box::new(old) }),
        applied_change: change,
        new_parents: Vec::new(),
    }
}

/// Adds the keys of new monitors to what is shown of the dependencies.
fn add_new_parent_keys(after: &mut Map<String, Value>, document: &MonitorDocument, new_parents: &[Arc<str>]) {
    if !new_parents.is_empty() {
        let ids = document.parent_ids().into_iter().map(|id| Value::from(id.0));
        let keys = new_parents.iter().map(|key| Value::from(key.as_ref()));
        after.insert("depends_on".to_owned(), ids.chain(keys).collect());
    }
}

/// Checks that an entry names no other account than the caller's.
fn validate_customer_field(
    customer: CustomerId,
    entry: &MonitorDefinition,
    label: &str,
    collector: &mut ErrorCollector,
) {
    if let Some(node) = entry.body.get("customer").filter(|node| node.value != NodeValue::Int(customer.0)) {
        let message = format!("`customer` must be `{customer}`, your account, not `{}`", display_value(node));
        collector.add(label, ValidationErrorKind::Conflict, "customer", message);
    }
}

/// Refuses files and variables: the client resolves them on its own host before it sends their contents.
fn reject_secret_files(_: SecretSource<'_>) -> Result<String, String> {
    Err("the server does not read files and variables for clients; send the value".to_owned())
}
