//! The JSON schemas agree with the field reader: for every field, both accept the same values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{Field, FieldType};
use vigie::schema::json_schema::{SchemaRole, component_schemas, create_example, patch_example, schema_name};
use vigie::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use vigie::schema::table::{FieldTable, requests};
use vigie::schema::validate::{merge_and_validate, validate_new};
use vigie::schema::validation_context::ValidationContext;
use vigie::schema::{SecretMode, table};
use vigie::syntax::node::Node;
use vigie::syntax::text_format::TextFormat;

fn tables() -> Vec<&'static FieldTable> {
    let kinds = MonitorType::ALL.iter().map(|kind| table::for_type(*kind));
    kinds.chain(requests::NON_MONITOR_TABLES.iter().copied()).collect()
}

fn node(value: &Value) -> Node {
    Node::from_json(value.to_string().as_bytes()).unwrap()
}

/// Whether the field reader accepts `value` for `field` of `table`.
fn is_accepted(table: &'static FieldTable, field: &Field, value: &Value, complete: bool) -> bool {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let skipped: &[&str] = if MonitorType::from_name(table.name).is_some() { &["type"] } else { &[] };
    reader.read_fields(table, &node(&json!({field.name: value})), skipped, complete);
    let is_of_field = |path: &str| {
        path == field.name
            || path.starts_with(&format!("{}[", field.name))
            || path.starts_with(&format!("{}.", field.name))
    };
    !reader.errors.iter().any(|error| is_of_field(&error.path))
}

/// Validates the subset of JSON Schema that the schemas use.
fn conforms(schema: &Value, value: &Value, all: &Map<String, Value>) -> bool {
    let Some(schema) = schema.as_object() else { return schema == &Value::Bool(true) };
    schema.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$ref" => {
            let name = rule.as_str().unwrap().strip_prefix("#/components/schemas/").unwrap();
            conforms(&all[name], value, all)
        }
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| has_type(kind, value)),
            kind => has_type(kind, value),
        },
        "const" => is_equal(rule, value),
        "enum" => rule.as_array().unwrap().iter().any(|known| is_equal(known, value)),
        "anyOf" => rule.as_array().unwrap().iter().any(|one| conforms(one, value, all)),
        "allOf" => rule.as_array().unwrap().iter().all(|one| conforms(one, value, all)),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "minLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap())
        }
        "maxLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as u64 <= rule.as_u64().unwrap())
        }
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| conforms(rule, item, all))),
        "pattern" => value.as_str().is_none_or(|text| matches(rule.as_str().unwrap(), text)),
        "format" => value.as_str().is_none_or(|text| match rule.as_str().unwrap() {
            "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
            "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
            _ => true,
        }),
        "required" => value.as_object().is_none_or(|entries| {
            rule.as_array().unwrap().iter().all(|name| entries.contains_key(name.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|entries| {
            entries
                .iter()
                .all(|(name, value)| rule.get(name).is_none_or(|schema| conforms(schema, value, all)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|entries| {
            assert_eq!(rule, &Value::Bool(false));
            entries.keys().all(|name| schema["properties"].get(name).is_some())
        }),
        "title" | "description" | "default" | "readOnly" | "x-extension" | "x-ignored"
        | "contentMediaType" | "contentEncoding" => true,
        keyword => panic!("{keyword} is not known here"),
    })
}

/// Matches `text`, with the look-ahead of header names, which the `regex` crate lacks.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.strip_prefix("^(?!").and_then(|rest| rest.split_once("$)")) {
        Some((not, rest)) => {
            !cached_regex(&format!("^{not}$")).is_match(text)
                && cached_regex(&format!("^{rest}")).is_match(text)
        }
        None => cached_regex(pattern).is_match(text),
    }
}

/// Returns a cached expression: some take a millisecond to compile, and each is used thousands of times.
fn cached_regex(pattern: &str) -> Arc<regex::Regex> {
    static KNOWN: Mutex<BTreeMap<String, Arc<regex::Regex>>> = Mutex::new(BTreeMap::new());
    let mut cache = KNOWN.lock().unwrap();
    let compile = || Arc::new(regex::Regex::new(pattern).unwrap());
    Arc::clone(cache.entry(pattern.to_owned()).or_insert_with(compile))
}

fn has_type(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        kind => panic!("{kind}"),
    }
}

