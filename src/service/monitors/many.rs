//! What all changes of many monitors have in common: which, whose, and whose fault it is.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::access::open_to_change;
use super::context::MonitorContext;
use super::save::save_all;
use super::step::Step;
use super::validation::ValidationContext;
use crate::domain::{MonitorId, Permission};
use crate::schema::Monitor;
use crate::schema::accept::Accepted;
use crate::schema::intake::{Form, Intake, no_secrets};
use crate::schema::table::Table;
use crate::service::caller::{Caller, Refusal};
use crate::syntax::source::{Node, Position};
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Faults and warnings that one answer names at most; how many more there are is told.
const MOST_FAULTS: usize = 100;

/// The fields of a body of `table`, or all that is wrong with it.
pub(super) fn fields(table: &'static Table, body: &Node) -> Result<Map<String, Value>, Refusal> {
    let mut intake = Intake::new(Form::V3, &no_secrets);
    let fields = intake.fields(table, body, &[], true);
    if intake.faults.is_empty() { Ok(fields) } else { Err(Refusal::Faults(intake.faults)) }
}

/// The numbers under `monitors`; one that stands there twice counts once.
pub(super) fn ids(fields: &Map<String, Value>) -> Vec<MonitorId> {
    let mut seen = HashSet::new();
    let ids = fields.get("monitors").and_then(Value::as_array).into_iter().flatten();
    ids.filter_map(Value::as_i64).filter(|id| seen.insert(*id)).map(MonitorId).collect()
}

/// All that is wrong with many monitors, each fault with the monitor that has it.
#[derive(Debug, Default)]
pub(super) struct Blame {
    faults: Vec<ValidationError>,
    left_out: usize,
}

impl Blame {
    /// Notes `faults` of `who`, such as ``monitor `7` ``.
    pub(super) fn add(&mut self, who: &str, faults: impl IntoIterator<Item = ValidationError>) {
        for mut fault in faults {
            if self.faults.len() < MOST_FAULTS {
                fault.message = format!("{who}: {}", fault.message);
                self.faults.push(fault);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// Notes one fault of `who`.
    pub(super) fn one(
        &mut self,
        who: &str,
        rule: ValidationErrorKind,
        path: &str,
        message: impl Into<String>,
    ) {
        self.add(who, [ValidationError::new(rule, path, Position::default(), message)]);
    }

    /// Refuses when there is any.
    pub(super) fn settle(mut self) -> Result<(), Refusal> {
        if self.left_out > 0 {
            let message = format!("{} more faults are not named here", self.left_out);
            self.faults.push(ValidationError::new(
                ValidationErrorKind::Conflict,
                "monitors",
                Position::default(),
                message,
            ));
        }
        if self.faults.is_empty() { Ok(()) } else { Err(Refusal::Faults(self.faults)) }
    }
}

/// What one monitor of many is called in messages.
pub(super) fn called(id: MonitorId) -> String {
    format!("monitor `{id}`")
}

/// Changes all monitors that `fields` names as `change` says, or none: `change` gives the new document of
/// one, or notes what is wrong. It runs where blocking is fine. Answers what their authors should know.
///
/// # Errors
/// [`Refusal::Forbidden`] for a role that may not edit, and naming an id that is not the account's or a
/// file's; [`Refusal::Faults`] naming each monitor that cannot be changed so; and as the store's.
pub(super) async fn change_many(
    context: &MonitorContext,
    caller: &Caller,
    action: &'static str,
    fields: Map<String, Value>,
    mut change: impl FnMut(&Monitor, &Map<String, Value>, &ValidationContext, &mut Blame) -> Option<Accepted>
    + Send
    + 'static,
) -> Result<Vec<String>, Refusal> {
    let _turn = context.alone().await;
    let scene = ValidationContext::new(context, caller).await?;
    let olds = these(context, caller, &ids(&fields))?;
    let judged = tokio::task::spawn_blocking(move || {
        let (mut steps, mut blame) = (Vec::with_capacity(olds.len()), Blame::default());
        let mut warnings = Vec::new();
        for old in olds {
            if let Some(accepted) = change(&old, &fields, &scene, &mut blame) {
                let who = called(old.id);
                warnings.extend(accepted.warnings.iter().map(|warning| format!("{who}: {warning}")));
                let (document, trail) = (Arc::new(accepted.document), (*old.trail).clone());
                steps.push(Step::Next { action, old: Box::new(old), document, trail, origin: None });
            }
        }
        blame.settle().map(|()| (steps, warnings))
    });
    let stopped = |_| Refusal::Unavailable("the server is shutting down".to_owned());
    let (steps, mut warnings) = judged.await.map_err(stopped)??;
    save_all(context, caller, steps).await?;
    if let Some(more) = warnings.len().checked_sub(MOST_FAULTS).filter(|more| *more > 0) {
        warnings.truncate(MOST_FAULTS);
        warnings.push(format!("{more} more warnings are not named here"));
    }
    Ok(warnings)
}

/// The monitors with these numbers, when the caller may change them all.
fn these(context: &MonitorContext, caller: &Caller, ids: &[MonitorId]) -> Result<Vec<Monitor>, Refusal> {
    caller.require(Permission::Edit)?;
    ids.iter()
        .map(|id| {
            let monitor = context.parts.roster.of(caller.customer, *id);
            let monitor = monitor.ok_or_else(|| {
                Refusal::Forbidden(format!("There is no monitor `{id}`; nothing was changed"))
            })?;
            match open_to_change(&monitor) {
                Err(Refusal::Forbidden(reason)) => {
                    Err(Refusal::Forbidden(format!("Monitor `{id}`: {reason}; nothing was changed")))
                }
                Err(other) => Err(other),
                Ok(()) => Ok(monitor),
            }
        })
        .collect()
}
