//! Why a change within a transaction is refused.

use rusqlite::ErrorCode;

use crate::store::contract::StoreError;

/// Why one call of a shared transaction ends.
pub(super) enum ChangeError {
    /// SQLite failed: the transaction ends.
    Sql(rusqlite::Error),
    /// The call is refused, and only that.
    Rejected(StoreError),
}

impl From<rusqlite::Error> for ChangeError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// [`StoreError::AlreadyExists`] when `error` is about a text that has to be unique.
pub(super) fn conflict_error(error: rusqlite::Error, text: Option<&str>) -> ChangeError {
    match text {
        Some(text) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            ChangeError::Rejected(StoreError::AlreadyExists(text.to_owned()))
        }
        _ => ChangeError::Sql(error),
    }
}
