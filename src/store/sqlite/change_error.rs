//! Errors of a change within a shared transaction.

use rusqlite::ErrorCode;

use crate::store::contract::StoreError;

/// Why one call of a shared transaction failed.
pub(super) enum ChangeError {
    /// SQLite failed, which ends the transaction.
    Sql(rusqlite::Error),
    /// Only this call is rejected.
    Rejected(StoreError),
}

impl From<rusqlite::Error> for ChangeError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Converts `error`; returns [`StoreError::AlreadyExists`] when it says that the key `unique_key` is in use.
pub(super) fn to_change_error(error: rusqlite::Error, unique_key: Option<&str>) -> ChangeError {
    match unique_key {
        Some(unique_key) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            ChangeError::Rejected(StoreError::AlreadyExists(unique_key.to_owned()))
        }
        _ => ChangeError::Sql(error),
    }
}
