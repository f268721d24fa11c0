//! Decoding of stored values. A value that this build cannot decode is an error that names its row, never a default,
//! which would be written over the value.

use std::fmt::{self, Display, Write as _};

use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::contract::StoreError;

/// Identifies a row in errors: its table and the columns of its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLocator<'a> {
    pub(super) table: &'static str,
    pub(super) key: &'a [(&'static str, i64)],
}

/// A stored value that cannot be decoded, passed through rusqlite as an error.
#[derive(Debug)]
struct DecodeError {
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

impl RowLocator<'_> {
    /// Builds the error that `column_name` of this row cannot be decoded.
    pub(super) fn decode_error(self, column_name: &'static str, reason: impl Display) -> rusqlite::Error {
        let mut row = String::new();
        for (index, (name, value)) in self.key.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = write!(row, "{separator}{name} {value}");
        }
        let undecodable =
            DecodeError { table: self.table, row, column: column_name, reason: reason.to_string() };
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(undecodable))
    }

    /// Returns `decoded`, the decoded value of the code or name `stored_value`.
    pub(super) fn require_decoded<T>(
        self,
        column: &'static str,
        stored_value: impl Display,
        decoded: Option<T>,
    ) -> rusqlite::Result<T> {
        decoded.ok_or_else(|| self.decode_error(column, format_args!("unknown value `{stored_value}`")))
    }

    /// Returns the text in column number `column_index`; `None` for NULL.
    pub(super) fn text_column<'r>(
        self,
        row: &'r Row<'_>,
        column_index: usize,
        column_name: &'static str,
    ) -> rusqlite::Result<Option<&'r str>> {
        match row.get_ref(column_index)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map(Some).map_err(|error| self.decode_error(column_name, error))
            }
            other => Err(self.decode_error(column_name, format_args!("{}, not text", other.data_type()))),
        }
    }

    /// Decodes the JSON in column number `column_index`; `None` for NULL.
    pub(super) fn json_column<T: DeserializeOwned>(
        self,
        row: &Row<'_>,
        column_index: usize,
        column_name: &'static str,
    ) -> rusqlite::Result<Option<T>> {
        self.text_column(row, column_index, column_name)?
            .map(|text| self.parse_json(text, column_name))
            .transpose()
    }

    /// Decodes the JSON `text` of `column_name`.
    pub(super) fn parse_json<T: DeserializeOwned>(
        self,
        text: &str,
        column_name: &'static str,
    ) -> rusqlite::Result<T> {
        serde_json::from_str(text).map_err(|error| self.decode_error(column_name, error))
    }
}

/// Converts `error` to a store error if a value cannot be decoded.
pub(super) fn undecodable_value_error(error: &rusqlite::Error) -> Option<StoreError> {
    let rusqlite::Error::FromSqlConversionFailure(_, _, inner) = error else { return None };
    let DecodeError { table, row, column, reason } = inner.downcast_ref()?;
    Some(StoreError::Undecodable { table, row: row.clone(), column, reason: reason.clone() })
}

/// Returns the value of `decoded`, or `None` for a row that cannot be decoded, which is logged.
pub(super) fn skip_undecodable<T>(decoded: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match decoded {
        Ok(value) => Ok(Some(value)),
        Err(error) => match undecodable_value_error(&error) {
            Some(error) => {
                tracing::error!(error_kind = error.kind(), "row skipped: {error}");
                Ok(None)
            }
            None => Err(error),
        },
    }
}

/// Decodes the JSON object in column number `column_index`.
pub(super) fn json_object_column(
    row: &Row<'_>,
    locator: RowLocator<'_>,
    column_index: usize,
    column_name: &'static str,
) -> rusqlite::Result<Map<String, Value>> {
    locator
        .json_column(row, column_index, column_name)?
        .ok_or_else(|| locator.decode_error(column_name, "it is empty"))
}
