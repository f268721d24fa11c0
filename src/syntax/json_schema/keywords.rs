//! Where the keywords of JSON Schema 2020-12 have subschemas (core 10, 11 and 8.5 of draft-bhutton-json-schema-01).

use serde_json::{Map, Value};

/// How an instance reaches a subschema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applicator {
    /// The same value.
    InPlace,
    /// The same value, as one of several alternatives.
    Alternative,
    /// The member with the name of the subschema.
    Property,
    /// Members whose name matches a pattern.
    PatternProperty,
    /// Members that no other keyword names.
    AdditionalProperties,
    /// Every name.
    PropertyNames,
    /// The item at the index of the subschema.
    PrefixItem,
    /// The items behind those.
    Items,
    /// Every item.
    Contains,
    /// None: the subschema is only there to be referred to.
    Definition,
}

/// How the subschemas stand in the value of a keyword.
#[derive(Clone, Copy)]
enum Shape {
    One,
    List,
    ByName,
}

/// Keywords that cannot be evaluated within bounds, with the reason.
pub(super) const REFUSED_KEYWORDS: &[(&str, &str)] = &[
    ("$dynamicRef", "its target depends on the document; use `$ref`"),
    ("$dynamicAnchor", "it is for `$dynamicRef`; use `$anchor`"),
    ("unevaluatedProperties", "it evaluates other subschemas again; use `additionalProperties`"),
    ("unevaluatedItems", "it evaluates other subschemas again; use `items`"),
];

const SUBSCHEMA_KEYWORDS: &[(&str, Shape, Applicator)] = &[
    ("allOf", Shape::List, Applicator::InPlace),
    ("anyOf", Shape::List, Applicator::Alternative),
    ("oneOf", Shape::List, Applicator::Alternative),
    ("not", Shape::One, Applicator::InPlace),
    ("if", Shape::One, Applicator::InPlace),
    ("then", Shape::One, Applicator::InPlace),
    ("else", Shape::One, Applicator::InPlace),
    ("dependentSchemas", Shape::ByName, Applicator::InPlace),
    // Of older drafts; the crate still evaluates it.
    ("dependencies", Shape::ByName, Applicator::InPlace),
    ("properties", Shape::ByName, Applicator::Property),
    ("patternProperties", Shape::ByName, Applicator::PatternProperty),
    ("additionalProperties", Shape::One, Applicator::AdditionalProperties),
    ("propertyNames", Shape::One, Applicator::PropertyNames),
    ("prefixItems", Shape::List, Applicator::PrefixItem),
    ("items", Shape::One, Applicator::Items),
    ("contains", Shape::One, Applicator::Contains),
    ("contentSchema", Shape::One, Applicator::Definition),
    ("$defs", Shape::ByName, Applicator::Definition),
    ("definitions", Shape::ByName, Applicator::Definition),
];

/// A subschema in its parent.
pub(super) struct Subschema<'s> {
    pub(super) applicator: Applicator,
    /// JSON pointer from the root of the schema.
    pub(super) pointer: String,
    /// Its name, where the keyword has subschemas by name.
    pub(super) name: &'s str,
    pub(super) schema: &'s Value,
}

/// Returns the subschemas of `schema`, whose pointer is `pointer`.
pub(super) fn subschemas<'s>(schema: &'s Map<String, Value>, pointer: &str) -> Vec<Subschema<'s>> {
    let mut found = Vec::new();
    for (keyword, shape, applicator) in SUBSCHEMA_KEYWORDS {
        let Some(value) = schema.get(*keyword) else { continue };
        let mut add = |pointer: String, name, schema: &'s Value| {
            if schema.is_object() || schema.is_boolean() {
                found.push(Subschema { applicator: *applicator, pointer, name, schema });
            }
        };
        match (shape, value) {
            (Shape::One, schema) => add(format!("{pointer}/{keyword}"), "", schema),
            (Shape::List, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    add(format!("{pointer}/{keyword}/{index}"), "", schema);
                }
            }
            (Shape::ByName, Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    let escaped = name.replace('~', "~0").replace('/', "~1");
                    add(format!("{pointer}/{keyword}/{escaped}"), name, schema);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the number of values and names that `schema` compares with a value: its cost without that of its subschemas.
pub(super) fn comparison_cost(schema: &Map<String, Value>) -> u64 {
    let compared_keywords = ["enum", "const", "required", "dependentRequired", "dependencies"];
    let compared =
        compared_keywords.iter().filter_map(|keyword| schema.get(*keyword)).map(compared_size).sum::<u64>();
    let names =
        ["properties", "patternProperties"].iter().filter_map(|keyword| schema.get(*keyword)?.as_object());
    compared + names.map(|names| names.len() as u64).sum::<u64>() + schema.len() as u64 + 1
}

/// Returns the number of values in `value`, long texts counting more: the work of comparing it with another.
pub(super) fn compared_size(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text.len() as u64 / 64,
        Value::Array(items) => 1 + items.iter().map(compared_size).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(compared_size).sum::<u64>(),
        _ => 1,
    }
}
