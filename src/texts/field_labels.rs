//! Labels of the fields of forms and lists, by their names in words.

use super::row::Row;

/// Labels of the fields of forms and lists, by their names in words.
pub(super) const LABELS: &[Row] = &[];
