//! Every field of every table against its type and limits: values at, below and above them.

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{Access, Field, FieldType};
use vigie::schema::json_schema::{component_schemas, fields_as_markdown};
use vigie::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use vigie::schema::table;
use vigie::schema::table::FieldTable;
use vigie::syntax::node::Node;
use vigie::syntax::{ValidationError, ValidationErrorKind};

use crate::model::support::{sample, texts};

/// Greatest limit of characters that is tested.
const MAX_TESTED_LENGTH: usize = 1_000_000;

/// Returns every table: types, inputs and the sub-objects of both.
fn tables() -> Vec<&'static FieldTable> {
    let kinds = MonitorType::ALL.iter().map(|kind| table::for_type(*kind));
    let mut all: Vec<&'static FieldTable> =
        kinds.chain(table::requests::NON_MONITOR_TABLES.iter().copied()).collect();
    let mut next = 0;
    while next < all.len() {
        for field in all[next].fields() {
            let table = match field.field_type {
                FieldType::Object(table) => Some(table),
                FieldType::List { item_type: FieldType::Object(table), .. } => Some(*table),
                _ => None,
            };
            if let Some(table) = table.filter(|table| !all.iter().any(|known| known.name == table.name)) {
                all.push(table);
            }
        }
        next += 1;
    }
    all
}

fn read(
    table: &'static FieldTable,
    form: InputFormat,
    body: Value,
    complete: bool,
) -> (serde_json::Map<String, Value>, Vec<ValidationError>) {
    let mut reader = FieldReader::new(form, &reject_secret_sources);
    let values = reader.read_fields(table, &Node::from(body), &[], complete);
    (values, reader.errors)
}

/// Returns values for `field`, each with the rule that it breaks.
fn cases(field: &Field) -> Vec<(Value, Option<ValidationErrorKind>)> {
    let mut cases = vec![(sample(&field.field_type), None)];
    match field.field_type {
        FieldType::Bool => cases.extend([
            (json!(false), None),
            (json!("yes"), Some(ValidationErrorKind::Type)),
            (json!(1), Some(ValidationErrorKind::Type)),
            (json!({}), Some(ValidationErrorKind::Type)),
        ]),
        FieldType::Int { min, max } => {
            cases.extend([
                (json!(max), None),
                (json!("x"), Some(ValidationErrorKind::Type)),
                (json!([]), Some(ValidationErrorKind::Type)),
            ]);
            cases.extend(min.checked_sub(1).map(|below| (json!(below), Some(ValidationErrorKind::Range))));
            cases.extend(max.checked_add(1).map(|above| (json!(above), Some(ValidationErrorKind::Range))));
        }
        FieldType::IntEnum(choices) => {
            cases.extend(choices.iter().map(|choice| (json!(choice), None)));
            let above = choices.iter().max().unwrap() + 1;
            cases.extend([
                (json!(above), Some(ValidationErrorKind::Choice)),
                (json!("x"), Some(ValidationErrorKind::Type)),
            ]);
        }
        FieldType::Float { min, max } => {
            cases.extend([
                (json!((-7.5_f64).clamp(min, max)), None),
                (json!("x"), Some(ValidationErrorKind::Type)),
            ]);
            cases.extend(min.is_finite().then(|| (json!(min - 1.0), Some(ValidationErrorKind::Range))));
            cases.extend(max.is_finite().then(|| (json!(max + 1.5), Some(ValidationErrorKind::Range))));
        }
        FieldType::Text { min, max, format } => {
            cases.extend(texts(format).1.map(|invalid| (json!(invalid), Some(ValidationErrorKind::Format))));
            cases.extend([
                (json!(5), Some(ValidationErrorKind::Type)),
                (json!(["x"]), Some(ValidationErrorKind::Type)),
            ]);
            if max < MAX_TESTED_LENGTH {
                cases.push((json!("ü".repeat(max + 1)), Some(ValidationErrorKind::Length)));
                if texts(format).1.is_none() {
                    cases.push((json!("ü".repeat(max)), None));
                }
            }
            if min > 0 {
                cases.push((json!(""), Some(ValidationErrorKind::Length)));
            }
        }
        FieldType::TextEnum(choices) => {
            cases.extend(choices.iter().map(|choice| (json!(choice), None)));
            cases.extend([
                (json!("no such word"), Some(ValidationErrorKind::Choice)),
                (json!({}), Some(ValidationErrorKind::Type)),
            ]);
        }
        FieldType::List { item_type, min, max } => {
            cases.extend([
                (json!("x"), Some(ValidationErrorKind::Type)),
                (json!({}), Some(ValidationErrorKind::Type)),
            ]);
            cases.push((Value::from(vec![sample(item_type); max]), None));
            cases.push((Value::from(vec![sample(item_type); max + 1]), Some(ValidationErrorKind::Length)));
            cases.push((json!([]), (min > 0).then_some(ValidationErrorKind::Length)));
        }
        FieldType::Object(_) => cases.extend([
            (json!(5), Some(ValidationErrorKind::Type)),
            (json!([]), Some(ValidationErrorKind::Type)),
        ]),
        FieldType::Any => cases.push((json!([5]), None)),
    }
    cases
}

