//! Reads the fields of one table and collects every error.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::input_format::{InputFormat, SecretReader, SecretSource};
use super::messages::{is_empty_text, quote_node};
use crate::schema::field::{Access, Field, FieldTable, FieldType, LegacyEncoding};
use crate::syntax::node::{Node, NodeValue, Position};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match, display_value, truncate_value};

/// Maximum number of errors that one reader reports; then it stops reading.
const MAX_ERRORS: usize = 100;

/// Reads the fields of a body or file, and collects the errors.
pub struct FieldReader<'a> {
    pub(super) format: InputFormat,
    secret_reader: SecretReader<'a>,
    /// Errors found so far.
    pub errors: Vec<ValidationError>,
}

impl<'a> FieldReader<'a> {
    /// Creates a reader; `secret_reader` reads the secrets that `<field>_file` and `<field>_env` name.
    #[must_use]
    pub fn new(format: InputFormat, secret_reader: SecretReader<'a>) -> Self {
        Self { format, secret_reader, errors: Vec::new() }
    }

    /// Reads the fields of `table` from `node`; missing required fields are errors. A field that `node` unsets is null.
    pub fn read_complete_fields(&mut self, table: &'static FieldTable, node: &Node) -> Map<String, Value> {
        self.read_fields(table, node, &[], true)
    }

    /// Reads the fields of `table` from `node`, except the top-level `ignored_fields`. A field that `node` unsets is
    /// null. With `must_be_complete`, missing required fields are errors.
    pub fn read_fields(
        &mut self,
        table: &'static FieldTable,
        node: &Node,
        ignored_fields: &[&str],
        must_be_complete: bool,
    ) -> Map<String, Value> {
        self.read_object(table, node, "", ignored_fields, must_be_complete)
    }

    /// Whether there are so many errors that the rest is not read. Reports that once.
    pub(super) fn too_many_errors(&mut self, position: Position) -> bool {
        if self.errors.len() == MAX_ERRORS {
            let message = format!("more than {MAX_ERRORS} errors; the rest was not read");
            self.errors.push(ValidationError::new(ValidationErrorKind::Conflict, "", position, message));
        }
        self.errors.len() > MAX_ERRORS
    }

    pub(super) fn read_object(
        &mut self,
        table: &'static FieldTable,
        node: &Node,
        path: &str,
        ignored_fields: &[&str],
        must_be_complete: bool,
    ) -> Map<String, Value> {
        let NodeValue::Map(entries) = &node.value else {
            let message = format!("{} must be a map of fields, not {}", display_path(path), quote_node(node));
            self.errors.push(
                ValidationError::new(ValidationErrorKind::Type, path, node.position, message)
                    .with_value(display_value(node)),
            );
            return Map::new();
        };
        let mut values = Map::new();
        let mut seen_names: HashSet<&str> = HashSet::new();
        for (key, value) in entries {
            if self.too_many_errors(key.position) {
                return Map::new();
            }
            let entry_path = join_path(path, &key.name);
            if !seen_names.insert(&key.name) {
                let message = format!("`{entry_path}` is given twice");
                self.errors.push(ValidationError::new(
                    ValidationErrorKind::DuplicateField,
                    entry_path,
                    key.position,
                    message,
                ));
                continue;
            }
            if !ignored_fields.contains(&key.name.as_str()) {
                self.read_entry(
                    table,
                    &key.name,
                    key.position,
                    value,
                    &entry_path,
                    must_be_complete,
                    &mut values,
                );
            }
        }
        if must_be_complete {
            self.check_required_and_add_defaults(table, node, path, &mut values);
            fill_object_defaults(table, &mut values);
        }
        in_table_order(table, values, path.is_empty())
    }

