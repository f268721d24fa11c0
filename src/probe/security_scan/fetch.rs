//! Requests of a scan: GET without a body, to the target alone, with bounded responses.

use http::header::{ACCEPT, CONNECTION, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Version};
use tokio::time::Instant;
use url::Url;

use super::scan::Scan;
use crate::domain::{Failure, FailureKind, from_utf8_lossy};
use crate::evaluate::security::ScannedResponse;
use crate::net::{AddressFamily, TlsOptions};
use crate::protocol::http::BodyRetention;
use crate::protocol::http::client::{
    ConnectOptions, CookieJar, RedirectRule, RequestChain, RequestContext, RequestSpec,
};

/// Longest body that is read, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 256 * 1024;
/// Longest value of a header field that is judged, in bytes.
const MAX_HEADER_BYTES: usize = 8 * 1024;

impl Scan<'_> {
    /// Requests `url`, whose host is that of the target, with the additional header field `header`.
    pub(super) async fn fetch(
        &mut self,
        url: &Url,
        header: Option<(HeaderName, HeaderValue)>,
    ) -> Result<ScannedResponse, Failure> {
        self.pacer.wait(self.deadline).await?;
        let connect_options = ConnectOptions {
            address_family: AddressFamily::Any,
            pinned_host: url.host().map(|host| host.to_owned()).zip(self.address),
            proxy_id: None,
            // What is wrong with the certificate is a finding; the site is looked at all the same.
            tls_options: TlsOptions { verify_certificate: false, ..TlsOptions::default() },
        };
        let context = RequestContext {
            net: self.cx.net,
            connect_options: &connect_options,
            deadline: self.connection_deadline(),
            started: Instant::now(),
            record_exchanges: false,
        };
        let request = RequestSpec {
            url: url.clone(),
            method: Method::GET,
            version: Version::HTTP_11,
            headers: self.request_headers(header),
            body: None,
            credentials: None,
            preemptive_auth: false,
            redirects: RedirectRule::from_flag(false),
            trace_id: None,
        };
        let mut cookie_jar = CookieJar::default();
        let mut chain = RequestChain::new(context, &request, &mut cookie_jar);
        let (head, body) = Box::pin(chain.send()).await?;
        let headers = head
            .headers
            .iter()
            .map(|(name, value)| {
                let bytes = value.as_bytes();
                let bytes = bytes.get(..MAX_HEADER_BYTES).unwrap_or(bytes);
                (name.as_str().to_owned(), from_utf8_lossy(bytes).into_owned())
            })
            .collect();
        let retention = BodyRetention::Prefix(MAX_BODY_BYTES);
        let phases = &mut chain.exchange_trace.phases;
        let content = body.read(retention, MAX_BODY_BYTES as u64, context.deadline, phases).await;
        // The beginning of a longer body is enough; one that stalls is a failure.
        match content.failure {
            Some(failure) if failure.kind == FailureKind::TimedOut => Err(failure),
            _ => Ok(ScannedResponse {
                url: url.clone(),
                status: head.status.as_u16(),
                headers,
                body: content.bytes,
            }),
        }
    }

    fn request_headers(&self, header: Option<(HeaderName, HeaderValue)>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(5);
        headers.insert(HOST, HeaderValue::from_static(""));
        if let Ok(user_agent) = HeaderValue::from_str(&self.options.user_agent) {
            headers.insert(USER_AGENT, user_agent);
        }
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.extend(header);
        headers
    }
}
