//! Converts errors of SQLite to errors that an operator can act on.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::store::contract::StoreError;

use super::decode::undecodable_value_error;

/// Converts errors of one database file.
#[derive(Clone, Debug)]
pub(super) struct ErrorMapper {
    path: PathBuf,
}

impl ErrorMapper {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Converts `error` to a store error.
    pub(super) fn to_store_error(&self, error: &rusqlite::Error) -> StoreError {
        if let Some(undecodable) = undecodable_value_error(error) {
            return undecodable;
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::DiskFull(self.describe(error)),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(format!(
                "{}; stop the other program that has it open",
                self.describe(error)
            )),
            Some(ErrorCode::OperationInterrupted) => StoreError::QueryTimeout,
            Some(ErrorCode::DatabaseCorrupt) => self.unusable_error(&format!(
                "it is damaged ({error}); restore a copy, or move it away to start with an empty one"
            )),
            Some(ErrorCode::NotADatabase) => self
                .unusable_error("it is not an SQLite database, or damaged; use another file or move it away"),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => self
                .unusable_error(&format!(
                    "{error}; grant the user that runs vigie write access to the file and its directory"
                )),
            Some(ErrorCode::SystemIoFailure) => {
                self.unusable_error(&format!("{error}; check the disk and the system log"))
            }
            Some(
                ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::TooBig
                | ErrorCode::ParameterOutOfRange,
            ) => StoreError::Rejected(self.describe(error)),
            _ if matches!(error, rusqlite::Error::ToSqlConversionFailure(_)) => {
                StoreError::Rejected(self.describe(error))
            }
            _ => self.unusable_error(&error.to_string()),
        }
    }

    /// Converts an I/O `error` to a store error.
    pub(super) fn io_to_store_error(&self, failed_action: &str, error: &std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull(format!("`{}`: {error}", self.path.display()))
            }
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => self
                .unusable_error(&format!(
                    "{failed_action}: {error}; grant the user that runs vigie write access to the directory"
                )),
            _ => self.unusable_error(&format!("{failed_action}: {error}")),
        }
    }

    /// Returns the error that the database cannot be used for the given `reason`.
    pub(super) fn unusable_error(&self, reason: &str) -> StoreError {
        StoreError::Unusable(format!("`{}`: {reason}", self.path.display()))
    }

    fn describe(&self, error: &rusqlite::Error) -> String {
        format!("`{}`: {error}", self.path.display())
    }
}
