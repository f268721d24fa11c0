//! The sub-objects of a table.

use crate::schema::field::{Field, FieldTable, FieldType};

/// Returns the sub-objects that the fields of `table` hold.
#[must_use]
pub fn sub_objects(table: &'static FieldTable) -> Vec<&'static FieldTable> {
    let sub_table = |field: &&'static Field| match field.field_type {
        FieldType::Object(sub_table) => Some(sub_table),
        FieldType::List { item_type: FieldType::Object(sub_table), .. } => Some(*sub_table),
        _ => None,
    };
    table.fields().iter().filter_map(sub_table).collect()
}
