//! The validated fields of one monitor.

use serde_json::{Map, Value};

use super::MonitorType;

/// The fields of a monitor as its author set them, checked against the field table. Fields that were
/// not set answer with the default of the table.
#[derive(Clone, PartialEq)]
pub struct Document {
    kind: MonitorType,
    values: Map<String, Value>,
}

impl Document {
    /// Takes `values` as they are. Only for values that were checked before, such as those from the store.
    #[must_use]
    pub fn trusted(kind: MonitorType, values: Map<String, Value>) -> Self {
        Self { kind, values }
    }

    /// The type that the fields belong to.
    #[must_use]
    pub fn kind(&self) -> MonitorType {
        self.kind
    }

    /// The fields that were set, as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(self.values.clone())
    }

    /// The value set for `field`, or its default; `None` where there is neither.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&Value> {
        self.values.get(field).filter(|value| !value.is_null())
    }

    /// A text; `None` when it is neither set nor has a default.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.value(field).and_then(Value::as_str)
    }

    /// A whole number; 0 when it is neither set nor has a default.
    #[must_use]
    pub fn number(&self, field: &str) -> i64 {
        self.value(field).and_then(Value::as_i64).unwrap_or_default()
    }

    /// A yes or no; no when it is neither set nor has a default.
    #[must_use]
    pub fn flag(&self, field: &str) -> bool {
        self.value(field).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The entries of an array; none when it is neither set nor has a default.
    #[must_use]
    pub fn list(&self, field: &str) -> &[Value] {
        self.value(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("kind", &self.kind).finish_non_exhaustive()
    }
}
