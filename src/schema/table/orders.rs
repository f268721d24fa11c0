//! Bodies of calls that order something of monitors: a rest, and what `vigie apply` sends.

use super::super::field::{Field, Kind, Table};
use super::ids::ID;
use super::shared::reported;
use crate::syntax::format::TextFormat;

/// The pause of a monitor (behaviour.md 1).
pub static PAUSE: Table = Table::new(
    "Pause",
    "How long a monitor rests",
    &[&[Field::new("until", Kind::Text { min: 1, max: 40, format: TextFormat::Any }, UNTIL).required()]],
);

const UNTIL: &str = "Its end: RFC 3339, or `YYYY-MM-DD HH:MM:SS` in the account's time zone";

static A_MONITOR: Kind = Kind::Any;

/// What `vigie apply` sends.
pub static APPLY: Table = Table::new(
    "Apply",
    "Monitors of files, to be brought in line",
    &[&[
        Field::new("monitors", Kind::List { of: &A_MONITOR, min: 0, max: 100_000 }, MONITORS).required(),
        Field::flag("dry_run", false, "Say what would be done, and do nothing"),
        Field::flag("prune", false, "Remove what an earlier apply made and is not among these"),
    ]],
);

const MONITORS: &str = "Each with its `key`, unique among them, its `type` and the fields of its type";

static A_WARNING: Kind = Kind::Text { min: 0, max: 65535, format: TextFormat::Any };
const WORD: Kind = Kind::Text { min: 0, max: 255, format: TextFormat::Any };
const ACTIONS: Kind = Kind::TextOf(&["create", "change", "remove", "none"]);

/// What an apply did to one monitor.
pub static APPLIED: Table = Table::new(
    "AppliedChange",
    "What was done to one monitor, or would be",
    &[&[
        reported("key", WORD, "Its key"),
        reported("id", ID, "Its number; null when it was not made"),
        reported("action", ACTIONS, "What was done"),
        reported("before", Kind::Any, "The fields that differ, as they were; secrets masked"),
        reported("after", Kind::Any, "The same as they are now"),
        reported("warnings", Kind::List { of: &A_WARNING, min: 0, max: 1000 }, "What its author should know"),
    ]],
);

static A_CHANGE: Kind = Kind::Object(&APPLIED);

/// The answer to an apply.
pub static APPLY_ANSWER: Table = Table::new(
    "ApplyAnswer",
    "What was done, one entry for each monitor",
    &[&[reported(
        "changes",
        Kind::List { of: &A_CHANGE, min: 0, max: 200_000 },
        "In the order of the files",
    )]],
);

static AN_ID: Kind = Kind::Text { min: 1, max: 20, format: TextFormat::Any };

/// The answer to a bulk edit.
pub static EDITED: Table = Table::new(
    "Edited",
    "What a bulk edit changed",
    &[&[
        reported("ids", Kind::List { of: &AN_ID, min: 1, max: 100_000 }, "Numbers, as texts"),
        reported("warnings", Kind::List { of: &A_WARNING, min: 0, max: 1000 }, "Only when saving warns"),
    ]],
);
