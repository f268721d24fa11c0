//! Why a store fails.

/// Why the store could not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk or quota is full; worth trying again once there is room.
    #[error("the disk is full: {0}; free space or move the data folder, nothing was lost so far")]
    DiskFull(String),
    /// Another process holds the database; worth trying again.
    #[error("the database is locked by another process: {0}")]
    Locked(String),
    /// It cannot be read or written at all.
    #[error("the database cannot be used: {0}")]
    Unusable(String),
    /// The file is of a newer version of Vigie.
    #[error("the database has schema version {found}, this build knows up to {known}; use a newer vigie")]
    TooNew {
        /// Version of the file.
        found: i64,
        /// Newest version that this build knows.
        known: i64,
    },
    /// A stored value is of a form that this build does not know; nothing was put in its place.
    #[error(
        "a stored value cannot be decoded: table `{table}`, row {row}, column `{column}`: {reason}; use the vigie that wrote it, or correct or remove the row"
    )]
    Undecodable {
        /// Where it stands.
        table: &'static str,
        /// The columns of its key with their values.
        row: String,
        /// In which column.
        column: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The query took longer than the settings allow.
    #[error("the query took too long; ask for a shorter time or fewer monitors")]
    QueryTimeout,
    /// Somebody else changed or removed it meanwhile; nothing of the call was done.
    #[error("it was changed meanwhile")]
    Stale,
    /// Another record has this unique text; nothing of the call was done.
    #[error("`{0}` is taken")]
    AlreadyExists(String),
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// The stable word, used by metrics.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::DiskFull(_) => "full",
            Self::Locked(_) => "locked",
            Self::Unusable(_) => "unusable",
            Self::TooNew { .. } => "too_new",
            Self::Undecodable { .. } => "undecodable",
            Self::QueryTimeout => "slow",
            Self::Stale => "stale",
            Self::AlreadyExists(_) => "taken",
            Self::Closed => "closed",
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::DiskFull(_) | Self::Locked(_))
    }
}
