//! The header field `traceparent`, with which the owner of a site finds the requests of a check in its own traces (W3C
//! Trace Context 3.2).

use aws_lc_rs::rand;
use http::{HeaderName, HeaderValue};

use crate::domain::{TraceId, to_hex};

/// Contains version, trace, span and flags.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Belongs to the parent that the field above names (W3C Trace Context 3.3).
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Creates the value for one request of the trace `trace_id`: a span of its own, sampled. `None` without random bytes;
/// the request is then sent without trace.
#[must_use]
pub fn new_traceparent(trace_id: TraceId) -> Option<HeaderValue> {
    let mut span_id = [0; 8];
    if rand::fill(&mut span_id).is_err() || span_id == [0; 8] {
        return None;
    }
    HeaderValue::from_str(&format!("00-{trace_id}-{}-01", to_hex(&span_id))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_a_span_of_its_own() {
        let new = || new_traceparent(TraceId::from_bits(0xABC)).unwrap().to_str().unwrap().to_owned();
        let (first, second) = (new(), new());
        assert!(
            first.starts_with("00-00000000000000000000000000000abc-") && first.ends_with("-01"),
            "{first}"
        );
        assert_eq!(first.len(), 55);
        assert_ne!(first, second);
    }
}
