//! From file, environment and flags to one checked value a setting. All faults are found at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kind::{Kind, Part};
use super::table::{SECTIONS, SETTINGS, Setting};
use crate::syntax::source::{Key, Node, NodeValue};
use crate::syntax::{FieldFault, Rule, nearest, shown};

/// The value of every setting that somebody set.
pub(super) type Values = BTreeMap<&'static str, Node>;

/// Reads the text of a settings file; `label` names it in faults.
pub(super) fn file(label: &Arc<str>, text: &str, values: &mut Values, faults: &mut Vec<FieldFault>) {
    let before = faults.len();
    match Node::parse(text) {
        Ok(root) => section("", &root, values, faults),
        Err(error) => faults.push(error.into()),
    }
    for fault in faults.iter_mut().skip(before) {
        fault.file = Some(Arc::clone(label));
    }
}

fn section(prefix: &str, node: &Node, values: &mut Values, faults: &mut Vec<FieldFault>) {
    if node.is_null() {
        return;
    }
    if !matches!(node.value, NodeValue::Map(_)) {
        let whole = if prefix.is_empty() { "the settings" } else { prefix };
        let message = format!("`{whole}` must be a map of settings, not `{}`", shown(node));
        faults.push(FieldFault::new(Rule::Type, prefix, node.place, message));
        return;
    }
    for (at, (key, value)) in node.entries().iter().enumerate() {
        let path = if prefix.is_empty() { key.name.clone() } else { format!("{prefix}.{}", key.name) };
        if node.entries().iter().take(at).any(|(earlier, _)| earlier.name == key.name) {
            let message = format!("`{path}` stands there twice");
            faults.push(FieldFault::new(Rule::Duplicate, path, key.place, message));
        } else if prefix.is_empty() && SECTIONS.iter().any(|(name, _)| *name == key.name && !name.is_empty())
        {
            section(&key.name, value, values, faults);
        } else if let Some(setting) = SETTINGS.iter().find(|setting| setting.path == path) {
            take(setting, value, values, faults);
        } else {
            faults.push(unknown(prefix, key, &path));
        }
    }
}

fn take(setting: &'static Setting, node: &Node, values: &mut Values, faults: &mut Vec<FieldFault>) {
    let nullable = setting.default == "null";
    if node.is_null() && nullable {
        return;
    }
    let before = faults.len();
    check(&setting.kind, setting.path, node, faults);
    // Lists go on even then: what is wrong with their entries as a whole is told too.
    if faults.len() == before || matches!(setting.kind, Kind::Entries(_)) {
        values.insert(setting.path, node.clone());
    }
}

/// Takes the text of an environment variable or flag, called `source` in faults.
pub(super) fn text(
    setting: &'static Setting,
    source: &str,
    text: &str,
    values: &mut Values,
    faults: &mut Vec<FieldFault>,
) {
    let before = faults.len();
    check(&setting.kind, source, &setting.kind.of_text(text), faults);
    if faults.len() == before {
        values.insert(setting.path, setting.kind.of_text(text));
    }
}

fn check(kind: &Kind, path: &str, node: &Node, faults: &mut Vec<FieldFault>) {
    match kind {
        Kind::List(of) if matches!(node.value, NodeValue::List(_)) => {
            for (at, item) in node.items().iter().enumerate() {
                check(of, &format!("{path}[{at}]"), item, faults);
            }
        }
        // Addresses stand alone, separated by commas, or in a list.
        Kind::Listen if !node.items().is_empty() => {
            for (at, item) in node.items().iter().enumerate() {
                check(kind, &format!("{path}[{at}]"), item, faults);
            }
        }
        Kind::Entries(parts) if matches!(node.value, NodeValue::List(_)) => {
            for (at, item) in node.items().iter().enumerate() {
                entry(parts, &format!("{path}[{at}]"), item, faults);
            }
        }
        _ if kind.fits(node) => {}
        _ => {
            let given = shown(node);
            let message = format!("`{path}` must be {}, not `{given}`", kind.wanted());
            faults.push(FieldFault::new(rule(kind, node), path, node.place, message).given(given));
        }
    }
}

fn entry(parts: &[Part], path: &str, node: &Node, faults: &mut Vec<FieldFault>) {
    if !matches!(node.value, NodeValue::Map(_)) {
        let message = format!("`{path}` must be a map, not `{}`", shown(node));
        faults.push(FieldFault::new(Rule::Type, path, node.place, message));
        return;
    }
    for (at, (key, value)) in node.entries().iter().enumerate() {
        let inner = format!("{path}.{}", key.name);
        if node.entries().iter().take(at).any(|(earlier, _)| earlier.name == key.name) {
            let message = format!("`{inner}` stands there twice");
            faults.push(FieldFault::new(Rule::Duplicate, inner, key.place, message));
            continue;
        }
        if let Some(part) = parts.iter().find(|part| part.name == key.name) {
            check(&part.kind, &inner, value, faults);
            continue;
        }
        let fault = FieldFault::new(Rule::Unknown, &inner, key.place, format!("`{inner}` is no setting"));
        faults.push(hinted(fault, &key.name, parts.iter().map(|part| part.name)));
    }
    for part in parts.iter().filter(|part| part.required && node.get(part.name).is_none()) {
        let inner = format!("{path}.{}", part.name);
        let message = format!("`{inner}` is missing");
        faults.push(FieldFault::new(Rule::Missing, inner, node.place, message));
    }
}

fn unknown(prefix: &str, key: &Key, path: &str) -> FieldFault {
    let fault = FieldFault::new(Rule::Unknown, path, key.place, format!("`{path}` is no setting"));
    let here = SETTINGS.iter().filter_map(|setting| match setting.path.split_once('.') {
        Some((section, name)) => (section == prefix).then_some(name),
        None => prefix.is_empty().then_some(setting.path),
    });
    let sections =
        SECTIONS.iter().map(|(name, _)| *name).filter(|name| prefix.is_empty() && !name.is_empty());
    // A right name in the wrong section is meant more often than a likely word in the right one.
    if let Some(setting) = SETTINGS.iter().find(|s| s.path.rsplit('.').next() == Some(key.name.as_str())) {
        return fault.hint(format!("did you mean `{}`?", setting.path));
    }
    hinted(fault, &key.name, here.chain(sections))
}

fn hinted<'a>(fault: FieldFault, name: &str, known: impl IntoIterator<Item = &'a str>) -> FieldFault {
    match nearest(name, known) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault,
    }
}

fn rule(kind: &Kind, node: &Node) -> Rule {
    match (kind, &node.value) {
        (Kind::Int { .. }, NodeValue::Int(_))
        | (Kind::Number { .. }, NodeValue::Int(_) | NodeValue::Float(_)) => Rule::Range,
        (Kind::Choice(_), NodeValue::Text(_)) => Rule::Choice,
        (Kind::Int { .. } | Kind::Number { .. } | Kind::Flag | Kind::List(_) | Kind::Entries(_), _) => {
            Rule::Type
        }
        (_, NodeValue::Text(_)) => Rule::Format,
        _ => Rule::Type,
    }
}
