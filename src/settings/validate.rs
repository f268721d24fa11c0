//! Validates file, environment and flags, and keeps one value per setting. Reports all errors at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::setting::Setting;
use super::setting_type::{EntryField, SettingType};
use super::table::{SECTIONS, SETTINGS};
use crate::syntax::node::{Key, Node, NodeValue};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, display_value};

/// The values of the settings that are set.
pub(super) type SettingValues = BTreeMap<&'static str, Node>;

/// Reads the text of a settings file; `file_name` names it in errors.
pub(super) fn read_file_text(
    file_name: &Arc<str>,
    text: &str,
    values: &mut SettingValues,
    errors: &mut Vec<ValidationError>,
) {
    let error_count_before = errors.len();
    match Node::from_yaml(text) {
        Ok(root) => read_section("", &root, values, errors),
        Err(error) => errors.push(error.into()),
    }
    for error in errors.iter_mut().skip(error_count_before) {
        error.file = Some(Arc::clone(file_name));
    }
}

fn read_section(prefix: &str, node: &Node, values: &mut SettingValues, errors: &mut Vec<ValidationError>) {
    if node.is_null() {
        return;
    }
    if !matches!(node.value, NodeValue::Map(_)) {
        let section_name = if prefix.is_empty() { "the settings" } else { prefix };
        let message = format!("`{section_name}` must be a map of settings, not `{}`", display_value(node));
        errors.push(ValidationError::new(ValidationErrorKind::Type, prefix, node.position, message));
        return;
    }
    for (index, (key, value)) in node.entries().iter().enumerate() {
        let path = if prefix.is_empty() { key.name.clone() } else { format!("{prefix}.{}", key.name) };
        if node.entries().iter().take(index).any(|(earlier, _)| earlier.name == key.name) {
            let message = format!("`{path}` is set twice");
            errors.push(ValidationError::new(
                ValidationErrorKind::DuplicateField,
                path,
                key.position,
                message,
            ));
        } else if prefix.is_empty() && SECTIONS.iter().any(|(name, _)| *name == key.name && !name.is_empty())
        {
            read_section(&key.name, value, values, errors);
        } else if let Some(setting) = SETTINGS.iter().find(|setting| setting.path == path) {
            read_setting(setting, value, values, errors);
        } else {
            errors.push(unknown_setting(prefix, key, &path));
        }
    }
}

fn read_setting(
    setting: &'static Setting,
    node: &Node,
    values: &mut SettingValues,
    errors: &mut Vec<ValidationError>,
) {
    let nullable = setting.default == "null";
    if node.is_null() && nullable {
        return;
    }
    let error_count_before = errors.len();
    check_value(&setting.setting_type, setting.path, node, errors);
    // An invalid list of maps is stored too, so that later checks can report more errors of its entries.
    if errors.len() == error_count_before || matches!(setting.setting_type, SettingType::MapList(_)) {
        values.insert(setting.path, node.clone());
    }
}

/// Reads the text of an environment variable or flag; errors call it `name_in_errors`.
pub(super) fn read_override(
    setting: &'static Setting,
    name_in_errors: &str,
    text: &str,
    values: &mut SettingValues,
    errors: &mut Vec<ValidationError>,
) {
    let error_count_before = errors.len();
    check_value(&setting.setting_type, name_in_errors, &setting.setting_type.parse_text(text), errors);
    if errors.len() == error_count_before {
        values.insert(setting.path, setting.setting_type.parse_text(text));
    }
}

fn check_value(setting_type: &SettingType, path: &str, node: &Node, errors: &mut Vec<ValidationError>) {
    match setting_type {
        SettingType::List(item_type) if matches!(node.value, NodeValue::List(_)) => {
            for (index, item) in node.items().iter().enumerate() {
                check_value(item_type, &format!("{path}[{index}]"), item, errors);
            }
        }
        // Addresses may be single, separated by commas, or in a list.
        SettingType::ListenAddresses if !node.items().is_empty() => {
            for (index, item) in node.items().iter().enumerate() {
                check_value(setting_type, &format!("{path}[{index}]"), item, errors);
            }
        }
        SettingType::MapList(entry_fields) if matches!(node.value, NodeValue::List(_)) => {
            for (index, item) in node.items().iter().enumerate() {
                check_map_entry(entry_fields, &format!("{path}[{index}]"), item, errors);
            }
        }
        _ if setting_type.accepts(node) => {}
        _ => {
            let value = display_value(node);
            let message = format!("`{path}` must be {}, not `{value}`", setting_type.requirement());
            errors.push(
                ValidationError::new(error_kind(setting_type, node), path, node.position, message)
                    .with_value(value),
            );
        }
    }
}

