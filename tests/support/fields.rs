//! What a document says in a field, by the name of the field.

use serde_json::Value;
use vigie::schema::MonitorDocument;

/// The fields of a document by their names: the product reads them into typed settings.
pub trait Fields {
    /// A text; `None` when it is neither set nor has a default.
    fn text(&self, field: &str) -> Option<&str>;
    /// A whole number; 0 when it is neither set nor has a default.
    fn number(&self, field: &str) -> i64;
    /// A yes or no; no when it is neither set nor has a default.
    fn flag(&self, field: &str) -> bool;
    /// The entries of a list; none when it is neither set nor has a default.
    fn list(&self, field: &str) -> &[Value];
}

impl Fields for MonitorDocument {
    fn text(&self, field: &str) -> Option<&str> {
        self.value(field).and_then(Value::as_str)
    }

    fn number(&self, field: &str) -> i64 {
        self.value(field).and_then(Value::as_i64).unwrap_or_default()
    }

    fn flag(&self, field: &str) -> bool {
        self.value(field).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list(&self, field: &str) -> &[Value] {
        self.value(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}
