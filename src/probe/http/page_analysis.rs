//! Further analysis of a page that passed: the fingerprint of its text, and its objects (behaviour.md 4, full page).

use std::sync::Arc;

use http::{HeaderMap, Version};
use tokio::time::Instant;
use url::Url;

use super::options::WebsiteOptions;
use crate::domain::{Observation, Warning};
use crate::evaluate::charset;
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::http::client::{AuthState, CookieJar, version_name};
use crate::webpage;
use crate::webpage::{LoadOptions, LoadedPage, PageObjectQueue};

/// Largest page that is scanned on the async thread, in bytes.
const INLINE_SCAN_BYTES: usize = 64 * 1024;
/// A page that was fetched and passed.
pub(super) struct FetchedPage {
    pub(super) body: Arc<Vec<u8>>,
    pub(super) content_type: Option<String>,
    pub(super) url: Url,
    pub(super) auth_state: Option<AuthState>,
}

impl FetchedPage {
    fn is_html(&self) -> bool {
        let media_type = self.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
        media_type.is_empty() || media_type.contains("html") || media_type.contains("xml")
    }
}

/// Analyses `page` and loads its objects, as `options` require. `headers` are those of the monitor; `started` is when
/// the page was requested.
pub(super) async fn analyse_page(
    options: &WebsiteOptions,
    cx: ProbeContext<'_>,
    mut page: FetchedPage,
    headers: &HeaderMap,
    cookie_jar: &mut CookieJar,
    started: Instant,
    observation: &mut Observation,
) {
    let rule = options.full_page_rule.filter(|rule| rule.is_due(cx.last_full_page_at, cx.clock.now()));
    let queue = rule.map(|_| PageObjectQueue::new(&page.url));
    let (queue, fingerprint) = scan_page(&page, queue, options.detect_content_change).await;
    if let Some(facts) = &mut observation.facts.http {
        facts.text_sha256 = fingerprint;
    }
    let Some((rule, queue)) = rule.zip(queue) else { return };
    let load_options = LoadOptions {
        location_net: cx.net,
        connect_options: &options.connect_options,
        page_url: &page.url,
        page_http_version: object_http_version(observation, options.http_version),
        monitor_headers: headers,
        max_body_bytes: options.max_body_bytes,
        object_timeout: rule.object_timeout,
        attempt_deadline: cx.deadline,
        page_requested_at: started,
    };
    let LoadedPage { page: mut full_page, timed_out } =
        webpage::load(&load_options, cookie_jar, page.auth_state.as_mut(), queue).await;
    full_page.decoded_bytes += page.body.len() as u64;
    let failure = rule.evaluate(&full_page, timed_out, cx.deadline.timeout);
    observation.details.page_load = Some(Box::new(full_page));
    match failure {
        Some(failure) if rule.object_failures_fail_check => observation.record_failure(failure),
        Some(failure) => observation.warnings.push(Warning::from_page_object_failure(&failure)),
        None => {}
    }
}

/// Returns the HTTP version for the objects: HTTP/2 and HTTP/3 only if the page itself was loaded with it.
fn object_http_version(observation: &Observation, configured: Version) -> Version {
    let facts = observation.facts.http.as_ref();
    match configured {
        Version::HTTP_2 | Version::HTTP_3
            if facts.is_some_and(|facts| facts.http_version != version_name(configured)) =>
        {
            Version::HTTP_11
        }
        configured => configured,
    }
}

/// Returns the objects that the page refers to, and the fingerprint of its text if requested.
async fn scan_page(
    page: &FetchedPage,
    queue: Option<PageObjectQueue>,
    with_fingerprint: bool,
) -> (Option<PageObjectQueue>, Option<String>) {
    if queue.is_none() && !with_fingerprint {
        return (None, None);
    }
    let (bytes, content_type, url) = (Arc::clone(&page.body), page.content_type.clone(), page.url.clone());
    let is_html = page.is_html();
    let scan = move || {
        let text = charset::decode_body(&bytes, content_type.as_deref());
        let fingerprint = with_fingerprint.then(|| webpage::text_fingerprint(&text));
        let queue = queue.map(|mut queue| {
            if is_html {
                // Frame depth 0: this is the page itself.
                webpage::scan_html(&text, &url, 0, &mut queue);
            }
            queue
        });
        (queue, fingerprint)
    };
    if page.body.len() <= INLINE_SCAN_BYTES {
        return scan();
    }
    // The scan does not panic; if it did, the page would count as empty.
    tokio::task::spawn_blocking(scan).await.unwrap_or_default()
}
