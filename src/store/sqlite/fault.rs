//! Why a change within a transaction is refused.

use rusqlite::ErrorCode;

use crate::store::contract::StoreError;

/// Why one call of a shared transaction ends.
pub(super) enum Fault {
    /// SQLite failed: the transaction ends.
    Sql(rusqlite::Error),
    /// The call is refused, and only that.
    Told(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// [`StoreError::Taken`] when `error` is about a text that has to be unique.
pub(super) fn taken(error: rusqlite::Error, text: Option<&str>) -> Fault {
    match text {
        Some(text) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Fault::Told(StoreError::Taken(text.to_owned()))
        }
        _ => Fault::Sql(error),
    }
}