    #[expect(clippy::too_many_arguments, reason = "one entry of one map, with all that is known of it")]
    fn read_entry(
        &mut self,
        table: &'static FieldTable,
        name: &str,
        position: Position,
        node: &Node,
        path: &str,
        must_be_complete: bool,
        values: &mut Map<String, Value>,
    ) {
        let field = match self.format {
            InputFormat::Legacy => table.legacy_field(name),
            InputFormat::V3 | InputFormat::File => table.field(name),
        };
        let Some(field) = field else {
            return self.read_unknown_entry(table, name, position, node, path, values);
        };
        let ignored = match field.access {
            Access::ReadWrite => {
                field.legacy == LegacyEncoding::Omitted && self.format == InputFormat::Legacy
            }
            Access::ReadOnlyInV3 => self.format == InputFormat::V3,
            Access::ReadOnly if self.format == InputFormat::File => {
                let message = format!("`{path}` is set by Vigie");
                let error = ValidationError::new(ValidationErrorKind::ReadOnly, path, position, message)
                    .with_value(display_value(node));
                return self.errors.push(error.with_hint("remove it"));
            }
            Access::ReadOnly | Access::Ignored => true,
        };
        if ignored {
            return;
        }
        if field.secret && values.contains_key(field.name) {
            let message = format!("`{path}` is given a second time");
            return self.errors.push(ValidationError::new(
                ValidationErrorKind::DuplicateField,
                path,
                position,
                message,
            ));
        }
        if let Some(value) = self.read_value(field, &field.field_type, node, path, must_be_complete) {
            if value.is_null() && self.is_required(field) {
                let error = ValidationError::new(
                    ValidationErrorKind::MissingField,
                    path,
                    node.position,
                    format!("`{path}` is required"),
                );
                // It must not be reported as missing as well.
                values.entry(field.name).or_insert(Value::Null);
                return self.errors.push(error.with_value("null"));
            }
            merge_value(values, field.name, value);
        } else if self.is_required(field) {
            // Its error is already reported; it must not be reported as missing as well.
            values.entry(field.name).or_insert(Value::Null);
        }
    }

    fn is_required(&self, field: &Field) -> bool {
        if self.format == InputFormat::V3 { field.is_required_in_v3() } else { field.required }
    }

    /// Handles names that are not fields: references to secrets, and legacy names for parts of an object.
    fn read_unknown_entry(
        &mut self,
        table: &'static FieldTable,
        name: &str,
        position: Position,
        node: &Node,
        path: &str,
        values: &mut Map<String, Value>,
    ) {
        match self.format {
            InputFormat::Legacy => self.read_indexed_choice(table, name, node, path, values),
            InputFormat::File if secret_field(table, name).is_some() => {
                self.read_secret_reference(table, name, node, path, values);
            }
            InputFormat::V3 | InputFormat::File => {
                let message = format!("`{}` is not a field of `{}`", truncate_value(path), table.name);
                let error = ValidationError::new(ValidationErrorKind::UnknownField, path, position, message);
                let field_names = table.fields().iter().map(|field| field.name);
                self.errors.push(match closest_match(name, field_names) {
                    Some(closest_name) => error.with_hint(format!("did you mean `{closest_name}`?")),
                    None => error.with_hint("remove it"),
                });
            }
        }
    }

    /// Handles `capture_level` and the like; the legacy API ignores unknown names.
    fn read_indexed_choice(
        &mut self,
        table: &'static FieldTable,
        name: &str,
        node: &Node,
        path: &str,
        values: &mut Map<String, Value>,
    ) {
        for field in table.fields() {
            let (LegacyEncoding::Indexed { index_field, choice_field }, FieldType::Object(sub_table)) =
                (field.legacy, field.field_type)
            else {
                continue;
            };
            let Some(FieldType::TextEnum(choices)) =
                sub_table.field(choice_field).map(|choice_field| choice_field.field_type)
            else {
                continue;
            };
            if index_field != name || is_empty_text(node) {
                continue;
            }
            let index_type =
                FieldType::Int { min: 0, max: i64::try_from(choices.len()).unwrap_or(i64::MAX) - 1 };
            let index =
                self.read_value(field, &index_type, node, path, true).and_then(|value| value.as_u64());
            let choice = index.and_then(|index| choices.get(usize::try_from(index).ok()?));
            if let Some(choice) = choice {
                let object_value = values.entry(field.name).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(object) = object_value {
                    object.insert(choice_field.to_owned(), Value::from(*choice));
                }
            }
        }
    }

