//! Reads columns of SQLite as text and JSON; a value that cannot be decoded passes through rusqlite as an error.

use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::contract::StoreError;
use crate::store::rows::decode::{DecodeError, RowLocator};

impl From<DecodeError> for rusqlite::Error {
    fn from(error: DecodeError) -> Self {
        Self::FromSqlConversionFailure(0, Type::Text, Box::new(error))
    }
}

/// Returns the text in column number `column_index`; `None` for NULL.
pub(super) fn text_column<'r>(
    locator: RowLocator<'_>,
    row: &'r Row<'_>,
    column_index: usize,
    column_name: &'static str,
) -> rusqlite::Result<Option<&'r str>> {
    match row.get_ref(column_index)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) => {
            Ok(Some(std::str::from_utf8(bytes).map_err(|error| locator.decode_error(column_name, error))?))
        }
        other => {
            Err(locator.decode_error(column_name, format_args!("{}, not text", other.data_type())).into())
        }
    }
}

/// Decodes the JSON in column number `column_index`; `None` for NULL.
pub(super) fn json_column<T: DeserializeOwned>(
    locator: RowLocator<'_>,
    row: &Row<'_>,
    column_index: usize,
    column_name: &'static str,
) -> rusqlite::Result<Option<T>> {
    let text = text_column(locator, row, column_index, column_name)?;
    Ok(text.map(|text| locator.parse_json(text, column_name)).transpose()?)
}

/// Decodes the JSON object in column number `column_index`.
pub(super) fn json_object_column(
    locator: RowLocator<'_>,
    row: &Row<'_>,
    column_index: usize,
    column_name: &'static str,
) -> rusqlite::Result<Map<String, Value>> {
    Ok(locator.parse_json_object(text_column(locator, row, column_index, column_name)?, column_name)?)
}

/// Converts `error` to a store error if a value cannot be decoded.
pub(super) fn undecodable_value_error(error: &rusqlite::Error) -> Option<StoreError> {
    let rusqlite::Error::FromSqlConversionFailure(_, _, inner) = error else { return None };
    inner.downcast_ref().map(DecodeError::to_store_error)
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
