//! Table of the saved views of the list of monitors.

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::read_only_field;
use crate::syntax::text_format::TextFormat;

const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const TIMESTAMP: FieldType = FieldType::Text { min: 0, max: 32, format: TextFormat::Any };

/// Longest query of a view, in characters: as long as a path that a form may return to.
pub const MAX_VIEW_QUERY_CHARS: usize = 1_900;

/// A saved view of the list of monitors.
pub static VIEW: FieldTable = FieldTable::new(
    "View",
    "Filters, order, groups and columns of the list of monitors, with a name and an address of their own",
    &[&[
        read_only_field("id", ID, "Id; the page of the view is `/views/{id}`"),
        Field::name("name", 128, "What people call it; unique in the account").required(),
        Field::text(
            "query",
            MAX_VIEW_QUERY_CHARS,
            "As in the address of the list, behind the `?`, such as `type=website&sort=name`; empty for all monitors",
        )
        .with_default(DefaultValue::Text("")),
        Field::flag("shared", false, "For everybody of the account; otherwise only for who made it"),
        read_only_field("created_at", TIMESTAMP, "When it was made, UTC"),
        read_only_field("created_by", SHORT_TEXT, "Login of who made it"),
    ]],
);
