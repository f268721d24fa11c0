//! Which fields of a monitor decide what a check does.

use super::super::field::Field;
use super::shared::{
    DEPENDENCY_FIELDS, IDENTITY_FIELDS, READ_ONLY_FIELDS, SCHEDULE_FIELDS, SHORT_INTERVAL_FIELDS,
};

/// Fields of every type that say how, when and where a monitor runs, and who is told.
static UNCHECKED_FIELD_GROUPS: &[&[Field]] =
    &[IDENTITY_FIELDS, SCHEDULE_FIELDS, SHORT_INTERVAL_FIELDS, DEPENDENCY_FIELDS, READ_ONLY_FIELDS];

/// Such fields that only single types have.
const UNCHECKED_FIELDS: &[&str] =
    &["monitor_offset", "notify_on_content_change", "notify_on_fullpage_errors"];

/// Whether the field `name` decides what a check does, so that a change of it causes a first check.
#[must_use]
pub fn decides_check(name: &str) -> bool {
    let has_field = |group: &&[Field]| group.iter().any(|field| field.name == name);
    !UNCHECKED_FIELDS.contains(&name) && !UNCHECKED_FIELD_GROUPS.iter().any(has_field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MonitorType;
    use crate::schema::table::for_type;

    #[test]
    fn what_is_requested_and_judged_decides_a_check() {
        for name in ["url", "hostname", "port", "keyword_string", "dialogue", "script", "expected_statuses"] {
            assert!(decides_check(name), "{name}");
        }
        for name in
            ["name", "note", "interval", "interval_seconds", "mode", "locations", "timeout", "depends_on"]
        {
            assert!(!decides_check(name), "{name}");
        }
    }

    #[test]
    fn the_fields_of_single_types_exist() {
        for name in UNCHECKED_FIELDS {
            assert!(MonitorType::ALL.iter().any(|kind| for_type(*kind).position(name).is_some()), "{name}");
        }
    }
}
