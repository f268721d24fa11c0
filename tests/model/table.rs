//! Every field of every table against its kind and bounds: at, below and above.

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{Access, Field, FieldType};
use vigie::schema::json_schema::{components, field_table};
use vigie::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use vigie::schema::table;
use vigie::schema::table::FieldTable;
use vigie::syntax::node::Node;
use vigie::syntax::{ValidationError, ValidationErrorKind};

use crate::model::support::{sample, texts};

/// Characters and entries up to which lengths are tried.
const TRIED: usize = 1_000_000;

/// Every table there is: types, inputs and the sub-objects of both.
fn tables() -> Vec<&'static FieldTable> {
    let kinds = MonitorType::ALL.iter().map(|kind| table::for_type(*kind));
    let mut all: Vec<&'static FieldTable> =
        kinds.chain(table::requests::OTHER_TABLES.iter().copied()).collect();
    let mut next = 0;
    while next < all.len() {
        for field in all[next].fields() {
            let table = match field.field_type {
                FieldType::Object(table) => Some(table),
                FieldType::List { items: FieldType::Object(table), .. } => Some(*table),
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
    let mut intake = FieldReader::new(form, &reject_secret_sources);
    let values = intake.read_fields(table, &Node::from(body), &[], complete);
    (values, intake.errors)
}

/// Values for `field`, each with the rule that it breaks.
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
            cases.extend(texts(format).1.map(|bad| (json!(bad), Some(ValidationErrorKind::Format))));
            cases.extend([
                (json!(5), Some(ValidationErrorKind::Type)),
                (json!(["x"]), Some(ValidationErrorKind::Type)),
            ]);
            if max < TRIED {
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
        FieldType::List { items: of, min, max } => {
            cases.extend([
                (json!("x"), Some(ValidationErrorKind::Type)),
                (json!({}), Some(ValidationErrorKind::Type)),
            ]);
            cases.push((Value::from(vec![sample(of); max]), None));
            cases.push((Value::from(vec![sample(of); max + 1]), Some(ValidationErrorKind::Length)));
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

fn abridged(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

#[test]
fn every_field_takes_what_is_within_its_bounds_and_refuses_what_is_not() {
    let mut tried = 0;
    for table in tables() {
        for field in table.fields().iter().filter(|field| field.access == Access::ReadWrite) {
            for (value, broken) in cases(field) {
                tried += 1;
                let what = format!("{}.{} = {}", table.name, field.name, abridged(&value));
                let (values, errors) =
                    read(table, InputFormat::V3, json!({field.name: value.clone()}), false);
                let Some(rule) = broken else {
                    assert!(errors.is_empty(), "{what}: {errors:?}");
                    assert!(values.contains_key(field.name), "{what} is lost");
                    continue;
                };
                let [error] = errors.as_slice() else { panic!("{what}: {errors:?}") };
                assert_eq!((error.kind, error.path.as_str()), (rule, field.name), "{what}");
                names_field_and_value(error, field, &value, &what);
            }
        }
    }
    assert!(tried > 4000, "{tried} cases");
}

/// The message names the field; the value given is told, unless it is a secret.
fn names_field_and_value(error: &ValidationError, field: &Field, value: &Value, what: &str) {
    assert!(error.message.contains(&format!("`{}`", field.name)), "{what}: {error}");
    assert!(!error.message.ends_with('.'), "{what}: {error}");
    let given = error.value.as_deref().unwrap_or_else(|| panic!("{what}: no value given"));
    match value {
        Value::String(_) | Value::Number(_) if field.secret && error.kind != ValidationErrorKind::Length => {
            assert_eq!(given, "********", "{what}");
        }
        Value::String(text) if !field.secret && text.len() < 40 && !text.contains('\n') => {
            assert_eq!(given, text);
        }
        Value::Number(number) if !field.secret => assert_eq!(given, number.to_string(), "{what}"),
        _ => {}
    }
}

#[test]
fn every_required_field_is_missed_and_no_other() {
    for table in tables() {
        let (_, errors) = read(table, InputFormat::V3, json!({}), true);
        let missed: Vec<_> = errors.iter().map(|error| error.path.clone()).collect();
        let required: Vec<_> =
            table.fields().iter().filter(|field| field.required).map(|field| field.name).collect();
        assert_eq!(missed, required, "{}", table.name);
        assert!(errors.iter().all(|error| error.kind == ValidationErrorKind::MissingField));
    }
}

#[test]
fn a_required_field_cannot_be_unset() {
    for table in tables() {
        for field in table.fields().iter().filter(|field| field.required) {
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
fn what_vigie_sets_is_ignored_in_a_body_and_a_fault_in_a_file() {
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
fn every_default_is_within_the_bounds_of_its_field() {
    for table in tables() {
        for field in table.fields() {
            let Some(default) = field.default_value() else { continue };
            let (_, errors) = read(table, InputFormat::Legacy, json!({field.name: default}), false);
            assert!(errors.is_empty(), "{}.{}: {errors:?}", table.name, field.name);
        }
    }
}

#[test]
fn every_secret_hides_its_value_in_messages() {
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
fn an_unknown_field_is_a_fault_with_the_nearest_name() {
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
fn every_reference_in_the_schema_leads_somewhere() {
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
    let components = components();
    let mut found = Vec::new();
    components.values().for_each(|schema| references(schema, &mut found));
    assert!(found.len() > 40);
    for reference in found {
        let name = reference.strip_prefix("#/components/schemas/").unwrap();
        assert!(components.contains_key(name), "{name}");
    }
}

#[test]
fn the_reference_of_a_type_has_every_field_that_can_be_set() {
    for kind in MonitorType::ALL {
        let text = field_table(*kind);
        for field in table::for_type(*kind).fields() {
            let row = format!("| `{}`", field.name);
            assert_eq!(text.contains(&row), field.is_settable(), "{kind}.{}", field.name);
        }
    }
}

#[test]
fn every_line_of_docs_is_one_sentence_without_a_full_stop() {
    for table in tables() {
        for about in table.fields().iter().map(|field| field.description).chain([table.description]) {
            assert!(!about.is_empty() && !about.ends_with('.') && !about.contains('\n'), "{about}");
        }
    }
}
