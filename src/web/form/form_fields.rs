//! Which fields have an input.

use crate::domain::MonitorType;
use crate::schema::field::{Access, Field};
use crate::schema::table::{self, FieldTable};

/// Fields that have no effect in a form: one follows from the mode, and has no other value than that; the place of a step in
/// the list is its number.
const FIELDS_WITHOUT_INPUT: [&str; 2] = ["monitor_location_count", "step_number"];

/// Returns the fields of a monitor that a person may set.
pub(super) fn settable_fields(monitor_type: MonitorType) -> Vec<&'static Field> {
    shown_fields(table::for_type(monitor_type)).collect()
}

/// Returns the fields of an object that have an input.
pub(super) fn shown_fields(table: &FieldTable) -> impl Iterator<Item = &'static Field> {
    let has_input = |field: &&'static Field| {
        field.access == Access::ReadWrite && !FIELDS_WITHOUT_INPUT.contains(&field.name)
    };
    table.fields().iter().copied().filter(has_input)
}
