//! From file, environment and flags to one checked value a setting. All faults are found at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kind::{Kind, Part};
use super::table::{SECTIONS, SETTINGS, Setting};
use crate::syntax::source::{Key, Node, NodeValue};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, display_value};

/// The value of every setting that somebody set.
pub(super) type Values = BTreeMap<&'static str, Node>;

/// Reads the text of a settings file; `label` names it in faults.
pub(super) fn file(label: &Arc<str>, text: &str, values: &mut Values, faults: &mut Vec<ValidationError>) {
    let before = faults.len();
    match Node::from_yaml(text) {
        Ok(root) => section("", &root, values, faults),
        Err(error) => faults.push(error.into()),
    }
    for fault in faults.iter_mut().skip(before) {
        fault.file = Some(Arc::clone(label));
    }
}

fn section(prefix: &str, node: &Node, values: &mut Values, faults: &mut Vec<ValidationError>) {
    if node.is_null() {
        return;
    }
    if !matches!(node.value, NodeValue::Map(_)) {
        let whole = if prefix.is_empty() { "the settings" } else { prefix };
        let message = format!("`{whole}` must be a map of settings, not `{}`", display_value(node));
        faults.push(ValidationError::new(ValidationErrorKind::Type, prefix, node.position, message));
        return;
    }
    for (at, (key, value)) in node.entries().iter().enumerate() {
        let path = if prefix.is_empty() { key.name.clone() } else { format!("{prefix}.{}", key.name) };
        if node.entries().iter().take(at).any(|(earlier, _)| earlier.name == key.name) {
            let message = format!("`{path}` stands there twice");
            faults.push(ValidationError::new(
                ValidationErrorKind::DuplicateField,
                path,
                key.position,
                message,
            ));
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

fn take(setting: &'static Setting, node: &Node, values: &mut Values, faults: &mut Vec<ValidationError>) {
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
    faults: &mut Vec<ValidationError>,
) {
    let before = faults.len();
    check(&setting.kind, source, &setting.kind.of_text(text), faults);
    if faults.len() == before {
        values.insert(setting.path, setting.kind.of_text(text));
    }
}

fn check(kind: &Kind, path: &str, node: &Node, faults: &mut Vec<ValidationError>) {
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
            let given = display_value(node);
            let message = format!("`{path}` must be {}, not `{given}`", kind.wanted());
            faults
                .push(ValidationError::new(rule(kind, node), path, node.position, message).with_value(given));
        }
    }
}

fn entry(parts: &[Part], path: &str, node: &Node, faults: &mut Vec<ValidationError>) {
    if !matches!(node.value, NodeValue::Map(_)) {
        let message = format!("`{path}` must be a map, not `{}`", display_value(node));
        faults.push(ValidationError::new(ValidationErrorKind::Type, path, node.position, message));
        return;
    }
    for (at, (key, value)) in node.entries().iter().enumerate() {
        let inner = format!("{path}.{}", key.name);
        if node.entries().iter().take(at).any(|(earlier, _)| earlier.name == key.name) {
            let message = format!("`{inner}` stands there twice");
            faults.push(ValidationError::new(
                ValidationErrorKind::DuplicateField,
                inner,
                key.position,
                message,
            ));
            continue;
        }
        if let Some(part) = parts.iter().find(|part| part.name == key.name) {
            check(&part.kind, &inner, value, faults);
            continue;
        }
        let fault = ValidationError::new(
            ValidationErrorKind::UnknownField,
            &inner,
            key.position,
            format!("`{inner}` is no setting"),
        );
        faults.push(hinted(fault, &key.name, parts.iter().map(|part| part.name)));
    }
    for part in parts.iter().filter(|part| part.required && node.get(part.name).is_none()) {
        let inner = format!("{path}.{}", part.name);
        let message = format!("`{inner}` is missing");
        faults.push(ValidationError::new(ValidationErrorKind::MissingField, inner, node.position, message));
    }
}

fn unknown(prefix: &str, key: &Key, path: &str) -> ValidationError {
    let fault = ValidationError::new(
        ValidationErrorKind::UnknownField,
        path,
        key.position,
        format!("`{path}` is no setting"),
    );
    let here = SETTINGS.iter().filter_map(|setting| match setting.path.split_once('.') {
        Some((section, name)) => (section == prefix).then_some(name),
        None => prefix.is_empty().then_some(setting.path),
    });
    let sections =
        SECTIONS.iter().map(|(name, _)| *name).filter(|name| prefix.is_empty() && !name.is_empty());
    // A right name in the wrong section is meant more often than a likely word in the right one.
    if let Some(setting) = SETTINGS.iter().find(|s| s.path.rsplit('.').next() == Some(key.name.as_str())) {
        return fault.with_hint(format!("did you mean `{}`?", setting.path));
    }
    hinted(fault, &key.name, here.chain(sections))
}

fn hinted<'a>(
    fault: ValidationError,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> ValidationError {
    match closest_match(name, known) {
        Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
        None => fault,
    }
}

fn rule(kind: &Kind, node: &Node) -> ValidationErrorKind {
    match (kind, &node.value) {
        (Kind::Int { .. }, NodeValue::Int(_))
        | (Kind::Number { .. }, NodeValue::Int(_) | NodeValue::Float(_)) => ValidationErrorKind::Range,
        (Kind::Choice(_), NodeValue::Text(_)) => ValidationErrorKind::Choice,
        (Kind::Int { .. } | Kind::Number { .. } | Kind::Flag | Kind::List(_) | Kind::Entries(_), _) => {
            ValidationErrorKind::Type
        }
        (_, NodeValue::Text(_)) => ValidationErrorKind::Format,
        _ => ValidationErrorKind::Type,
    }
}
