//! The collections of `cases/`: each file holds a collection and what it is run with.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

/// A collection and what it is run with.
pub struct Case {
    pub name: &'static str,
    pub document: Value,
}

/// Every case.
pub const NAMES: [&str; 12] = [
    "auth",
    "behavior",
    "bodies",
    "data",
    "expect",
    "flow",
    "format-2.0",
    "order",
    "response",
    "script-api",
    "shape",
    "variables",
];

/// Returns the folder of a kind of file.
pub fn folder(kind: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/collection").join(kind)
}

impl Case {
    pub fn read(name: &'static str) -> Self {
        let text = std::fs::read_to_string(folder("cases").join(format!("{name}.json"))).unwrap();
        Self { name, document: serde_json::from_str(&text).unwrap() }
    }

    /// Returns the fields of a monitor that runs it at `base`.
    pub fn fields(&self, base: &str) -> Map<String, Value> {
        let text = |key: &str| match &self.document[key] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        };
        let mut environment = self.document["environment"].clone();
        if environment.is_null() {
            environment = json!({"name": "Local", "values": []});
        }
        environment["values"]
            .as_array_mut()
            .unwrap()
            .push(json!({"key": "base", "value": base, "enabled": true}));
        let files: Vec<Value> = self.document["files"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, content)| json!({"name": name, "base64": content}))
            .collect();
        let mut fields = Map::new();
        fields.insert("script".to_owned(), text("collection").into());
        fields.insert("environment".to_owned(), environment.to_string().into());
        fields.insert("files".to_owned(), files.into());
        for key in ["globals", "data"] {
            if let Some(text) = text(key) {
                fields.insert(key.to_owned(), text.into());
            }
        }
        fields
    }
}
