//! The trace that requests to the site under check carry (W3C Trace Context 3.2), so that the owner of the site finds
//! what a check did in its own traces. Other sites see nothing of it.

use std::fmt;
use std::sync::OnceLock;

use aws_lc_rs::rand;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::blocked_hosts::normalize_host;
use crate::domain::to_hex;

/// Carries version, trace, span and flags.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Belongs to the parent that is replaced (W3C Trace Context 3.3).
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The id of a trace; prints as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId([u8; 16]);

impl TraceId {
    /// One of these bits. An id of zeros is none (W3C Trace Context 3.2.2.3).
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(bits.max(1).to_be_bytes())
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

/// The trace of one check, and the site that sees it.
#[derive(Debug)]
pub(super) struct TraceContext {
    id: TraceId,
    /// A registrable domain with all that is below it, or a host without one. Known once the first page is asked for.
    site: OnceLock<String>,
}

impl TraceContext {
    pub(super) const fn new(id: TraceId) -> Self {
        Self { id, site: OnceLock::new() }
    }

    /// Names the site; the first one stays.
    pub(super) fn set_site(&self, site: &str) {
        self.site.get_or_init(|| normalize_host(site));
    }

    /// Whether `host` is of the site.
    pub(super) fn covers(&self, host: &str) -> bool {
        let host = normalize_host(host);
        self.site.get().is_some_and(|site| {
            host.strip_suffix(site.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }

    /// Gives a request its place in the trace: a span of its own, sampled. What a script of the page wrote there is
    /// replaced, else the request would not be found under the id of the check.
    pub(super) fn inject(&self, fields: &mut HeaderMap) {
        let mut span = [0; 8];
        // Without chance there is no span, and the request goes without.
        if rand::fill(&mut span).is_err() || span == [0; 8] {
            return;
        }
        if let Ok(value) = HeaderValue::from_str(&format!("00-{}-{}-01", self.id, to_hex(&span))) {
            fields.insert(TRACEPARENT, value);
            fields.remove(TRACESTATE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_the_site_are_its_own_and_no_others() {
        let tracing = TraceContext::new(TraceId::from_bits(7));
        assert!(!tracing.covers("shop.example"), "the site is not known yet");
        tracing.set_site("Shop.example");
        tracing.set_site("other.example");
        for (host, own) in [
            ("shop.example", true),
            ("WWW.shop.example.", true),
            ("a.b.shop.example", true),
            ("workshop.example", false),
            ("shop.example.net", false),
            ("other.example", false),
            ("example", false),
        ] {
            assert_eq!(tracing.covers(host), own, "{host}");
        }
        let address = TraceContext::new(TraceId::from_bits(7));
        address.set_site("[::1]");
        assert!(address.covers("[::1]") && !address.covers("127.0.0.1"));
    }

    #[test]
    fn a_request_gets_one_parent_with_a_span_of_its_own() {
        let tracing = TraceContext::new(TraceId::from_bits(0xABC));
        let mut fields = HeaderMap::new();
        fields.append(TRACEPARENT, HeaderValue::from_static("00-1-2-00"));
        fields.append(TRACESTATE, HeaderValue::from_static("a=b"));
        tracing.inject(&mut fields);
        let first = fields[TRACEPARENT].to_str().unwrap().to_owned();
        assert!(
            first.starts_with("00-00000000000000000000000000000abc-") && first.ends_with("-01"),
            "{first}"
        );
        assert_eq!((first.len(), fields.get_all(TRACEPARENT).iter().count(), fields.len()), (55, 1, 1));
        tracing.inject(&mut fields);
        assert_ne!(first, fields[TRACEPARENT].to_str().unwrap());
        assert_eq!(TraceId::from_bits(0).to_string(), "00000000000000000000000000000001");
    }
}
