//! Bodies of calls that act on monitors: pause, bulk edit, and the request of `vigie apply`.

use super::super::field::{Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::read_only_field;
use crate::syntax::text_format::TextFormat;

/// The pause of a monitor (behaviour.md 1).
pub static PAUSE: FieldTable = FieldTable::new(
    "Pause",
    "Pause of a monitor",
    &[&[Field::new(
        "until",
        FieldType::Text { min: 1, max: 40, format: TextFormat::Any },
        UNTIL_DESCRIPTION,
    )
    .required()]],
);

const UNTIL_DESCRIPTION: &str = "Its end: RFC 3339, or `YYYY-MM-DD HH:MM:SS` in the account's time zone";

static APPLIED_MONITOR_ITEM: FieldType = FieldType::Any;

/// The request of `vigie apply`.
pub static APPLY: FieldTable = FieldTable::new(
    "Apply",
    "Monitors of files to apply",
    &[&[
        Field::new(
            "monitors",
            FieldType::List { item_type: &APPLIED_MONITOR_ITEM, min: 0, max: 100_000 },
            MONITORS_DESCRIPTION,
        )
        .required(),
        Field::flag("dry_run", false, "Report what would change, without changing it"),
        Field::flag("prune", false, "Remove what an earlier apply made and is not among these"),
    ]],
);

/// The body of a test on demand.
pub static TEST_ORDER: FieldTable = FieldTable::new(
    "TestOrder",
    "What is checked once, from where",
    &[&[
        Field::new("monitor_id", ID, "The monitor to test; with `monitor`, the one that it would change"),
        Field::new(
            "monitor",
            FieldType::Any,
            "A monitor that is not saved: its `type` and fields, or with `monitor_id` the fields that would change",
        ),
        Field::new("location_id", ID, "Location to test from; the monitor's home location when absent"),
    ]],
);

const MONITORS_DESCRIPTION: &str =
    "Each with its `key`, unique among them, its `type` and the fields of its type";

static WARNING_ITEM: FieldType = FieldType::Text { min: 0, max: 65535, format: TextFormat::Any };
const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const APPLY_ACTION: FieldType = FieldType::TextEnum(&["create", "change", "remove", "none"]);

/// What an apply did to one monitor.
pub static APPLIED_CHANGE: FieldTable = FieldTable::new(
    "AppliedChange",
    "What was done to one monitor, or would be",
    &[&[
        read_only_field("key", SHORT_TEXT, "Its key"),
        read_only_field("id", ID, "Its number; null when it was not made"),
        read_only_field("action", APPLY_ACTION, "What was done"),
        read_only_field("before", FieldType::Any, "The fields that differ, as they were; secrets masked"),
        read_only_field("after", FieldType::Any, "The same as they are now"),
        read_only_field(
            "warnings",
            FieldType::List { item_type: &WARNING_ITEM, min: 0, max: 1000 },
            "Warnings for its author",
        ),
    ]],
);

static CHANGE_ITEM: FieldType = FieldType::Object(&APPLIED_CHANGE);

/// The response to an apply.
pub static APPLY_RESPONSE: FieldTable = FieldTable::new(
    "ApplyAnswer",
    "What was done, one entry for each monitor",
    &[&[read_only_field(
        "changes",
        FieldType::List { item_type: &CHANGE_ITEM, min: 0, max: 200_000 },
        "In the order of the files",
    )]],
);

static ID_TEXT: FieldType = FieldType::Text { min: 1, max: 20, format: TextFormat::Any };

/// The response to a bulk edit.
pub static BULK_EDIT_RESULT: FieldTable = FieldTable::new(
    "Edited",
    "What a bulk edit changed",
    &[&[
        read_only_field(
            "ids",
            FieldType::List { item_type: &ID_TEXT, min: 1, max: 100_000 },
            "Numbers, as texts",
        ),
        read_only_field(
            "warnings",
            FieldType::List { item_type: &WARNING_ITEM, min: 0, max: 1000 },
            "Only when saving warns",
        ),
    ]],
);
