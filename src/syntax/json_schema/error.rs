//! Errors of schemas.

/// Why a schema cannot be used, with the JSON pointer of the place in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.place_prefix())]
pub struct JsonSchemaError {
    pointer: String,
    message: String,
}

impl JsonSchemaError {
    pub(super) fn new(pointer: &str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.to_owned(), message: message.into() }
    }

    /// Returns the start of the error text that names the place; empty for the root.
    fn place_prefix(&self) -> String {
        if self.pointer.is_empty() { String::new() } else { format!("at `{}`: ", self.pointer) }
    }
}
