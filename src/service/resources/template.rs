//! Templates of messages (behaviour.md 1 `/templates`): tried on an example before they are kept, so that one
//! that cannot be used never waits for an outage to say so.

use serde_json::{Map, Value, json};

use super::context::Bench;
use super::draft::{Draft, overlaid, whole};
use crate::catalog::stored::listed;
use crate::domain::Record;
use crate::notify::Composer;
use crate::pipeline::template;
use crate::schema::table::alerting::TEMPLATE;
use crate::schema::typed::record::TemplateSettings;
use crate::service::caller::Refusal;
use crate::syntax::source::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

pub(super) fn create(bench: &Bench<'_>, body: &Node) -> Result<Draft, Refusal> {
    let fields = whole(&TEMPLATE, body)?;
    check(&fields, body)?;
    Ok(named(bench, Draft::new(fields)))
}

pub(super) fn patch(bench: &Bench<'_>, old: &Record, body: &Node) -> Result<Draft, Refusal> {
    let fields = overlaid(&TEMPLATE, &old.fields, body)?;
    check(&fields, body)?;
    Ok(named(bench, Draft::of(old, fields)))
}

fn named(bench: &Bench<'_>, mut draft: Draft) -> Draft {
    let name = bench.kind.name_of(&draft.fields);
    draft.unique = Some(format!("{}:{name}", bench.caller.customer));
    draft
}

/// It makes words of the examples of everything that it is for.
fn check(fields: &Map<String, Value>, body: &Node) -> Result<(), Refusal> {
    let template = template(fields)?;
    let faults = Composer::default().faults(&template);
    if faults.is_empty() {
        return Ok(());
    }
    Err(Refusal::Faults(faults.iter().map(|fault| unusable(body, fault.part, &fault.reason)).collect()))
}

/// What is wrong with a part of a template.
pub(in crate::service) fn unusable(body: &Node, part: &'static str, reason: &str) -> ValidationError {
    let message = format!("`{part}` cannot be used: {reason}");
    ValidationError::new(ValidationErrorKind::Format, part, body.position_of(part), message)
}

/// One that a group names stays.
pub(super) fn remove(bench: &Bench<'_>, old: &Record) -> Result<(), Refusal> {
    let groups = &bench.facts.contacts.groups;
    let users: Vec<String> = groups
        .iter()
        .filter(|group| group.templates.contains(&old.id))
        .take(10)
        .map(|group| format!("`{}`", group.name))
        .collect();
    if users.is_empty() {
        return Ok(());
    }
    let message = format!("Groups use this template; take it from them first: {}", users.join(", "));
    Err(Refusal::Conflict(message))
}

/// Empty parts are shown as such.
pub(super) fn computed(record: &Record, name: &str) -> Option<Value> {
    let part = |of: fn(TemplateSettings<'_>) -> String| Some(json!(of(listed(record)?)));
    match name {
        "subject" => part(|settings| settings.subject.to_owned()),
        "text" => part(|settings| settings.text.to_owned()),
        "html" => part(|settings| settings.html.to_owned()),
        _ => None,
    }
}
