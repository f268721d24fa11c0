//! Files with variables: environments and globals.

use serde_json::Value;

use super::parse::CollectionError;
use crate::syntax::node::{Node, NodeValue, Position};

/// The variables of a file.
#[derive(Clone, Default)]
pub struct VariableFile {
    /// Its name.
    pub name: String,
    /// The variables that are switched on.
    pub variables: Vec<(String, Value)>,
    /// The values of those of type secret.
    pub secret_values: Vec<String>,
}

/// Reads an environment: an export with `values`, or one object of names and values.
///
/// # Errors
/// Fails with position and reason when it is neither.
pub fn parse_variable_file(text: &str) -> Result<VariableFile, CollectionError> {
    let root = Node::from_json_with_positions(text)
        .map_err(|error| CollectionError { position: error.position, message: error.message })?;
    let error = |position: Position, message: &str| CollectionError { position, message: message.to_owned() };
    if !matches!(root.value, NodeValue::Map(_)) {
        return Err(error(root.position, "this is no environment: it is no object"));
    }
    let name = root.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
    let Some(values) = root.get("values") else {
        let variables =
            root.entries().iter().map(|(key, value)| (key.name.clone(), value.to_json())).collect();
        return Ok(VariableFile { name: String::new(), variables, secret_values: Vec::new() });
    };
    let mut file = VariableFile { name, ..VariableFile::default() };
    for entry in values.items() {
        if matches!(entry.get("enabled").map(|flag| &flag.value), Some(NodeValue::Bool(false))) {
            continue;
        }
        let Some(key) = entry.get("key").and_then(Node::as_text) else {
            return Err(error(entry.position, "a variable without `key`"));
        };
        let value = entry.get("value").map_or(Value::Null, Node::to_json);
        if entry.get("type").and_then(Node::as_text) == Some("secret")
            && let Some(secret) = value.as_str().filter(|text| !text.is_empty())
        {
            file.secret_values.push(secret.to_owned());
        }
        file.variables.push((key.to_owned(), value));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exports_and_plain_objects_are_read() {
        let text = r#"{"name": "Local", "values": [
            {"key": "a", "value": "1", "enabled": true},
            {"key": "b", "value": "2", "enabled": false},
            {"key": "token", "value": "s3cret", "type": "secret"}]}"#;
        let file = parse_variable_file(&format!("\u{feff}{text}")).ok().unwrap();
        assert_eq!((file.name.as_str(), &file.secret_values[..]), ("Local", &["s3cret".to_owned()][..]));
        assert_eq!(file.variables, [("a".into(), json!("1")), ("token".into(), json!("s3cret"))]);
        let file = parse_variable_file(r#"{"a": 1, "b": "x"}"#).ok().unwrap();
        assert_eq!(file.variables, [("a".into(), json!(1)), ("b".into(), json!("x"))]);
    }

    #[test]
    fn broken_files_name_their_place() {
        for (text, expected) in [
            ("[1]", "1:1: this is no environment"),
            ("{\"values\": [{\"value\": 1}]}", "1:13: a variable without `key`"),
            ("{\"values\": ", "1:"),
        ] {
            let error = parse_variable_file(text).err().unwrap().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
