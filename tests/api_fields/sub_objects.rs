//! Sub-objects (interface.md 2.3): each of their fields with each of its values.

use serde_json::{Map, Value, json};
use vigie::schema::field::{Access, Field};
use vigie::schema::table::FieldTable;

use vigie::syntax::text_format::TextFormat;

use crate::api_fields::valid_values::{long, of_length, values};

/// The allowed pairs of fields.md 4.
pub const PAIRS: [(&str, &[&str]); 6] = [
    (
        "Response",
        &[
            "equals",
            "does not equal",
            "contains",
            "does not contain",
            "regular expression includes",
            "regular expression excludes",
        ],
    ),
    ("JSON Response", COMPARISONS),
    ("XML Response", NODE_COMPARISONS),
    ("Timeout", &["less than or equal"]),
    ("Status Code", &["equals", "does not equal"]),
    (
        "Header",
        &[
            "equals",
            "does not equal",
            "contains",
            "does not contain",
            "exists",
            "does not exist",
            "regular expression includes",
            "regular expression excludes",
            "less than",
            "less than or equal",
            "greater than",
            "greater than or equal",
        ],
    ),
];

/// All comparisons: those of interface.md 2.3, and extensions.
pub const COMPARISONS: &[&str] = &[
    "equals",
    "does not equal",
    "less than or equal",
    "contains",
    "does not contain",
    "count",
    "exists",
    "does not exist",
    "regular expression includes",
    "regular expression excludes",
    "less than",
    "greater than",
    "greater than or equal",
    "matches schema",
];

/// Those that nodes of XML have too.
const NODE_COMPARISONS: &[&str] = COMPARISONS.split_last().unwrap().1;

/// Returns the fields of a sub-object that a client may set.
pub fn settable_fields(table: &'static FieldTable) -> impl Iterator<Item = &'static Field> {
    table.fields().iter().copied().filter(|field| field.access == Access::ReadWrite)
}

/// Returns objects of `table` that together have every value of every field. `first_index` is the index of the first in
/// its list, for fields that must be unique.
pub fn objects(table: &'static FieldTable, first_index: usize) -> Vec<Value> {
    match table.name {
        "Assertion" => return assertions(),
        "Variable" => return variables(first_index),
        _ => {}
    }
    let cases: Vec<(&Field, Vec<Value>)> = settable_fields(table)
        .map(|field| {
            let is_usable = |value: &Value| value != "" || field.default_value().is_some();
            let values_of_field = match field.name {
                "variables" => vec![json!([])],
                _ => values(&field.field_type).into_iter().filter(is_usable).collect(),
            };
            (field, values_of_field)
        })
        .collect();
    // A field that is not required is also left out once.
    let case_count = |field: &Field, values: &[Value]| values.len() + usize::from(!field.required);
    let max = cases.iter().map(|(field, values)| case_count(field, values)).max().unwrap_or(1);
    let object = |at: usize| {
        let set = cases.iter().filter_map(|(field, values)| {
            Some((field.name.to_owned(), values.get(at % case_count(field, values))?.clone()))
        });
        completed(table, set.collect(), first_index + at)
    };
    (0..max).map(object).collect()
}

/// Returns the shortest object of `table`, for index `at` of a list.
pub fn minimal_object(table: &'static FieldTable, at: usize) -> Value {
    if table.name == "Variable" {
        return json!({"name": format!("v{at}"), "property": "$.a"});
    }
    let required = settable_fields(table).filter(|field| field.required);
    let set = required.map(|field| (field.name.to_owned(), values(&field.field_type)[0].clone()));
    completed(table, set.collect(), at)
}

/// Completes an object with the fields that others of it require.
fn completed(table: &'static FieldTable, mut object: Map<String, Value>, at: usize) -> Value {
    match table.name {
        "ContentView" => {
            object.insert("id".to_owned(), json!(if at == 0 { i64::MAX.unsigned_abs() } else { at as u64 }));
        }
        "Threshold" if !object.contains_key("warning") && !object.contains_key("error") => {
            object.insert("error".to_owned(), json!(-0.5));
        }
        "DialogueLine" if object.is_empty() => {
            object.insert("expect".to_owned(), json!("^220 "));
        }
        "ApiStep" => complete_step(&mut object, at),
        // Fields that a change omits keep their value, so all are set.
        "Capture" => {
            for field in settable_fields(table) {
                object.entry(field.name).or_insert_with(|| field.default_value().unwrap());
            }
        }
        _ => {}
    }
    Value::Object(object)
}

fn complete_step(step: &mut Map<String, Value>, at: usize) {
    if step.get("http_method") == Some(&json!("CUSTOM")) {
        step.entry("custom_method").or_insert_with(|| json!("PURGE"));
    } else if step.contains_key("custom_method") {
        step.insert("http_method".to_owned(), json!("CUSTOM"));
    }
    if step.contains_key("step_number") {
        step.insert("step_number".to_owned(), json!(50 - at));
    }
    if step.contains_key("variables") {
        step.insert("variables".to_owned(), json!(variables(100 * at)));
    }
}

fn assertions() -> Vec<Value> {
    let assertions_of = |(source, comparisons): &(&str, &[&str])| -> Vec<Value> {
        let assertion_with = |comparison: &&str| {
            let property = match *source {
                "JSON Response" => format!("$['{}']", long(251)),
                "XML Response" => "//a:b[@c='ä']".to_owned(),
                "Header" => long(256),
                _ => String::new(),
            };
            let value = match (*source, *comparison) {
                ("Timeout", _) => "2.125".to_owned(),
                ("Status Code", _) => "200, 301-308,4xx".to_owned(),
                (_, "count") => "3".to_owned(),
                (_, "less than or equal" | "less than" | "greater than" | "greater than or equal") => {
                    "-3.5".to_owned()
                }
                _ => long(256),
            };
            let mut assertion = json!({"source": source, "comparison": comparison, "value": value});
            if !property.is_empty() {
                assertion["property"] = json!(property);
            }
            if *comparison == "matches schema" {
                assertion["schema"] = json!(of_length(TextFormat::JsonSchema, 3000));
            }
            assertion
        };
        comparisons.iter().map(assertion_with).collect()
    };
    let add_required_fields = json!({"source": "Response", "comparison": "equals"});
    [add_required_fields].into_iter().chain(PAIRS.iter().flat_map(assertions_of)).collect()
}

fn variables(from: usize) -> Vec<Value> {
    let variable_of = |(at, (source, property)): (usize, (&str, &str))| {
        let mut variable = json!({"name": format!("v{}", from + at), "property": property});
        if !source.is_empty() {
            variable["source"] = json!(source);
        }
        variable
    };
    let long_name = "n".repeat(250) + &format!("{from:05}");
    let longest = json!({"name": long_name, "property": long(1024), "source": "Header"});
    let sources = [
        ("", "x"),
        ("JSON Response", "$.a[0]"),
        ("XML Response", "//a"),
        ("Header", "ETag"),
        ("Response", "a(b)"),
    ];
    sources.into_iter().enumerate().map(variable_of).chain([longest]).collect()
}
