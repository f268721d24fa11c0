//! Sub-objects (interface.md 2.3): each of their fields with its values in turn.

use serde_json::{Map, Value, json};
use vigie::schema::field::{Access, Field};
use vigie::schema::table::FieldTable;

use crate::api_fields::good::{long, values};

/// Allowed pairs of fields.md 4.
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
    ("XML Response", COMPARISONS),
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
        ],
    ),
];

/// All of interface.md 2.3.
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
];

/// The fields of a part that an author sets.
pub fn open(table: &'static FieldTable) -> impl Iterator<Item = &'static Field> {
    table.fields().iter().copied().filter(|field| field.access == Access::ReadWrite)
}

/// Objects of `table` that have every value of every field among them; `place` is that of the first in its
/// list, for what has to be unique.
pub fn objects(table: &'static FieldTable, place: usize) -> Vec<Value> {
    match table.name {
        "Assertion" => return assertions(),
        "Variable" => return variables(place),
        _ => {}
    }
    let cases: Vec<(&Field, Vec<Value>)> = open(table)
        .map(|field| {
            let plain = |value: &Value| value != "" || field.default_value().is_some();
            let inner = match field.name {
                "variables" => vec![json!([])],
                _ => values(&field.field_type).into_iter().filter(plain).collect(),
            };
            (field, inner)
        })
        .collect();
    // What is not required is left out once, too.
    let turns = |field: &Field, values: &[Value]| values.len() + usize::from(!field.required);
    let max = cases.iter().map(|(field, values)| turns(field, values)).max().unwrap_or(1);
    let object = |at: usize| {
        let set = cases.iter().filter_map(|(field, values)| {
            Some((field.name.to_owned(), values.get(at % turns(field, values))?.clone()))
        });
        mended(table, set.collect(), place + at)
    };
    (0..max).map(object).collect()
}

/// The shortest object of `table`, for the place `at` of a list.
pub fn short(table: &'static FieldTable, at: usize) -> Value {
    if table.name == "Variable" {
        return json!({"name": format!("v{at}"), "property": "$.a"});
    }
    let required = open(table).filter(|field| field.required);
    let set = required.map(|field| (field.name.to_owned(), values(&field.field_type)[0].clone()));
    mended(table, set.collect(), at)
}

/// Ties between the fields of one object.
fn mended(table: &'static FieldTable, mut object: Map<String, Value>, at: usize) -> Value {
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
        "ApiStep" => step(&mut object, at),
        // What a change leaves out of an object stays as it is.
        "Capture" => {
            for field in open(table) {
                object.entry(field.name).or_insert_with(|| field.default_value().unwrap());
            }
        }
        _ => {}
    }
    Value::Object(object)
}

fn step(step: &mut Map<String, Value>, at: usize) {
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
    let of_source = |(source, comparisons): &(&str, &[&str])| -> Vec<Value> {
        let of = |comparison: &&str| {
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
                (_, "less than or equal") => "-3.5".to_owned(),
                _ => long(256),
            };
            let mut assertion = json!({"source": source, "comparison": comparison, "value": value});
            if !property.is_empty() {
                assertion["property"] = json!(property);
            }
            assertion
        };
        comparisons.iter().map(of).collect()
    };
    let bare = json!({"source": "Response", "comparison": "equals"});
    [bare].into_iter().chain(PAIRS.iter().flat_map(of_source)).collect()
}

fn variables(from: usize) -> Vec<Value> {
    let of = |(at, (source, property)): (usize, (&str, &str))| {
        let mut variable = json!({"name": format!("v{}", from + at), "property": property});
        if !source.is_empty() {
            variable["source"] = json!(source);
        }
        variable
    };
    let long_name = "n".repeat(250) + &format!("{from:05}");
    let most = json!({"name": long_name, "property": long(1024), "source": "Header"});
    let sources = [
        ("", "x"),
        ("JSON Response", "$.a[0]"),
        ("XML Response", "//a"),
        ("Header", "ETag"),
        ("Response", "a(b)"),
    ];
    sources.into_iter().enumerate().map(of).chain([most]).collect()
}