fn check_map_entry(entry_fields: &[EntryField], path: &str, node: &Node, errors: &mut Vec<ValidationError>) {
    if !matches!(node.value, NodeValue::Map(_)) {
        let message = format!("`{path}` must be a map, not `{}`", display_value(node));
        errors.push(ValidationError::new(ValidationErrorKind::Type, path, node.position, message));
        return;
    }
    for (index, (key, value)) in node.entries().iter().enumerate() {
        let field_path = format!("{path}.{}", key.name);
        if node.entries().iter().take(index).any(|(earlier, _)| earlier.name == key.name) {
            let message = format!("`{field_path}` is set twice");
            errors.push(ValidationError::new(
                ValidationErrorKind::DuplicateField,
                field_path,
                key.position,
                message,
            ));
            continue;
        }
        if let Some(field) = entry_fields.iter().find(|field| field.name == key.name) {
            check_value(&field.setting_type, &field_path, value, errors);
            continue;
        }
        let error = ValidationError::new(
            ValidationErrorKind::UnknownField,
            &field_path,
            key.position,
            format!("`{field_path}` is not a setting"),
        );
        errors.push(with_suggestion(error, &key.name, entry_fields.iter().map(|field| field.name)));
    }
    for field in entry_fields.iter().filter(|field| field.required && node.get(field.name).is_none()) {
        let field_path = format!("{path}.{}", field.name);
        let message = format!("`{field_path}` is missing");
        errors.push(ValidationError::new(
            ValidationErrorKind::MissingField,
            field_path,
            node.position,
            message,
        ));
    }
}

fn unknown_setting(prefix: &str, key: &Key, path: &str) -> ValidationError {
    let error = ValidationError::new(
        ValidationErrorKind::UnknownField,
        path,
        key.position,
        format!("`{path}` is not a setting"),
    );
    let names_in_section = SETTINGS.iter().filter_map(|setting| match setting.path.split_once('.') {
        Some((section, name)) => (section == prefix).then_some(name),
        None => prefix.is_empty().then_some(setting.path),
    });
    let sections =
        SECTIONS.iter().map(|(name, _)| *name).filter(|name| prefix.is_empty() && !name.is_empty());
    // A known name in the wrong section is more likely meant than a similar name in the right one.
    if let Some(setting) = SETTINGS.iter().find(|s| s.path.rsplit('.').next() == Some(key.name.as_str())) {
        return error.with_hint(format!("did you mean `{}`?", setting.path));
    }
    with_suggestion(error, &key.name, names_in_section.chain(sections))
}

fn with_suggestion<'a>(
    error: ValidationError,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> ValidationError {
    match closest_match(name, candidates) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error,
    }
}

fn error_kind(setting_type: &SettingType, node: &Node) -> ValidationErrorKind {
    match (setting_type, &node.value) {
        (SettingType::Int { .. }, NodeValue::Int(_))
        | (SettingType::Float { .. }, NodeValue::Int(_) | NodeValue::Float(_)) => ValidationErrorKind::Range,
        (SettingType::Choice(_), NodeValue::Text(_)) => ValidationErrorKind::Choice,
        (
            SettingType::Int { .. }
            | SettingType::Float { .. }
            | SettingType::Bool
            | SettingType::List(_)
            | SettingType::MapList(_),
            _,
        ) => ValidationErrorKind::Type,
        (_, NodeValue::Text(_)) => ValidationErrorKind::Format,
        _ => ValidationErrorKind::Type,
    }
}
