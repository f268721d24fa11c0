//! What forms say about their fields, by the descriptions of the tables of fields.

use super::row::Row;

/// What forms say about their fields, by the descriptions of the tables of fields.
pub(super) const HELPS: &[Row] = &[];
