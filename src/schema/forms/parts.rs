//! The sub-objects of a table.

use crate::schema::field::{Field, Kind, Table};

/// The sub-objects that fields of `table` hold.
#[must_use]
pub fn parts(table: &'static Table) -> Vec<&'static Table> {
    let part = |field: &&'static Field| match field.kind {
        Kind::Object(part) => Some(part),
        Kind::List { of: Kind::Object(part), .. } => Some(*part),
        _ => None,
    };
    table.fields().iter().filter_map(part).collect()
}
