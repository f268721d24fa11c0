//! A row of the table.

/// A text in English, German and French.
pub(super) type Row = (&'static str, &'static str, &'static str);
