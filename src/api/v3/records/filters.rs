//! Query parameters of record lists, beside `limit` and `offset`.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::api::operation::{Param, ParamType};
use crate::api::query::{QueryParams, TIME_REQUIREMENT, parse_time_in_zone, quoted_list};
use crate::domain::{ConfigRecordFilter, ConfigRecordKind};

const BLACKOUT_TYPES: &[&str] = &["Monitor", "Alert", "Notifier"];
const BOOLEANS: &[&str] = &["true", "false"];

const BLACKOUT_PARAMS: &[Param] = &[
    Param::new("type", ParamType::Choice(BLACKOUT_TYPES), "Those of this type"),
    Param::new("assoc_id", ParamType::Int(1), "Those of this monitor or recipient"),
    Param::new("persistent", ParamType::Choice(BOOLEANS), "Weekly blackouts, or one-time blackouts"),
];

const EVENT_PARAMS: &[Param] = &[
    Param::new("event", ParamType::Text, "Those of this type"),
    Param::new("from", ParamType::Time, "Reported at this time or later"),
    Param::new("thru", ParamType::Time, "Reported before this time"),
];

/// Returns the filter parameters of lists of `kind`.
pub(super) const fn filter_params(kind: ConfigRecordKind) -> &'static [Param] {
    match kind {
        ConfigRecordKind::Blackout => BLACKOUT_PARAMS,
        ConfigRecordKind::Event => EVENT_PARAMS,
        _ => &[],
    }
}

/// Reads the filter from `query`, which collects the errors.
pub(super) fn parse_record_filter(
    kind: ConfigRecordKind,
    query: &mut QueryParams,
    zone: &TimeZone,
) -> ConfigRecordFilter {
    let mut filter = ConfigRecordFilter::new(kind);
    match kind {
        ConfigRecordKind::Blackout => {
            let parse_blackout_type = |text: &str| BLACKOUT_TYPES.contains(&text).then(|| Value::from(text));
            let blackout_type = query.parse_value(
                "type",
                format!("one of {}", quoted_list(BLACKOUT_TYPES)),
                parse_blackout_type,
            );
            filter.field_values.extend(blackout_type.map(|blackout_type| ("type", blackout_type)));
            let is_weekly =
                query.parse_value("persistent", "`true` or `false`", |text| text.parse::<bool>().ok());
            filter.field_values.extend(is_weekly.map(|is_weekly| ("persistent", Value::Bool(is_weekly))));
            let parse_positive_id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
            filter.parent_ids.extend(query.parse_value("assoc_id", "an id", parse_positive_id));
        }
        ConfigRecordKind::Event => {
            let event_type = query.value("event").map(Value::from);
            filter.field_values.extend(event_type.map(|event_type| ("event", event_type)));
            (filter.from, filter.until) = parse_time_range(query, zone);
        }
        _ => {}
    }
    filter
}

/// Reads the parameters `from` and `thru`; a time without zone is in the zone of the account.
pub(in crate::api::v3) fn parse_time_range(
    query: &mut QueryParams,
    zone: &TimeZone,
) -> (Option<crate::domain::Timestamp>, Option<crate::domain::Timestamp>) {
    let from = query.parse_value("from", TIME_REQUIREMENT, |text| parse_time_in_zone(zone, text));
    let until = query.parse_value("thru", TIME_REQUIREMENT, |text| parse_time_in_zone(zone, text));
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        query.push_error("`from` must be before `thru`");
    }
    (from, until)
}