fn truncated(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

// row: 2.2 browserscript.monitor_agent
#[test]
fn every_field_accepts_only_values_within_its_limits() {
    let mut tried = 0;
    for table in tables() {
        for field in table.fields().iter().filter(|field| field.access == Access::ReadWrite) {
            for (value, broken_rule) in cases(field) {
                tried += 1;
                let context = format!("{}.{} = {}", table.name, field.name, truncated(&value));
                let (values, errors) =
                    read(table, InputFormat::V3, json!({field.name: value.clone()}), false);
                let Some(rule) = broken_rule else {
                    assert!(errors.is_empty(), "{context}: {errors:?}");
                    assert!(values.contains_key(field.name), "{context} is lost");
                    continue;
                };
                let [error] = errors.as_slice() else { panic!("{context}: {errors:?}") };
                assert_eq!((error.kind, error.path.as_str()), (rule, field.name), "{context}");
                assert_names_field_and_value(error, field, &value, &context);
            }
        }
    }
    assert!(tried > 4000, "{tried} cases");
}

/// Asserts that the message names the field, and that the error has the given value, masked when it is a secret.
fn assert_names_field_and_value(error: &ValidationError, field: &Field, value: &Value, context: &str) {
    assert!(error.message.contains(&format!("`{}`", field.name)), "{context}: {error}");
    assert!(!error.message.ends_with('.'), "{context}: {error}");
    let shown_value = error.value.as_deref().unwrap_or_else(|| panic!("{context}: no value given"));
    match value {
        Value::String(_) | Value::Number(_) if field.secret && error.kind != ValidationErrorKind::Length => {
            assert_eq!(shown_value, "********", "{context}");
        }
        // An invalid script may hold a password anywhere.
        Value::String(text) if field.embedded_secrets().is_some() => {
            assert_eq!(shown_value, format!("a text of {} bytes", text.len()), "{context}");
        }
        Value::String(text) if !field.secret && text.len() < 40 && !text.contains('\n') => {
            assert_eq!(shown_value, text);
        }
        Value::Number(number) if !field.secret => assert_eq!(shown_value, number.to_string(), "{context}"),
        _ => {}
    }
}

#[test]
fn exactly_the_required_fields_are_reported_as_missing() {
    for table in tables() {
        let (_, errors) = read(table, InputFormat::V3, json!({}), true);
        let missing: Vec<_> = errors.iter().map(|error| error.path.clone()).collect();
        let required: Vec<_> =
            table.fields().iter().filter(|field| field.is_required_in_v3()).map(|field| field.name).collect();
        assert_eq!(missing, required, "{}", table.name);
        assert!(errors.iter().all(|error| error.kind == ValidationErrorKind::MissingField));
    }
}

#[test]
fn a_required_field_cannot_be_unset() {
    for table in tables() {
        for field in table.fields().iter().filter(|field| field.is_required_in_v3()) {
            let (_, errors) = read(table, InputFormat::V3, json!({field.name: null}), false);
            assert_eq!(
                errors.iter().map(|error| error.kind).collect::<Vec<_>>(),
                [ValidationErrorKind::MissingField],
                "{}",
                field.name
            );
        }
    }
}

#[test]
fn read_only_fields_are_ignored_in_bodies_and_refused_in_files() {
    for table in tables() {
        for field in table.fields().iter().filter(|field| field.access == Access::ReadOnly) {
            let (values, errors) = read(table, InputFormat::V3, json!({field.name: "whatever"}), false);
            assert!(values.is_empty() && errors.is_empty(), "{}.{}", table.name, field.name);
            let (_, errors) = read(table, InputFormat::File, json!({field.name: "whatever"}), false);
            assert_eq!(
                errors.iter().map(|error| error.kind).collect::<Vec<_>>(),
                [ValidationErrorKind::ReadOnly]
            );
        }
    }
}

#[test]
fn every_default_is_valid() {
    for table in tables() {
        for field in table.fields() {
            let Some(default) = field.default_value() else { continue };
            let (_, errors) = read(table, InputFormat::Legacy, json!({field.name: default}), false);
            assert!(errors.is_empty(), "{}.{}: {errors:?}", table.name, field.name);
        }
    }
}

#[test]
fn secrets_are_masked_in_messages() {
    for table in tables() {
        for field in table.fields().iter().filter(|field| field.secret) {
            let (_, errors) =
                read(table, InputFormat::V3, json!({field.name: "s3cr3t".repeat(20_000)}), false);
            assert!(errors.iter().all(|error| !format!("{error:?}").contains("s3cr3t")), "{}", field.name);
            let (_, errors) = read(table, InputFormat::V3, json!({field.name: 987_654}), false);
            assert!(!format!("{errors:?}").contains("987654"), "{}: {errors:?}", field.name);
        }
    }
}

#[test]
fn an_unknown_field_is_refused_with_the_nearest_name() {
    for table in tables() {
        for field in table.fields() {
            let misspelt = format!("{}x", field.name);
            if table.field(&misspelt).is_some() {
                continue;
            }
            let (_, errors) = read(table, InputFormat::V3, json!({misspelt.clone(): 1}), false);
            let [error] = errors.as_slice() else { panic!("{errors:?}") };
            assert_eq!(error.kind, ValidationErrorKind::UnknownField);
            assert_eq!(error.hint, Some(format!("did you mean `{}`?", field.name)), "{misspelt}");
        }
    }
}

#[test]
fn every_reference_in_the_schema_resolves() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                found.extend(entries.get("$ref").and_then(Value::as_str).map(str::to_owned));
                entries.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let components = component_schemas();
    let mut found = Vec::new();
    components.values().for_each(|schema| references(schema, &mut found));
    assert!(found.len() > 40);
    for reference in found {
        let name = reference.strip_prefix("#/components/schemas/").unwrap();
        assert!(components.contains_key(name), "{name}");
    }
}

#[test]
fn the_reference_of_a_type_has_every_settable_field() {
    for kind in MonitorType::ALL {
        let text = fields_as_markdown(*kind);
        for field in table::for_type(*kind).fields() {
            let row = format!("| `{}`", field.name);
            assert_eq!(text.contains(&row), field.is_settable(), "{kind}.{}", field.name);
        }
    }
}

#[test]
fn every_description_is_one_line_without_a_full_stop() {
    for table in tables() {
        for text in table.fields().iter().map(|field| field.description).chain([table.description]) {
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{text}");
        }
    }
}
