//! Tests of schemas: what they refuse, what mismatches say, and hostile ones within bounds.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{JsonSchema, SchemaValidation};

const BUDGET: u64 = 10_000_000;

fn compile(schema: &Value) -> JsonSchema {
    JsonSchema::new(&schema.to_string()).unwrap()
}

fn evaluate(schema: &Value, value: &Value) -> SchemaValidation {
    compile(schema).evaluate(value, &mut BUDGET.clone())
}

/// Returns the path, the keyword and the expectation of the mismatch, `""` when there is none.
fn mismatch(schema: &Value, value: &Value) -> String {
    match evaluate(schema, value) {
        SchemaValidation::Valid => String::new(),
        SchemaValidation::Invalid(found) => {
            format!("{} {}: {}", found.json_path(value), found.keyword, found.expectation)
        }
        validation @ SchemaValidation::TooCostly { .. } => format!("{validation:?}"),
    }
}

#[test]
fn every_keyword_is_evaluated_and_names_its_place() {
    let orders = json!({"items": [{"price": 1, "unit price": 2}, {"price": "x"}], "kind": "a"});
    let item = |schema: Value| json!({"properties": {"items": {"items": schema}}});
    for (schema, expected) in [
        (json!({"type": "object", "required": ["items", "kind"]}), ""),
        (json!(true), ""),
        (json!(false), "$ falseSchema: False schema does not allow it"),
        (json!({"type": "array"}), r#"$ type: it is not of type "array""#),
        (json!({"required": ["a/b"]}), r#"$ required: "a/b" is a required property"#),
        (
            item(json!({"properties": {"price": {"type": "number"}}})),
            r#"$.items[1].price type: it is not of type "number""#,
        ),
        (
            item(json!({"properties": {"unit price": {"maximum": 1}}})),
            r#"$.items[0]["unit price"] maximum: it is greater than the maximum of 1"#,
        ),
        (
            item(json!({"$ref": "#/$defs/price"})).as_object().map_or(Value::Null, |object| {
                let mut object = object.clone();
                object.insert("$defs".into(), json!({"price": {"minProperties": 2}}));
                Value::Object(object)
            }),
            "$.items[1] minProperties: it has less than 2 properties",
        ),
        (
            json!({"properties": {"kind": {"enum": ["b", "c"]}}}),
            r#"$.kind enum: it is not one of "b" or "c""#,
        ),
        (json!({"properties": {"kind": {"const": "b"}}}), r#"$.kind const: "b" was expected"#),
        (json!({"properties": {"kind": {"pattern": "^b"}}}), r#"$.kind pattern: it does not match "^b""#),
        (
            json!({"properties": {"kind": {"anyOf": [{"minLength": 2}, {"type": "null"}]}}}),
            "$.kind anyOf: it is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
        (json!({"properties": {"items": {"maxItems": 1}}}), "$.items maxItems: it has more than 1 item"),
        (json!({"propertyNames": {"maxLength": 4}}), ""),
        // Annotations check nothing.
        (json!({"properties": {"kind": {"format": "date", "contentEncoding": "base64"}}}), ""),
    ] {
        let found = mismatch(&schema, &orders);
        if expected.is_empty() {
            let expected = if schema.get("propertyNames").is_some() { "$ propertyNames" } else { "" };
            assert!(
                found.starts_with(expected) && found.is_empty() == expected.is_empty(),
                "{schema}: {found}"
            );
        } else {
            assert_eq!(found, expected, "{schema}");
        }
    }
}

#[test]
fn identities_anchors_and_recursion_into_the_document_work() {
    let tree = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://schemas.example/tree",
        "$ref": "#node",
        "$defs": {"node": {
            "$anchor": "node",
            "type": "object",
            "properties": {
                "left": {"$ref": "https://schemas.example/tree#/$defs/node"},
                "right": {"$ref": "#node"},
                "value": {"type": "integer"},
            },
            "additionalProperties": false,
        }},
    });
    let mut deep = json!({"value": 1});
    for _ in 0..100 {
        deep = json!({"left": deep, "right": {"value": 2}});
    }
    assert_eq!(evaluate(&tree, &deep), SchemaValidation::Valid);
    deep["right"]["right"] = json!({"value": "x"});
    assert_eq!(mismatch(&tree, &deep), r#"$.right.right.value type: it is not of type "integer""#);
    let openapi =
        json!({"components": {"schemas": {"a b": {"type": "null"}}}, "$ref": "#/components/schemas/a%20b"});
    assert_eq!(mismatch(&openapi, &json!(1)), r#"$ type: it is not of type "null""#);
}

#[test]
fn what_cannot_be_used_is_refused_with_its_place() {
    for (schema, expected) in [
        (json!([]), "a schema is an object, `true` or `false`"),
        (json!({"type": "text"}), "at `/type`: "),
        (json!({"properties": {"a": {"minimum": "1"}}}), "at `/properties/a/minimum`: "),
        (json!({"$schema": "http://json-schema.org/draft-07/schema#"}), "at `/$schema`: the draft "),
        (
            json!({"items": {"$ref": "https://other.example/a.json"}}),
            "at `/items/$ref`: `https://other.example/a.json` is outside of the schema",
        ),
        (json!({"$ref": "other.json#/a"}), "at `/$ref`: `other.json#/a` is outside"),
        (json!({"$ref": "file:///etc/passwd"}), "at `/$ref`: `file:///etc/passwd` is outside"),
        (
            json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
            "at `/$ref`: `https://json-schema.org/draft/2020-12/schema` is outside",
        ),
        (json!({"$ref": "#/$defs/a"}), "at `/$ref`: there is nothing at `#/$defs/a`"),
        (json!({"$ref": "#a"}), "at `/$ref`: there is no anchor `#a`"),
        (json!({"a": 1, "$ref": "#/a"}), "at `/$ref`: there is no schema at `#/a`"),
        (json!({"items": {"$id": "a"}}), "at `/items/$id`: `$id` is supported at the root alone"),
        (json!({"x": {"items": {"$dynamicRef": "#a"}}, "$ref": "#/x"}), "at `/x/items/$dynamicRef`: "),
        (
            json!({"unevaluatedProperties": false}),
            "at `/unevaluatedProperties`: `unevaluatedProperties` is not",
        ),
        (json!({"not": {"unevaluatedItems": true}}), "at `/not/unevaluatedItems`: "),
        (json!({"pattern": "(?=a)"}), "at `/pattern`: the regular expression cannot be used: "),
        (json!({"patternProperties": {"(": {}}}), "at `/patternProperties/(`: the regular expression"),
        (
            json!({"pattern": r"\w{500}{500}"}),
            "at `/pattern`: the regular expression cannot be used: compiled",
        ),
        (
            json!({"allOf": [{"$ref": "#"}]}),
            "at ``: the subschema applies itself".trim_start_matches("at ``: "),
        ),
        (
            json!({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
            "the subschema applies itself to the same value without end",
        ),
    ] {
        let error = JsonSchema::new(&schema.to_string()).unwrap_err().to_string();
        assert!(error.contains(expected), "{schema}: {error}");
    }
    assert!(JsonSchema::new("{").unwrap_err().to_string().starts_with("it is not JSON: "));
    let long = format!("{{\"title\": \"{}\"}}", "a".repeat(64 * 1024));
    assert!(JsonSchema::new(&long).unwrap_err().to_string().contains("more than the limit of 65536"));
    let deep = format!("{}true{}", "{\"not\":".repeat(100), "}".repeat(100));
    assert!(JsonSchema::new(&deep).unwrap_err().to_string().contains("more than 64 subschemas"));
    assert!(
        JsonSchema::new(&"{\"items\":".repeat(5_000)).unwrap_err().to_string().contains("recursion limit")
    );
}

/// Definitions `0` to `count`, each applying the next one as `apply` says.
fn chain(count: usize, apply: impl Fn(Value) -> Value) -> Value {
    let next = |index: usize| json!({"$ref": format!("#/$defs/{}", index + 1)});
    let mut definitions: serde_json::Map<String, Value> =
        (0..count).map(|index| (index.to_string(), apply(next(index)))).collect();
    definitions.insert(count.to_string(), json!({"type": "null"}));
    json!({"$defs": definitions, "$ref": "#/$defs/0"})
}

#[test]
fn hostile_schemas_end_soon() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |value, _| json!([value]));
    let doubled_in_place = chain(30, |next| json!({"allOf": [next, next]}));
    let alternatives = chain(15, |next| json!({"anyOf": [next, next], "oneOf": [next]}));
    let doubled_below = json!({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]});
    let contains = chain(30, |next| json!({"contains": next, "items": next}));
    let wide = Value::from(vec![nested(2); 300_000]);
    let long_text = Value::from("a".repeat(4 * 1024 * 1024));
    let slow_pattern = json!({"pattern": "(?:[a-c ]{100,200}){8}y"});
    let lists: Vec<Value> = (0..60_000).map(|number| json!([number, [number]])).collect();
    let unique = json!({"uniqueItems": true});
    let started_at = Instant::now();
    for (name, schema, value) in [
        ("doubled in place", doubled_in_place, nested(1)),
        ("alternatives", alternatives, nested(1)),
        ("doubled below", doubled_below, nested(120)),
        ("contains", contains, nested(100)),
        ("wide", chain(30, |next| json!({"allOf": [next, {"items": {"type": "array"}}]})), wide),
        ("pattern", slow_pattern, long_text),
        ("unique", unique, Value::from(lists)),
    ] {
        let compile_started_at = Instant::now();
        let schema = compile(&schema);
        let evaluation_started_at = Instant::now();
        let validation = schema.evaluate(&value, &mut BUDGET.clone());
        println!(
            "{name}: {:?} {:?}",
            evaluation_started_at - compile_started_at,
            evaluation_started_at.elapsed()
        );
        assert!(matches!(validation, SchemaValidation::TooCostly { .. }), "{name}: {validation:?}");
    }
    assert!(started_at.elapsed() < Duration::from_secs(20), "{:?}", started_at.elapsed());
}

#[test]
fn work_just_within_the_bounds_takes_seconds_and_little_stack() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |value, _| json!([value]));
    // Levels of the document with 5 evaluations each; and references one after the other, as long as a schema is.
    let recursive = json!({"allOf": [{"allOf": [{"allOf": [{"items": {"$ref": "#"}}]}]}]});
    let alternatives =
        json!({"anyOf": [{"oneOf": [{"anyOf": [{"items": {"$ref": "#"}, "type": "array"}]}]}]});
    let long_chain = chain(1_500, |next| json!({"items": next}));
    let many = Value::from((0..400_000).map(|number| json!({"a": number})).collect::<Vec<_>>());
    let members = json!({"items": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}});
    for (name, schema, value) in [
        ("recursive", recursive, nested(119)),
        ("alternatives", alternatives, nested(119)),
        ("chain", long_chain, nested(120)),
        ("doubled", chain(17, |next| json!({"allOf": [next, next]})), json!(null)),
        ("many", members, many),
        ("pattern", json!({"pattern": "(?:[a-c ]{100,200}){8}y"}), "abc ".repeat(4_000).into()),
    ] {
        let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
        let worker = thread.spawn(move || {
            let schema = compile(&schema);
            let mut remaining_budget = BUDGET;
            let started_at = Instant::now();
            let validation = schema.evaluate(&value, &mut remaining_budget);
            println!("{name}: {} units {:?}", BUDGET - remaining_budget, started_at.elapsed());
            assert!(!matches!(validation, SchemaValidation::TooCostly { .. }), "{name}: {validation:?}");
            assert!(started_at.elapsed() < Duration::from_secs(10), "{name}: {:?}", started_at.elapsed());
        });
        worker.unwrap().join().unwrap();
    }
}

#[test]
fn the_budget_is_shared_by_evaluations() {
    let schema = compile(&json!({"type": "null"}));
    let mut budget = 5;
    assert_eq!(schema.evaluate(&json!(null), &mut budget), SchemaValidation::Valid);
    assert!(budget < 5);
    while schema.evaluate(&json!(null), &mut budget) == SchemaValidation::Valid {}
    assert_eq!(schema.evaluate(&json!(null), &mut budget), SchemaValidation::TooCostly { value_count: 1 });
}

#[test]
fn large_schemas_are_compiled_soon() {
    let branches: Vec<Value> =
        (0..900).map(|number| json!({"properties": {"kind": {"const": format!("k{number}")}}})).collect();
    let patterns: Vec<Value> =
        (0..800).map(|number| json!({"pattern": format!("^a{number}[b-e]*$")})).collect();
    let nested = (0..60).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
    for (name, schema) in [
        ("references", chain(800, |next| json!({"items": next, "contains": next}))),
        ("alternatives", json!({"oneOf": branches})),
        ("patterns", json!({"prefixItems": patterns})),
        ("members", json!({"allOf": vec![nested; 40]})),
    ] {
        let started_at = Instant::now();
        compile(&schema);
        println!("{name}: {} bytes {:?}", schema.to_string().len(), started_at.elapsed());
        assert!(started_at.elapsed() < Duration::from_secs(5), "{name}: {:?}", started_at.elapsed());
    }
}
