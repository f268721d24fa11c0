//! One change of many monitors that a person chose in the list: first what it would change, then the change itself.

use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use serde_json::{Value, json};

use super::access::require_not_file_managed;
use super::account_validation::AccountValidationContext;
use super::copy::{copy_name, copy_performance_alerts};
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::pause::register_pauses;
use super::save::save_changes;
use crate::domain::{MonitorId, Permission, Timestamp, to_hex};
use crate::schema::reader::InputFormat;
use crate::schema::typed::schedule::PropertyReference;
use crate::schema::{Monitor, MonitorMetadata, Origin, validate};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::Node;

/// Most monitors of one action: so many are stored in one transaction.
const MAX_BULK_MONITORS: usize = 10_000;

/// What is done with each monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkAction {
    /// No checks until a time.
    Pause(Timestamp),
    /// Ends the pause.
    Resume,
    /// Sets whether it is checked at all.
    SetEnabled(bool),
    /// Sets the time between two runs, in minutes.
    SetInterval(i64),
    /// Gives it a value of a custom property, in place of those that it has of the property.
    SetProperty {
        /// Id of the property.
        property: i64,
        /// Id of the value.
        value: i64,
    },
    /// Takes all values of a custom property from it.
    ClearProperty(i64),
    /// Copies it.
    Clone,
    /// Removes it.
    Remove,
}

/// What an action does with one monitor.
#[derive(Clone, Debug)]
pub struct BulkEffect {
    /// The monitor as it is.
    pub monitor: Monitor,
    /// Why the action cannot be done with it; then it is done with none.
    pub problem: Option<String>,
    /// Whether it changes anything about the monitor.
    pub is_change: bool,
}

/// What an action does with all monitors.
#[derive(Clone, Debug)]
pub struct BulkPlan {
    /// By monitor, in the order of the ids.
    pub effects: Vec<BulkEffect>,
    /// Tells this plan from one over other monitors or other revisions of them.
    pub fingerprint: String,
}

/// Returns what `action` would do with the monitors `ids`.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit; [`ServiceError::Conflict`] for too many monitors; errors of
/// the store.
pub async fn plan_bulk_action(
    service: &MonitorService,
    caller: &Caller,
    ids: &[MonitorId],
    action: &BulkAction,
) -> Result<BulkPlan, ServiceError> {
    let planned = planned_changes(service, caller, ids, action).await?;
    let fingerprint = fingerprint(service, &planned, action);
    let to_effect = |PlannedChange { monitor, outcome }| {
        let is_change = matches!(outcome, Ok(Some(_)));
        BulkEffect { monitor, problem: outcome.err(), is_change }
    };
    Ok(BulkPlan { effects: planned.into_iter().map(to_effect).collect(), fingerprint })
}

/// Does `action` with the monitors `ids`, with all or none; returns how many changed. It completes even if the caller is
/// cancelled.
///
/// # Errors
/// Like [`plan_bulk_action`]; [`ServiceError::PreconditionFailed`] when the monitors are not those of the plan with this
/// fingerprint; [`ServiceError::Conflict`] when it cannot be done with one of them.
pub async fn do_bulk_action(
    service: &Arc<MonitorService>,
    caller: &Caller,
    ids: Vec<MonitorId>,
    action: BulkAction,
    expected_fingerprint: &str,
) -> Result<usize, ServiceError> {
    let (service, caller, expected) = (Arc::clone(service), caller.clone(), expected_fingerprint.to_owned());
    let task = tokio::spawn(async move {
        let _lock = service.lock_exclusive().await;
        let planned = planned_changes(&service, &caller, &ids, &action).await?;
        if fingerprint(&service, &planned, &action) != expected {
            return Err(ServiceError::PreconditionFailed);
        }
        store_changes(&service, &caller, planned, &action).await
    });
    task.await.map_err(|_| ServiceError::Unavailable("the server is shutting down".to_owned()))?
}

async fn store_changes(
    service: &MonitorService,
    caller: &Caller,
    planned: Vec<PlannedChange>,
    action: &BulkAction,
) -> Result<usize, ServiceError> {
    let (mut changes, mut changed_ids) = (Vec::with_capacity(planned.len()), Vec::new());
    for PlannedChange { monitor, outcome } in planned {
        match outcome {
            Ok(Some(change)) => {
                changes.push(change);
                changed_ids.push(monitor.id);
            }
            Ok(None) => {}
            Err(problem) => {
                let message = format!("{}: {problem}; nothing was changed", monitor.name());
                return Err(ServiceError::Conflict(message));
            }
        }
    }
    let monitors = save_changes(service, caller, changes).await?;
    match action {
        BulkAction::Pause(_) | BulkAction::Resume => register_pauses(service, &monitors),
        BulkAction::Clone => {
            let copies = changed_ids.into_iter().zip(monitors.iter().map(|copy| copy.id)).collect();
            copy_performance_alerts(service, caller, &copies).await?;
        }
        _ => {}
    }
    Ok(monitors.len())
}

/// What is to be stored for one monitor: nothing when it is so already, or why it cannot be.
struct PlannedChange {
    monitor: Monitor,
    outcome: Result<Option<MonitorChange>, String>,
}