fn is_equal(known: &Value, value: &Value) -> bool {
    known == value || known.is_number() && known.as_f64() == value.as_f64()
}

/// Returns values at, below and above every limit of `kind`, and values of every other type.
fn values(kind: &FieldType) -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(""),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(7),
        json!(1.5),
        json!(2),
        json!(1.1),
        json!(12),
        json!("1.1"),
        json!("a b"),
        json!([]),
        json!({}),
        json!([null]),
        json!([1]),
        json!(["x"]),
        json!({"id": 1}),
        json!([{"id": 1}]),
        json!([{"no": 1}]),
        json!({"no": 1}),
        json!("x\ny"),
        json!("Enabled"),
        json!(i64::MAX),
        json!([""]),
    ];
    match kind {
        FieldType::Int { min, max } => {
            values.extend([*min, min.saturating_sub(1), *max, max.saturating_add(1)].map(Value::from));
        }
        FieldType::IntEnum(choices) => values.extend(choices.iter().copied().map(Value::from)),
        FieldType::Float { min, max } => {
            values.extend([min, max].into_iter().filter(|n| n.is_finite()).map(|n| json!(n)));
        }
        FieldType::TextEnum(choices) => {
            values.extend(choices.iter().flat_map(|choice| [json!(choice), json!(choice.to_lowercase())]));
        }
        FieldType::Text { max, format, .. } => {
            // Longer ones would take minutes, and their formats do not accept `ä`.
            if *max <= 2_000 && *format == TextFormat::Any {
                values.extend([json!("ä".repeat(*max)), json!("ä".repeat(max + 1))]);
            }
            values.extend(SAMPLES.iter().map(|text| json!(text)));
        }
        FieldType::List { item_type: of, min, max } => {
            for value in self::values(of) {
                values.push(json!([value]));
            }
            if *max <= 100 {
                values.extend([json!(vec![1; *max]), json!(vec![1; max + 1])]);
                values.extend([json!(vec!["x"; *max]), json!(vec!["x"; max + 1])]);
            }
            assert!(min <= max);
        }
        FieldType::Object(table) => {
            for field in table.fields() {
                values.extend(
                    self::values(&field.field_type).into_iter().map(|value| json!({field.name: value})),
                );
            }
            let example = create_example(table);
            for field in table.fields() {
                let mut without = example.clone();
                without.as_object_mut().unwrap().shift_remove(field.name);
                values.push(without);
                for value in self::values(&field.field_type) {
                    let mut with = example.clone();
                    with[field.name] = value;
                    values.push(with);
                }
            }
            values.push(example);
        }
        FieldType::Bool | FieldType::Any => {}
    }
    values
}

/// Texts in the various formats, or just not. Texts that a pattern accepts and its format refuses are left out, such as
/// a URL with an incomplete host or a mailbox of 65 characters.
const SAMPLES: &[&str] = &[
    "127.0.0.1",
    "256.1.1.1",
    "1.2.3",
    "::1",
    "[::1]",
    "a",
    "a.example",
    "-a",
    "a..b",
    "münchen.example",
    "http://a/",
    "https://a.example:8443/x?y#z",
    "ftp://a/",
    "/x",
    "{{base}}/x",
    "http://",
    "HTTP://A/",
    "smtp://a",
    "smtps://mail.example:465",
    "pop3://a",
    "imaps://a/",
    "ftps://a",
    "a:25",
    "a:x",
    "a@b.example",
    "@b",
    "a@",
    "a b@c",
    "_a1",
    "1a",
    "X-A",
    "Host",
    "CONTENT-LENGTH",
    "TE",
    "a:b",
    "a\tb",
    "a\u{0}b",
    "{}",
    "<a/>",
    " <?xml version=\"1.0\"?><a></a>\n",
    "<a",
    "aGk=",
    "aG\nk=",
    "*",
    "00:00",
    "23:59",
    "24:00",
    "1:00",
    "2026-02-28 23:59:59",
    "2026-02-28T00:00:00Z",
    "2026-13-01 00:00:00",
    "********",
    "22:00",
    "shop.example",
];

