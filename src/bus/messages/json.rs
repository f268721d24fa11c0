//! Nested values as JSON inside of a message, in the form of the results API (behaviour.md 9).

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::MessageError;
use super::field::FieldOf;

/// Encodes `value`; empty for the default, which the reader then takes.
pub(super) fn encode<T: Serialize + Default + PartialEq>(
    field: FieldOf,
    value: &T,
) -> Result<Vec<u8>, MessageError> {
    if *value == T::default() {
        return Ok(Vec::new());
    }
    serde_json::to_vec(value).map_err(|error| field.invalid(error.to_string()))
}

/// Decodes what [`encode`] returned.
pub(super) fn decode<T: DeserializeOwned + Default>(field: FieldOf, bytes: &[u8]) -> Result<T, MessageError> {
    if bytes.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_slice(bytes).map_err(|error| field.invalid(error.to_string()))
}
