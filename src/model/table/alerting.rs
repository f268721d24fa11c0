//! What accounts have for alerting (behaviour.md 1, 6, 7): recipients, groups, templates, agreements,
//! performance alerts; and what is answered about it: outages, messages.

use super::super::field::{Field, Kind, Preset};
use super::super::format::Format;
use super::Table;
use super::shared::{ID, reported};

const WORD: Kind = Kind::Text { min: 0, max: 255, format: Format::Any };

/// Numbers of the methods (behaviour.md 6 `method_id`); the default first.
pub const METHOD_IDS: &[i64] = &[12, 1, 6, 8, 9, 10, 14, 15, 16, 17, 101, 102];

static BLACKOUT_ID: Kind = ID;

/// Somebody who is told (behaviour.md 1 `/recipients`).
pub static RECIPIENT: Table = Table::new(
    "Recipient",
    "Somebody who is told, and how",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 255, "What people call it").required(),
        Field::text(
            "recipient",
            2048,
            "Mail address, URL, host:port or telephone number, as its method has it",
        )
        .required(),
        Field::new("method_id", Kind::IntOf(METHOD_IDS), "How it is reached").or(Preset::Int(12)),
        reported("method_description", WORD, "The method in words"),
        Field::text("username", 255, "Login of the target, or community of SNMP"),
        Field::text("password", 1024, "Password, token or routing key of the target").secret(),
        Field::flag("availability_alert", true, "Whether it hears of errors and what belongs to them"),
        Field::flag("performance_alert", false, "Whether it hears of performance alerts"),
        Field::flag("notify_on_clear", false, "Whether it hears of the end of an error that it was told of"),
        Field::int("start_threshold", 1, 1000, "From the how manyth consecutive failing run on it is told")
            .or(Preset::Int(1)),
        Field::int("stop_threshold", 0, 1000, "How many errors of one outage it is told of; 0 is no end")
            .or(Preset::Int(10)),
        Field::flag("attach_screen_capture", false, "Whether screenshots go with mail"),
        Field::flag("attach_server_response", false, "Whether the answer of the target goes with mail"),
        reported(
            "blackout_ids",
            Kind::List { of: &BLACKOUT_ID, min: 0, max: 10_000 },
            "Its blackouts that are not past",
        ),
        reported(
            "notifier_groups",
            Kind::List { of: &BLACKOUT_ID, min: 0, max: 10_000 },
            "Groups that name it",
        ),
    ]],
);
