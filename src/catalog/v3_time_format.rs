//! The time formats of version 3 (behaviour.md 1 "Times").

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::domain::Timestamp;

/// Formats an audit time: `YYYY-MM-DDTHH:MM:SSZ`.
pub(crate) fn format_utc_time(at: Timestamp) -> String {
    to_jiff(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Format of window times.
const WINDOW_TIME_FORMAT: &str = "%Y-%m-%d %H:%M:%S";

/// Formats a window time: `YYYY-MM-DD HH:MM:SS` in `zone`.
pub(crate) fn format_window_time(at: Timestamp, zone: &TimeZone) -> String {
    to_local_time(at, zone).strftime(WINDOW_TIME_FORMAT).to_string()
}

/// Returns the local date and time in `zone`.
pub(crate) fn to_local_time(at: Timestamp, zone: &TimeZone) -> DateTime {
    zone.to_datetime(to_jiff(at))
}

fn to_jiff(at: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::typed::time_window::parse_local_time;

    #[test]
    fn times_have_the_forms_of_version_3() {
        let at = Timestamp::from_micros(1_795_176_000_123_456);
        assert_eq!(format_utc_time(at), "2026-11-20T12:00:00Z");
        let paris = TimeZone::get("Europe/Paris").unwrap();
        assert_eq!(format_window_time(at, &paris), "2026-11-20 13:00:00");
        assert_eq!(
            parse_local_time("2026-11-20 13:00:00"),
            Some(to_local_time(Timestamp::from_seconds(1_795_176_000), &paris))
        );
        assert_eq!(parse_local_time("2026-11-20"), None);
    }
}
