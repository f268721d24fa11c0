//! Why commits fail at present.

use std::time::Instant;

use crate::store::StoreError;

/// Why commits fail at present, and since when.
pub(super) struct CommitFailure {
    pub(super) error: StoreError,
    pub(super) since: Instant,
}
