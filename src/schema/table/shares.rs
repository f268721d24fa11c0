//! Tables of the shares of results: what makes one, and what the lists show.

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::read_only_field;
use crate::syntax::text_format::TextFormat;

const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const TIMESTAMP: FieldType = FieldType::Text { min: 0, max: 32, format: TextFormat::Any };

/// Longest lifetime of a share, in days.
pub const MAX_SHARE_DAYS: i64 = 30;
/// Lifetime of a share in days, unless the request has one.
pub const DEFAULT_SHARE_DAYS: i64 = 7;

/// The request for a share.
pub static SHARE_REQUEST: FieldTable = FieldTable::new(
    "ShareRequest",
    "How a result is shared",
    &[&[Field::int("days", 1, MAX_SHARE_DAYS, "Days after which the link ends")
        .with_default(DefaultValue::Int(DEFAULT_SHARE_DAYS))]],
);

static SHARE_FIELDS: &[Field] = &[
    read_only_field("id", ID, "Id"),
    read_only_field("result_id", SHORT_TEXT, "Id of the result"),
    read_only_field("monitor_id", ID, "The monitor"),
    read_only_field("monitor_name", SHORT_TEXT, "Its name in the result"),
    read_only_field("created_at", TIMESTAMP, "When it was made, UTC"),
    read_only_field("created_by", SHORT_TEXT, "Login of who made it"),
    read_only_field("expires_at", TIMESTAMP, "When the link ends, UTC"),
];

/// A share of a result.
pub static SHARE: FieldTable = FieldTable::new(
    "Share",
    "A link that opens the page of a result without a login; the link itself is not kept",
    &[SHARE_FIELDS],
);

/// A share of a result that was just made.
pub static NEW_SHARE: FieldTable = FieldTable::new(
    "NewShare",
    "A new share, with its link",
    &[
        SHARE_FIELDS,
        &[read_only_field(
            "url",
            SHORT_TEXT,
            "Path of the link below the address of the server; shown this once",
        )],
    ],
);
