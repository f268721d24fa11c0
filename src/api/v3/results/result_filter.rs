//! Reads the filter of a results call.

use jiff::tz::TimeZone;

use crate::api::error::ApiError;
use crate::api::path::parse_id;
use crate::api::query::{Paging, QueryParams, parse_time_in_zone, quoted_list};
use crate::domain::{CheckId, LocationId, MonitorId, Outcome, ResultFilter};

/// Names of [`crate::domain::Outcome`].
pub(super) const OUTCOME_NAMES: [&str; 6] = ["ok", "warning", "error", "unknown", "missed", "blackout"];

/// Parses the id of a result. Anything but 16 hexadecimal digits in canonical form gives 404.
pub(in crate::api::v3) fn parse_check_id(text: &str) -> Result<CheckId, ApiError> {
    let id: CheckId = text.parse().map_err(|_| ApiError::not_found())?;
    if id.to_string() == text { Ok(id) } else { Err(ApiError::not_found()) }
}

pub(super) fn parse_result_filter(
    mut query: QueryParams,
    zone: &TimeZone,
) -> Result<(ResultFilter, Paging), ApiError> {
    let outcome_requirement = format!("one or several of {}", quoted_list(&OUTCOME_NAMES));
    let time_requirement =
        "a time such as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let parse_time = |text: &str| parse_time_in_zone(zone, text);
    let filter = ResultFilter {
        monitors: query.parse_comma_list("monitor_id", "an id or a comma list of ids", |text| {
            parse_id(text).map(MonitorId)
        }),
        location: query.parse_value("location_id", "an id", |text| parse_id(text).map(LocationId)),
        from: query.parse_value("from", time_requirement, parse_time),
        until: query.parse_value("thru", time_requirement, parse_time),
        outcomes: query.parse_comma_list("outcome", outcome_requirement, Outcome::from_name),
        customer: None,
    };
    if let (Some(from), Some(until)) = (filter.from, filter.until)
        && from >= until
    {
        query.push_error("`from` must be before `thru`");
    }
    let paging = query.paging();
    query.into_result()?;
    Ok((filter, paging))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;

    #[test]
    fn the_filter_accepts_the_outcomes_of_results() {
        assert_eq!(OUTCOME_NAMES, Outcome::ALL.map(Outcome::name));
    }

    #[test]
    fn times_are_read_in_the_zone_of_the_account_and_every_error_is_reported() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let read = |query: &str| {
            let names = ["monitor_id", "location_id", "from", "thru", "outcome", "limit", "offset"];
            parse_result_filter(
                QueryParams::parse(&format!("/results?{query}").parse().unwrap(), &names),
                &zone,
            )
        };
        let (filter, paging) =
            read("monitor_id=7,8&from=2026-11-20%2013:00:00&outcome=error,missed&limit=5").unwrap();
        assert_eq!(filter.monitors, [MonitorId(7), MonitorId(8)]);
        assert_eq!(filter.from, Timestamp::parse("2026-11-20T12:00:00Z"));
        assert_eq!(filter.outcomes, [Outcome::Error, Outcome::Missed]);
        assert_eq!(paging.limit, Some(5));
        let error = read("monitor_id=x&outcome=bad&from=2026-11-20T12:00:00Z&thru=2026-11-20T12:00:00Z&a=b")
            .unwrap_err();
        let text = format!("{error:?}");
        for part in ["`monitor_id` must", "`outcome` must", "`from` must be before", "unknown parameter `a`"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