#[test]
fn schema_and_reader_accept_the_same_values() {
    let components = component_schemas();
    let (mut tried, mut differences, mut tested) = (0, Vec::new(), BTreeSet::new());
    for table in tables() {
        for (role, complete) in [(SchemaRole::Create, true), (SchemaRole::Patch, false)] {
            let schema = &components[&schema_name(table, role)];
            for field in table.fields() {
                // Most fields are in many tables: each is tested once.
                if !tested.insert((field.name, field.description, complete)) {
                    continue;
                }
                let property = &schema["properties"][field.name];
                for value in values(&field.field_type) {
                    let (accepted, conforming) = (
                        is_accepted(table, field, &value, complete),
                        conforms(property, &value, &components),
                    );
                    // Where no expression can describe the format, the schema may accept more than the reader.
                    let is_lenient = conforming && !accepted && has_lenient_pattern(&field.field_type);
                    if accepted != conforming && !is_lenient {
                        differences.push(format!(
                            "{}.{} {role:?} {value}: taken {accepted}",
                            table.name, field.name
                        ));
                    }
                    tried += 1;
                }
            }
        }
    }
    differences.truncate(60);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(tried > 5_000, "{tried} cases");
}

fn has_lenient_pattern(kind: &FieldType) -> bool {
    match kind {
        FieldType::Text { format, .. } => matches!(
            format,
            TextFormat::Json
                | TextFormat::VariablesJson
                | TextFormat::JsonSchema
                | TextFormat::Base64
                | TextFormat::Email
                | TextFormat::HttpUrl
                | TextFormat::HttpUrlTemplate
                | TextFormat::Host
                | TextFormat::ServiceAddress(_)
        ),
        FieldType::List { item_type: of, .. } => has_lenient_pattern(of),
        FieldType::Object(table) => table.fields().iter().any(|field| has_lenient_pattern(&field.field_type)),
        _ => false,
    }
}

#[test]
fn schema_and_reader_require_the_same_fields() {
    let components = component_schemas();
    for table in tables() {
        let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
        reader.read_fields(table, &node(&json!({})), &["type"], true);
        let missing: Vec<_> = reader.errors.iter().map(|error| Value::from(error.path.clone())).collect();
        let create = &components[&schema_name(table, SchemaRole::Create)];
        assert_eq!(
            create.get("required").cloned().unwrap_or(json!([])),
            Value::Array(missing),
            "{}",
            table.name
        );
        assert_eq!(components[&schema_name(table, SchemaRole::Patch)].get("required"), None);
    }
}

#[test]
fn every_example_is_valid_and_conforms_to_its_schema() {
    let components = component_schemas();
    let context = ValidationContext::default();
    for kind in MonitorType::ALL {
        let table = table::for_type(*kind);
        let example = create_example(table);
        assert!(
            conforms(&components[&schema_name(table, SchemaRole::Create)], &example, &components),
            "{kind}: {example}"
        );
        let created = validate_new(*kind, InputFormat::V3, &node(&example), &context)
            .unwrap_or_else(|errors| panic!("{kind}: {errors:?}"));
        let change = patch_example(table);
        assert!(
            conforms(&components[&schema_name(table, SchemaRole::Patch)], &change, &components),
            "{kind}: {change}"
        );
        let changed = merge_and_validate(&created.document, InputFormat::V3, &node(&change), &context);
        assert!(changed.is_ok(), "{kind}: {changed:?}");
    }
    for table in requests::NON_MONITOR_TABLES {
        let example = create_example(table);
        assert!(
            conforms(&components[&schema_name(table, SchemaRole::Create)], &example, &components),
            "{}: {example}",
            table.name
        );
        let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
        reader.read_fields(table, &node(&example), &[], true);
        assert!(reader.errors.is_empty(), "{}: {:?}", table.name, reader.errors);
    }
}

#[test]
fn a_new_monitor_conforms_to_the_schema_of_responses() {
    let components = component_schemas();
    for kind in MonitorType::ALL {
        let table = table::for_type(*kind);
        let created = validate_new(
            *kind,
            InputFormat::V3,
            &node(&create_example(table)),
            &ValidationContext::default(),
        )
        .unwrap();
        let returned = Value::Object(created.document.to_json(SecretMode::Masked));
        let schema = &components[&format!("{}.some", table.name)];
        assert!(conforms(schema, &returned, &components), "{kind}: {returned}");
    }
}
