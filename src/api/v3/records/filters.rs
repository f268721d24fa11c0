//! The query parameters of lists of records, beside `limit` and `offset`.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::api::operation::{Param, ParamKind};
use crate::api::query::{Query, time_in, words};
use crate::domain::{RecordFilter, RecordKind};

const TYPES: &[&str] = &["Monitor", "Alert", "Notifier"];
const FLAGS: &[&str] = &["true", "false"];
const TIMES: &str = "a time as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";

const BLACKOUTS: &[Param] = &[
    Param::new("type", ParamKind::Choice(TYPES), "Those of this type"),
    Param::new("assoc_id", ParamKind::Int(1), "Those of this monitor or recipient"),
    Param::new("persistent", ParamKind::Choice(FLAGS), "Those that come back each week, or that do not"),
];

const EVENTS: &[Param] = &[
    Param::new("event", ParamKind::Text, "Those of this type"),
    Param::new("from", ParamKind::Time, "Reported at this time or later"),
    Param::new("thru", ParamKind::Time, "Reported before this time"),
];

/// What the list of `kind` can be narrowed by.
pub(super) const fn params(kind: RecordKind) -> &'static [Param] {
    match kind {
        RecordKind::Blackout => BLACKOUTS,
        RecordKind::Event => EVENTS,
        _ => &[],
    }
}

/// The filter that `query` asks for; what is wrong is noted in it.
pub(super) fn read(kind: RecordKind, query: &mut Query, zone: &TimeZone) -> RecordFilter {
    let mut filter = RecordFilter::new(kind);
    match kind {
        RecordKind::Blackout => {
            let word = |text: &str| TYPES.contains(&text).then(|| Value::from(text));
            let kind = query.one("type", format!("one of {}", words(TYPES)), word);
            filter.fields.extend(kind.map(|kind| ("type", kind)));
            let weekly = query.one("persistent", "`true` or `false`", |text| text.parse::<bool>().ok());
            filter.fields.extend(weekly.map(|weekly| ("persistent", Value::Bool(weekly))));
            let id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
            filter.parent_id.extend(query.one("assoc_id", "an id", id));
        }
        RecordKind::Event => {
            let event = query.text("event").map(Value::from);
            filter.fields.extend(event.map(|event| ("event", event)));
            (filter.from, filter.until) = window(query, zone);
        }
        _ => {}
    }
    filter
}

/// `from` and `thru`, without a zone in that of the account.
pub(in crate::api::v3) fn window(
    query: &mut Query,
    zone: &TimeZone,
) -> (Option<crate::domain::Timestamp>, Option<crate::domain::Timestamp>) {
    let from = query.one("from", TIMES, |text| time_in(zone, text));
    let thru = query.one("thru", TIMES, |text| time_in(zone, text));
    if let (Some(from), Some(thru)) = (from, thru)
        && from >= thru
    {
        query.fault("`from` must lie before `thru`");
    }
    (from, thru)
}