    fn read_secret_reference(
        &mut self,
        table: &'static FieldTable,
        name: &str,
        node: &Node,
        path: &str,
        values: &mut Map<String, Value>,
    ) {
        let Some((field, from_file)) = secret_field(table, name) else { return };
        let Some(source) = node.as_text().filter(|text| !text.is_empty()) else {
            let expected = if from_file { "the path of a file" } else { "the name of a variable" };
            let message = format!("`{path}` must be {expected}, not {}", quote_node(node));
            return self.errors.push(ValidationError::new(
                ValidationErrorKind::Type,
                path,
                node.position,
                message,
            ));
        };
        if values.contains_key(field.name) {
            let message = format!("`{path}` gives `{}` a second time", field.name);
            return self.errors.push(ValidationError::new(
                ValidationErrorKind::DuplicateField,
                path,
                node.position,
                message,
            ));
        }
        let secret_source = if from_file { SecretSource::File(source) } else { SecretSource::Env(source) };
        match (self.secret_reader)(secret_source) {
            Ok(text) => {
                let resolved = Node { value: NodeValue::Text(text), position: node.position };
                let must_be_complete = true;
                let value = self.read_value(field, &field.field_type, &resolved, path, must_be_complete);
                values.insert(field.name.to_owned(), value.unwrap_or(Value::Null));
            }
            Err(reason) => {
                let message = format!("`{path}`: cannot read `{}`: {reason}", truncate_value(source));
                self.errors.push(
                    ValidationError::new(ValidationErrorKind::Secret, path, node.position, message)
                        .with_value(source),
                );
                values.insert(field.name.to_owned(), Value::Null);
            }
        }
    }

    /// Reports missing required fields. In sub-objects it also adds the defaults, so that they are complete.
    fn check_required_and_add_defaults(
        &mut self,
        table: &'static FieldTable,
        node: &Node,
        path: &str,
        values: &mut Map<String, Value>,
    ) {
        for field in table.fields().iter().filter(|field| field.is_settable()) {
            if values.contains_key(field.name) {
                continue;
            }
            match field.default_value() {
                _ if self.is_required(field) => {
                    let name =
                        if self.format == InputFormat::Legacy { field.legacy_name() } else { field.name };
                    let field_path = join_path(path, name);
                    let message = format!("`{field_path}` is required");
                    self.errors.push(ValidationError::new(
                        ValidationErrorKind::MissingField,
                        field_path,
                        node.position,
                        message,
                    ));
                }
                Some(default) if !path.is_empty() => {
                    values.insert(field.name.to_owned(), default);
                }
                _ => {}
            }
        }
    }
}

/// Returns the secret field that `<field>_file` or `<field>_env` names, and whether it is `_file`.
fn secret_field(table: &'static FieldTable, name: &str) -> Option<(&'static Field, bool)> {
    let (base, from_file) = match (name.strip_suffix("_file"), name.strip_suffix("_env")) {
        (Some(base), _) => (base, true),
        (None, Some(base)) => (base, false),
        (None, None) => return None,
    };
    table.field(base).filter(|field| field.secret).map(|field| (field, from_file))
}

/// Sets `name`. If both values are objects, the present one keeps its entries, and missing ones are added.
fn merge_value(values: &mut Map<String, Value>, name: &str, value: Value) {
    match (values.get_mut(name), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (name, value) in new {
                old.entry(name).or_insert(value);
            }
        }
        (_, value) => {
            values.insert(name.to_owned(), value);
        }
    }
}

/// Fills in the defaults of missing fields of objects.
fn fill_object_defaults(table: &FieldTable, values: &mut Map<String, Value>) {
    for field in table.fields() {
        if let (FieldType::Object(sub_table), Some(Value::Object(object))) =
            (field.field_type, values.get_mut(field.name))
        {
            for (name, default) in sub_table.defaults() {
                object.entry(name).or_insert(default);
            }
        }
    }
}

/// Sorts the values in the order of the table. Nulls remain at the top level, where they unset; further in they become
/// defaults.
fn in_table_order(
    table: &FieldTable,
    mut values: Map<String, Value>,
    is_top_level: bool,
) -> Map<String, Value> {
    let resolve_null = |field: &'static Field, value: Value| match value {
        Value::Null if !is_top_level => field.default_value(),
        value => Some(value),
    };
    table
        .fields()
        .iter()
        .filter_map(|field| Some((field.name.to_owned(), resolve_null(field, values.remove(field.name)?)?)))
        .collect()
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn display_path(path: &str) -> String {
    if path.is_empty() { "this".to_owned() } else { format!("`{path}`") }
}
