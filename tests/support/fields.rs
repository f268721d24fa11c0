//! Reads fields of a monitor document by name.

use serde_json::Value;
use vigie::schema::MonitorDocument;

/// Access to the fields of a document by name; the product reads them into typed settings instead.
pub trait Fields {
    /// Returns a text; `None` when it is neither set nor has a default.
    fn text(&self, field: &str) -> Option<&str>;
    /// Returns an integer; 0 when it is neither set nor has a default.
    fn number(&self, field: &str) -> i64;
    /// Returns a boolean; `false` when it is neither set nor has a default.
    fn flag(&self, field: &str) -> bool;
    /// Returns the entries of a list; empty when it is neither set nor has a default.
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
