//! Values that several entries of files have, and only one may.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Returns an error for each of `uses` (value of `field`, file and position of its entry) whose value an earlier one has.
pub fn duplicate_errors<'a>(
    field: &str,
    hint: &str,
    uses: impl Iterator<Item = (&'a str, &'a Arc<str>, Position)>,
) -> Vec<ValidationError> {
    let mut first_uses: HashMap<&str, (&Arc<str>, Position)> = HashMap::new();
    let mut errors = Vec::new();
    for (value, file, position) in uses {
        let (first_file, first) = match first_uses.entry(value) {
            Entry::Occupied(first_use) => *first_use.get(),
            Entry::Vacant(unused) => {
                unused.insert((file, position));
                continue;
            }
        };
        let message =
            format!("`{field}` `{value}` is already in use by {first_file}:{}:{}", first.line, first.column);
        let error = ValidationError::new(ValidationErrorKind::DuplicateField, field, position, message);
        errors.push(error.with_value(value).with_file(file).with_hint(hint));
    }
    errors
}
