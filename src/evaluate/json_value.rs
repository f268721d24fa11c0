//! Reads and writes values of JSON texts by JSONPath, as test projects do.

use std::cell::Cell;
use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::assertion::json_query::{JsonQuery, compile_json_path, parse_document};

/// Stands at the end of a path for the number of values that it selects.
const LENGTH_CALL: &str = ".length()";

/// Returns the value that `path` selects in `text`. A path that can select several gives an array of them, `length()` at
/// its end their number. `None` when it selects nothing.
///
/// # Errors
/// When the text is not JSON, the path is not a JSONPath, or it visits more than `nodes`.
pub fn read_json(text: &str, path: &str, nodes: &Cell<u64>) -> Result<Option<Value>, String> {
    let (path, counts) = match path.trim().strip_suffix(LENGTH_CALL) {
        Some(counted) => (counted, true),
        None => (path.trim(), false),
    };
    let query = compile(path)?;
    let document = parse_document(text)?;
    let found = query.select(&document, nodes)?;
    let value = match found.as_slice() {
        [] if query.is_single_value() => None,
        [only] if query.is_single_value() => Some((*only).clone()),
        several => Some(Value::Array(several.iter().map(|value| (*value).clone()).collect())),
    };
    Ok(if counts { value.map(|value| Value::from(value_count(&value))) } else { value })
}

/// Returns how many values `value` holds: the items of an array, or one.
#[must_use]
pub fn value_count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Null => 0,
        _ => 1,
    }
}

/// Returns the text of `value`: that of a string, or else compact JSON.
#[must_use]
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns `text` with `value` in the places that `path` selects.
///
/// # Errors
/// As for [`read_json`], and when the path selects nothing.
pub fn write_json(text: &str, path: &str, value: &Value, nodes: &Cell<u64>) -> Result<String, String> {
    let query = compile(path.trim())?;
    let document = parse_document(text)?;
    let pointers = query.locate(&document, nodes)?;
    if pointers.is_empty() {
        return Err("the JSONPath selects nothing".to_owned());
    }
    let mut root = document.into_value();
    for pointer in pointers {
        if let Some(place) = root.pointer_mut(&pointer) {
            place.clone_from(value);
        }
    }
    to_indented_json(&root).map_err(|error| error.to_string())
}

fn compile(path: &str) -> Result<JsonQuery, String> {
    compile_json_path(path).map_err(|error| format!("the JSONPath is not understood: {error}"))
}

/// Writes `value` with three spaces a level, as SoapUI does.
fn to_indented_json(value: &Value) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"   "));
    value.serialize(&mut serializer)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let text = r#"{"a": {"b": [1, "x", null], "c": 1.5}, "d": [{"e": 1, "f": "y"}, {"e": 2, "f": "z"}]}"#;
        for (path, expected) in [
            ("$.a.b[1]", Some("x")),
            ("$.a.c", Some("1.5")),
            ("$.a.b", Some(r#"[1,"x",null]"#)),
            ("$.a.b[2]", Some("null")),
            ("$.d[?(@.f=='z')].e", Some("[2]")),
            ("$.d[?(@.f=='q')].e", Some("[]")),
            ("$.d.length()", Some("2")),
            ("$..e.length()", Some("2")),
            ("$.missing", None),
        ] {
            let found = read_json(text, path, &Cell::new(100)).unwrap();
            assert_eq!(found.as_ref().map(value_text).as_deref(), expected, "{path}");
        }
        assert!(read_json("<a/>", "$.a", &Cell::new(100)).is_err());
        assert!(read_json("{}", "$[", &Cell::new(100)).is_err());
    }

    #[test]
    fn values_are_written() {
        let text = r#"{"a": {"b": 1}, "c": [1, 2]}"#;
        let written = write_json(text, "$.a.b", &Value::from("x"), &Cell::new(100)).unwrap();
        assert_eq!(
            written,
            "{\n   \"a\": {\n      \"b\": \"x\"\n   },\n   \"c\": [\n      1,\n      2\n   ]\n}"
        );
        assert_eq!(
            read_json(
                &write_json(text, "$.c[*]", &Value::from(7), &Cell::new(100)).unwrap(),
                "$.c",
                &Cell::new(100)
            )
            .unwrap()
            .unwrap(),
            serde_json::json!([7, 7])
        );
        assert!(write_json(text, "$.missing", &Value::Null, &Cell::new(100)).is_err());
    }
}
