//! Errors of the store.

/// Why an operation of the store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk or quota is full; worth retrying once there is room.
    #[error("the disk is full: {0}; free space or move the data folder, nothing was lost so far")]
    DiskFull(String),
    /// Another process holds the database; worth retrying.
    #[error("the database is locked by another process: {0}")]
    Locked(String),
    /// The database server cannot be reached, or does not accept connections now; worth retrying.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The database cannot be read or written at all.
    #[error("the database cannot be used: {0}")]
    Unusable(String),
    /// The file was written by a newer version of Vigie.
    #[error("the database has schema version {found}, this build knows up to {known}; use a newer vigie")]
    TooNew {
        /// Schema version of the file.
        found: i64,
        /// Newest version that this build supports.
        known: i64,
    },
    /// A stored value has a form that this build does not know; the value was not replaced.
    #[error(
        "a stored value cannot be decoded: table `{table}`, row {row}, column `{column}`: {reason}; use the vigie that wrote it, or correct or remove the row"
    )]
    Undecodable {
        /// Table of the value.
        table: &'static str,
        /// Key columns of the row with their values.
        row: String,
        /// Column of the value.
        column: &'static str,
        /// What is wrong with the value.
        reason: String,
    },
    /// The store rejects what the call writes, such as a value that breaks a rule of a table; other calls succeed.
    #[error("the database rejects what was to be written: {0}")]
    Rejected(String),
    /// The code that writes or reads panicked with what it was given; other calls succeed.
    #[error("the store panicked at this call; this is a bug in Vigie, see the log: {0}")]
    Panicked(String),
    /// The query took longer than the settings allow.
    #[error("the query timed out; request a shorter period or fewer monitors")]
    QueryTimeout,
    /// Another caller changed or removed the object meanwhile; the call changed nothing.
    #[error("it was changed by another request")]
    Stale,
    /// Another record has this unique key; the call changed nothing.
    #[error("`{0}` is already in use")]
    AlreadyExists(String),
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// The stable names of all errors.
    pub const KINDS: [&str; 12] = [
        "full",
        "locked",
        "unavailable",
        "unusable",
        "too_new",
        "undecodable",
        "rejected",
        "panicked",
        "slow",
        "stale",
        "taken",
        "closed",
    ];

    /// Returns the stable name, used by metrics; one of [`StoreError::KINDS`].
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::DiskFull(_) => "full",
            Self::Locked(_) => "locked",
            Self::Unavailable(_) => "unavailable",
            Self::Unusable(_) => "unusable",
            Self::TooNew { .. } => "too_new",
            Self::Undecodable { .. } => "undecodable",
            Self::Rejected(_) => "rejected",
            Self::Panicked(_) => "panicked",
            Self::QueryTimeout => "slow",
            Self::Stale => "stale",
            Self::AlreadyExists(_) => "taken",
            Self::Closed => "closed",
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::DiskFull(_) | Self::Locked(_) | Self::Unavailable(_))
    }

    /// Whether the fault lies in what the call writes, so that it fails again however often it is repeated, while
    /// other calls succeed.
    #[must_use]
    pub const fn is_fault_of_call(&self) -> bool {
        matches!(
            self,
            Self::Rejected(_) | Self::Panicked(_) | Self::Undecodable { .. } | Self::AlreadyExists(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_all_errors_are_listed() {
        let text = String::new;
        let errors = [
            StoreError::DiskFull(text()),
            StoreError::Locked(text()),
            StoreError::Unavailable(text()),
            StoreError::Unusable(text()),
            StoreError::TooNew { found: 2, known: 1 },
            StoreError::Undecodable { table: "a", row: text(), column: "b", reason: text() },
            StoreError::Rejected(text()),
            StoreError::Panicked(text()),
            StoreError::QueryTimeout,
            StoreError::Stale,
            StoreError::AlreadyExists(text()),
            StoreError::Closed,
        ];
        assert_eq!(errors.map(|error| error.kind()), StoreError::KINDS);
    }
}
