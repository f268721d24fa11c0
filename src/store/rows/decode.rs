//! Decoding of stored values. A value that this build cannot decode is an error that names its row, never a default,
//! which would be written over the value.

use std::fmt::{self, Display};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::contract::StoreError;
use crate::store::copy::TABLES;

/// Identifies a row in errors: its table and the columns of its key, by the names that SQLite has.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct RowLocator<'a> {
    pub(in crate::store) table: &'static str,
    pub(in crate::store) key: &'a [(&'static str, i64)],
}

/// A stored value that cannot be decoded.
#[derive(Debug)]
pub(in crate::store) struct DecodeError {
    table: &'static str,
    key: Vec<(&'static str, i64)>,
    column: &'static str,
    reason: String,
}

impl Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table `{}`, row {}, column `{}`: {}", self.table, self.row(), self.column, self.reason)
    }
}

impl std::error::Error for DecodeError {}

impl DecodeError {
    /// Converts it to an error of the store.
    pub(in crate::store) fn to_store_error(&self) -> StoreError {
        StoreError::Undecodable {
            table: self.table,
            row: self.row(),
            column: self.column,
            reason: self.reason.clone(),
        }
    }

    /// Returns it with the names that PostgreSQL has.
    pub(in crate::store) fn with_postgres_names(self) -> Self {
        let Some(table) = TABLES.iter().find(|table| table.sqlite_name == self.table) else { return self };
        Self {
            table: table.name,
            key: self.key.into_iter().map(|(name, value)| (table.column_name(name), value)).collect(),
            column: table.column_name(self.column),
            reason: self.reason,
        }
    }

    /// Returns the columns of the key with their values.
    fn row(&self) -> String {
        let columns: Vec<String> = self.key.iter().map(|(name, value)| format!("{name} {value}")).collect();
        columns.join(", ")
    }
}

impl RowLocator<'_> {
    /// Builds the error that `column_name` of this row cannot be decoded.
    pub(in crate::store) fn decode_error(
        self,
        column_name: &'static str,
        reason: impl Display,
    ) -> DecodeError {
        DecodeError {
            table: self.table,
            key: self.key.to_vec(),
            column: column_name,
            reason: reason.to_string(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_has_its_own_names() {
        let error = |table, key, column| {
            let locator = RowLocator { table, key: &[(key, 7)] };
            let error = locator.decode_error(column, "why");
            (error.to_string(), error.with_postgres_names().to_string())
        };
        for (table, key, column, in_sqlite, in_postgres) in [
            ("captures", "failed", "body", "captures failed body", "result_captures is_failed content"),
            ("tokens", "user", "kind", "tokens user kind", "tokens user_id kind"),
            ("monitors", "id", "trail", "monitors id trail", "monitors id metadata"),
            ("other", "id", "trail", "other id trail", "other id trail"),
        ] {
            let text = |names: &str| {
                let names: Vec<&str> = names.split(' ').collect();
                format!("table `{}`, row {} 7, column `{}`: why", names[0], names[1], names[2])
            };
            assert_eq!(error(table, key, column), (text(in_sqlite), text(in_postgres)));
        }
    }
}
