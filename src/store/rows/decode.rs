//! Decoding of stored values. A value that this build cannot decode is an error that names its row, never a default,
//! which would be written over the value.

use std::fmt::{self, Display, Write as _};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::contract::StoreError;

/// Identifies a row in errors: its table and the columns of its key.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct RowLocator<'a> {
    pub(in crate::store) table: &'static str,
    pub(in crate::store) key: &'a [(&'static str, i64)],
}

/// A stored value that cannot be decoded.
#[derive(Debug)]
pub(in crate::store) struct DecodeError {
    table: &'static str,
    row: String,
    column: &'static str,
    reason: String,
}

impl Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table `{}`, row {}, column `{}`: {}", self.table, self.row, self.column, self.reason)
    }
}

impl std::error::Error for DecodeError {}

impl DecodeError {
    /// Converts it to an error of the store.
    pub(in crate::store) fn to_store_error(&self) -> StoreError {
        StoreError::Undecodable {
            table: self.table,
            row: self.row.clone(),
            column: self.column,
            reason: self.reason.clone(),
        }
    }
}

impl RowLocator<'_> {
    /// Builds the error that `column_name` of this row cannot be decoded.
    pub(in crate::store) fn decode_error(
        self,
        column_name: &'static str,
        reason: impl Display,
    ) -> DecodeError {
        let mut row = String::new();
        for (index, (name, value)) in self.key.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = write!(row, "{separator}{name} {value}");
        }
        DecodeError { table: self.table, row, column: column_name, reason: reason.to_string() }
    }

    /// Returns `decoded`, the decoded value of the code or name `stored_value`.
    pub(in crate::store) fn require_decoded<T>(
        self,
        column: &'static str,
        stored_value: impl Display,
        decoded: Option<T>,
    ) -> Result<T, DecodeError> {
        decoded.ok_or_else(|| self.decode_error(column, format_args!("unknown value `{stored_value}`")))
    }

    /// Decodes the JSON `text` of `column_name`.
    pub(in crate::store) fn parse_json<T: DeserializeOwned>(
        self,
        text: &str,
        column_name: &'static str,
    ) -> Result<T, DecodeError> {
        serde_json::from_str(text).map_err(|error| self.decode_error(column_name, error))
    }

    /// Decodes the JSON object `text` of `column_name`, which must not be NULL.
    pub(in crate::store) fn parse_json_object(
        self,
        text: Option<&str>,
        column_name: &'static str,
    ) -> Result<Map<String, Value>, DecodeError> {
        self.parse_json(text.ok_or_else(|| self.decode_error(column_name, "it is empty"))?, column_name)
    }
}
