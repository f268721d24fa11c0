//! Tables of hosts: the record, its token, what it reports, its history; and the push token of a monitor.

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::read_only_field;
use super::web::MAX_URL_CHARS;
use crate::syntax::text_format::TextFormat;

const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const SERIES_TEXT: FieldType = FieldType::Text { min: 0, max: 500, format: TextFormat::Any };
const TIMESTAMP: FieldType = FieldType::Text { min: 0, max: 32, format: TextFormat::Any };
const ANY_NUMBER: FieldType = FieldType::Float { min: f64::NEG_INFINITY, max: f64::INFINITY };

/// States of a host.
pub const HOST_STATES: &[&str] = &["waiting", "reporting", "silent", "revoked"];

/// A host that reports metrics, or that a location reads them from.
pub static HOST: FieldTable = FieldTable::new(
    "Host",
    "A host that reports metrics",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 255, "Its name; unique in the account").required(),
        Field::text_with_format(
            "address",
            255,
            TextFormat::Host,
            "Name or address that is pinged when it is silent; without one it is not pinged",
        ),
        Field::int("report_seconds", 5, 3600, "Seconds between two reports of its agent")
            .with_default(DefaultValue::Int(60)),
        Field::text_with_format(
            "metrics_url",
            MAX_URL_CHARS,
            TextFormat::HttpUrl,
            "Page of its node_exporter, for monitors with `report` scrape",
        ),
        read_only_field(
            "state",
            FieldType::TextEnum(HOST_STATES),
            "Waiting: no report yet; silent: none within two intervals; revoked: it has no token",
        ),
        read_only_field(
            "last_report_at",
            TIMESTAMP,
            "When its last report arrived, UTC; null before the first",
        ),
        read_only_field("agent_version", SHORT_TEXT, "Version of its agent"),
        read_only_field("system", SHORT_TEXT, "Its operating system and kernel"),
        read_only_field("created_at", TIMESTAMP, "When it was made, UTC"),
        read_only_field("created_by", SHORT_TEXT, "Login of who made it"),
    ]],
);

/// Fields that only the response to a new host or a new token has.
pub static HOST_TOKEN: FieldTable = FieldTable::new(
    "HostToken",
    "The token with which the agent of a host reports; shown this once",
    &[&[read_only_field("token", SHORT_TEXT, "The token")]],
);

/// A value of the newest report of a host.
pub static HOST_VALUE: FieldTable = FieldTable::new(
    "HostValue",
    "A value of the newest report of a host",
    &[&[
        read_only_field("series", SERIES_TEXT, "The metric with its labels"),
        read_only_field("value", ANY_NUMBER, "The value"),
        read_only_field("unit", SHORT_TEXT, "Its unit; empty for a number without one"),
        read_only_field("measured_at", TIMESTAMP, "When it was measured, UTC"),
    ]],
);

/// A point of the history of a series.
pub static HOST_POINT: FieldTable = FieldTable::new(
    "HostPoint",
    "A point of the history of a series of a host",
    &[&[
        read_only_field("series", SERIES_TEXT, "The metric with its labels"),
        read_only_field("start", TIMESTAMP, "When the report was measured, or the span starts, UTC"),
        read_only_field("min", ANY_NUMBER, "The least value"),
        read_only_field("mean", ANY_NUMBER, "The mean of the values"),
        read_only_field("max", ANY_NUMBER, "The greatest value"),
    ]],
);

/// Fields that only the response to a new push token has.
pub static PUSH_TOKEN: FieldTable = FieldTable::new(
    "PushToken",
    "The token that pushes of a monitor come with; shown this once",
    &[&[
        read_only_field("token", SHORT_TEXT, "The token"),
        read_only_field("path", SHORT_TEXT, "Path of its URL below the address of the server"),
    ]],
);
