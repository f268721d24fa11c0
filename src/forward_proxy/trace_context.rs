//! The trace context of requests to the site under check (W3C Trace Context 3.2), with which the owner of the site
//! finds the requests of a check in its own traces. Other sites do not get it.

use std::sync::OnceLock;

use http::HeaderMap;

use super::blocked_hosts::normalize_host;
use crate::domain::TraceId;
use crate::protocol::http::{TRACEPARENT, TRACESTATE, new_traceparent};

/// The trace of one check, and the site that gets it.
#[derive(Debug)]
pub(super) struct TraceContext {
    trace_id: TraceId,
    /// A registrable domain with all hosts below it, or a host without one. Set when the first page is requested.
    site: OnceLock<String>,
}

impl TraceContext {
    pub(super) const fn new(id: TraceId) -> Self {
        Self { trace_id: id, site: OnceLock::new() }
    }

    /// Sets the site; only the first call has an effect.
    pub(super) fn set_site(&self, site: &str) {
        self.site.get_or_init(|| normalize_host(site));
    }

    /// Whether `host` belongs to the site.
    pub(super) fn applies_to(&self, host: &str) -> bool {
        let host = normalize_host(host);
        self.site.get().is_some_and(|site| {
            host.strip_suffix(site.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }

    /// Adds the trace to a request: a span of its own, sampled. Replaces values from a script of the page, since the
    /// request would not be found under the id of the check otherwise.
    pub(super) fn inject(&self, headers: &mut HeaderMap) {
        if let Some(value) = new_traceparent(self.trace_id) {
            headers.insert(TRACEPARENT, value);
            headers.remove(TRACESTATE);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_site_covers_its_hosts_and_no_others() {
        let trace_context = TraceContext::new(TraceId::from_bits(7));
        assert!(!trace_context.applies_to("shop.example"), "the site is not known yet");
        trace_context.set_site("Shop.example");
        trace_context.set_site("other.example");
        for (host, expected) in [
            ("shop.example", true),
            ("WWW.shop.example.", true),
            ("a.b.shop.example", true),
            ("workshop.example", false),
            ("shop.example.net", false),
            ("other.example", false),
            ("example", false),
        ] {
            assert_eq!(trace_context.applies_to(host), expected, "{host}");
        }
        let address = TraceContext::new(TraceId::from_bits(7));
        address.set_site("[::1]");
        assert!(address.applies_to("[::1]") && !address.applies_to("127.0.0.1"));
    }

    #[test]
    fn a_request_gets_one_parent_with_its_own_span() {
        let trace_context = TraceContext::new(TraceId::from_bits(0xABC));
        let mut fields = HeaderMap::new();
        fields.append(TRACEPARENT, HeaderValue::from_static("00-1-2-00"));
        fields.append(TRACESTATE, HeaderValue::from_static("a=b"));
        trace_context.inject(&mut fields);
        let first = fields[TRACEPARENT].to_str().unwrap().to_owned();
        assert!(
            first.starts_with("00-00000000000000000000000000000abc-") && first.ends_with("-01"),
            "{first}"
        );
        assert_eq!((first.len(), fields.get_all(TRACEPARENT).iter().count(), fields.len()), (55, 1, 1));
        trace_context.inject(&mut fields);
        assert_ne!(first, fields[TRACEPARENT].to_str().unwrap());
    }
}