async fn planned_changes(
    service: &MonitorService,
    caller: &Caller,
    ids: &[MonitorId],
    action: &BulkAction,
) -> Result<Vec<PlannedChange>, ServiceError> {
    caller.require_permission(Permission::Edit)?;
    if ids.len() > MAX_BULK_MONITORS {
        let message = format!("{} monitors are too many at once; at most {MAX_BULK_MONITORS}", ids.len());
        return Err(ServiceError::Conflict(message));
    }
    let validation = AccountValidationContext::new(service, caller).await?;
    let cache = &service.dependencies.monitor_cache;
    let own = ids.iter().filter_map(|id| cache.get_for_customer(caller.customer, *id));
    let monitors: Vec<Monitor> = own.collect();
    let (action, now) = (action.clone(), service.dependencies.clock.now());
    // Validating thousands of monitors takes long enough to delay the checks that share this thread.
    let planning = tokio::task::spawn_blocking(move || {
        let plan = |monitor: Monitor| {
            let outcome = plan_change(&monitor, &action, &validation, now);
            PlannedChange { monitor, outcome }
        };
        monitors.into_iter().map(plan).collect()
    });
    planning.await.map_err(|_| ServiceError::Unavailable("the server is shutting down".to_owned()))
}

fn plan_change(
    monitor: &Monitor,
    action: &BulkAction,
    validation: &AccountValidationContext,
    now: Timestamp,
) -> Result<Option<MonitorChange>, String> {
    let update = |audit_action: &'static str, document, metadata| {
        Some(MonitorChange::Update {
            audit_action,
            old: Box::new(monitor.clone()),
            document,
            metadata,
            new_origin: None,
        })
    };
    let paused_until = |until| MonitorMetadata { paused_until: Some(until), ..(*monitor.metadata).clone() };
    // A pause is no part of the file of a monitor; everything else is.
    match action {
        BulkAction::Pause(until) => {
            return Ok(update("pause", Arc::clone(&monitor.document), paused_until(*until)));
        }
        BulkAction::Resume => {
            let is_paused = monitor.paused_until(now).is_some();
            let resumed = update("resume", Arc::clone(&monitor.document), paused_until(now));
            return Ok(resumed.filter(|_| is_paused));
        }
        BulkAction::Clone => {}
        _ => {
            if let Err(ServiceError::Forbidden(reason)) = require_not_file_managed(monitor) {
                return Err(reason);
            }
        }
    }
    let merged = |patch: Value| {
        let context = validation.validation_context();
        let merged =
            validate::merge_and_validate(&monitor.document, InputFormat::V3, &Node::from(patch), &context);
        merged
            .map(|validated| Arc::new(validated.document))
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    };
    let patch = match action {
        BulkAction::Remove => return Ok(Some(MonitorChange::Remove { old: Box::new(monitor.clone()) })),
        BulkAction::Clone => {
            let document = merged(json!({"name": copy_name(monitor)}))?;
            return Ok(Some(MonitorChange::Create { audit_action: "clone", origin: Origin::Api, document }));
        }
        BulkAction::SetEnabled(is_enabled) => json!({"enabled": is_enabled}),
        // Seconds would count in place of minutes.
        BulkAction::SetInterval(minutes) if monitor.document.value("interval_seconds").is_some() => {
            json!({"interval": minutes, "interval_seconds": null})
        }
        BulkAction::SetInterval(minutes) => json!({"interval": minutes}),
        BulkAction::SetProperty { property, value } => with_property(monitor, *property, Some(*value)),
        BulkAction::ClearProperty(property) => with_property(monitor, *property, None),
        BulkAction::Pause(_) | BulkAction::Resume => return Ok(None),
    };
    let document = merged(patch)?;
    let is_change = *document != *monitor.document;
    Ok(update("bulk-edit", document, (*monitor.metadata).clone()).filter(|_| is_change))
}

/// Returns the patch that sets the values of a custom property. What the monitor has already keeps its position.
fn with_property(monitor: &Monitor, property: i64, value: Option<i64>) -> Value {
    let mut value = value;
    let mut values = Vec::new();
    for PropertyReference { id, value_id } in monitor.document.custom_properties() {
        if id != property {
            values.push(json!({"id": id, "value_id": value_id}));
        } else if let Some(value_id) = value.take() {
            values.push(json!({"id": id, "value_id": value_id}));
        }
    }
    values.extend(value.map(|value_id| json!({"id": property, "value_id": value_id})));
    json!({"custom_properties": values})
}

fn fingerprint(service: &MonitorService, planned: &[PlannedChange], action: &BulkAction) -> String {
    let mut context = Context::new(&SHA256);
    // The end of a pause counts from its confirmation. A second copy leaves the originals as they are.
    match action {
        BulkAction::Pause(_) => context.update(b"pause"),
        BulkAction::Clone => {
            context.update(format!("clone {}", service.dependencies.monitor_cache.len()).as_bytes());
        }
        other => context.update(format!("{other:?}").as_bytes()),
    }
    for PlannedChange { monitor, .. } in planned {
        context.update(&monitor.id.0.to_le_bytes());
        context.update(&monitor.revision.0.to_le_bytes());
    }
    to_hex(context.finish().as_ref())
}
