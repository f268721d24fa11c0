//! The header `Retry-After` (RFC 9110 10.2.3).

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::domain::Timestamp;

/// Returns the pause that `Retry-After` requests, in seconds or as a date; zero for a date in the past.
#[must_use]
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let retry_at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Timestamp::from_micros(retry_at.as_microsecond()).since(now))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let now = Timestamp::from_seconds(784_111_777);
        for (text, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]);
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_secs), "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
