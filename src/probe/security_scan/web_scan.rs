//! What the site of the target serves.

use http::header::{HeaderValue, ORIGIN};
use url::Url;

use super::scan::Scan;
use crate::domain::{Failure, PageObjectKind};
use crate::evaluate::security::{
    EXPOSED_FILES, LISTED_DIRECTORIES, ScanArea, ScannedResponse, judge_cookies, judge_cors,
    judge_exposed_file, judge_headers, judge_http_side, judge_https_redirect, judge_listing,
    judge_mixed_content, judge_security_txt,
};
use crate::webpage::{PageObjectQueue, scan_html};

/// Redirects within the site that are followed from its first page.
const MAX_REDIRECTS: usize = 5;
/// Failures in a row after which the rest of the requests is given up: a target that stalls would take the whole time.
const MAX_FAILURES_IN_A_ROW: usize = 3;
/// An origin that no site can know (RFC 2606).
const UNKNOWN_ORIGIN: &str = "https://vigie-security-scan.invalid";

impl Scan<'_> {
    /// Returns the URL of the site: that of the monitor, else that of a usual open port, https first.
    pub(super) fn site_url(&self) -> Option<Url> {
        if let Some(url) = &self.options.site_url {
            return Some(url.clone());
        }
        let scheme = [(443, "https"), (80, "http")]
            .into_iter()
            .find(|(port, _)| self.facts.open_ports.contains(port))
            .map(|(_, scheme)| scheme)?;
        self.url_of_host(scheme)
    }

    /// Returns the first page of the target at the usual port of `scheme`.
    fn url_of_host(&self, scheme: &str) -> Option<Url> {
        let host = &self.options.host;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        Url::parse(&format!("{scheme}://{host}/")).ok()
    }

    /// Looks at the site at `site_url`.
    pub(super) async fn scan_site(&mut self, site_url: &Url) {
        match self.fetch_page(site_url).await {
            Ok(page) => self.judge_page(&page),
            Err(failure) => {
                let question = format!("`{site_url}`: {failure}");
                return self.add_question(ScanArea::Web, &question);
            }
        }
        if let Err(failure) = self.scan_paths(site_url).await {
            self.add_question(ScanArea::Web, &format!("the remaining requests were left out: {failure}"));
        }
    }

    /// Returns the first page, after redirects within the site. Judges the responses on the way.
    async fn fetch_page(&mut self, site_url: &Url) -> Result<ScannedResponse, Failure> {
        let mut url = site_url.clone();
        for _ in 0..MAX_REDIRECTS {
            let response = self.fetch(&url, None).await?;
            let target = response.redirect_target().filter(|target| target.origin() == url.origin());
            match target {
                Some(target) if target != url => {
                    judge_cookies(&response, &mut self.findings);
                    url = target;
                }
                _ => return Ok(response),
            }
        }
        self.fetch(&url, None).await
    }

    fn judge_page(&mut self, page: &ScannedResponse) {
        judge_https_redirect(page, &mut self.findings);
        judge_headers(page, &mut self.findings);
        judge_cookies(page, &mut self.findings);
        judge_listing(page, &mut self.findings);
        if !page.is_https() {
            let has_https = self.facts.open_ports.contains(&443);
            judge_http_side(page, has_https, &mut self.findings);
        }
        if page.is_html() {
            let mut queue = PageObjectQueue::new(&page.url);
            scan_html(&page.text(), &page.url, 0, &mut queue);
            let objects = queue.drain();
            let objects = objects.iter().map(|object| {
                let is_active = matches!(
                    object.kind,
                    PageObjectKind::Script | PageObjectKind::StyleSheet | PageObjectKind::Frame
                );
                (object.url.as_str(), is_active)
            });
            judge_mixed_content(page, objects, &mut self.findings);
        }
    }

    /// Makes the other requests.
    ///
    /// # Errors
    /// When several in a row fail.
    async fn scan_paths(&mut self, site_url: &Url) -> Result<(), Failure> {
        let mut failures = FailureCount::default();
        if site_url.scheme() == "https"
            && self.facts.open_ports.contains(&80)
            && let Some(http_url) = self.url_of_host("http")
            && let Some(response) = failures.check(self.fetch(&http_url, None).await)?
        {
            judge_http_side(&response, true, &mut self.findings);
        }
        let origin = Some((ORIGIN, HeaderValue::from_static(UNKNOWN_ORIGIN)));
        if let Some(response) = failures.check(self.fetch(site_url, origin).await)? {
            judge_cors(&response, UNKNOWN_ORIGIN, &mut self.findings);
        }
        if let Some(url) = with_path(site_url, "/.well-known/security.txt") {
            let response = failures.check(self.fetch(&url, None).await)?;
            judge_security_txt(response.as_ref(), &mut self.findings);
        }
        for path in LISTED_DIRECTORIES {
            let Some(url) = with_path(site_url, path) else { continue };
            if let Some(response) = failures.check(self.fetch(&url, None).await)? {
                judge_listing(&response, &mut self.findings);
            }
        }
        for file in EXPOSED_FILES {
            let Some(url) = with_path(site_url, file.path) else { continue };
            if let Some(response) = failures.check(self.fetch(&url, None).await)? {
                judge_exposed_file(file, &response, &mut self.findings);
            }
        }
        match failures.last {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

/// Counts failures in a row.
#[derive(Default)]
struct FailureCount {
    in_a_row: usize,
    /// The last failure of all.
    last: Option<Failure>,
}

impl FailureCount {
    /// Returns the response, if there is one.
    ///
    /// # Errors
    /// The failure, when it is one too many.
    fn check(
        &mut self,
        result: Result<ScannedResponse, Failure>,
    ) -> Result<Option<ScannedResponse>, Failure> {
        match result {
            Ok(response) => {
                self.in_a_row = 0;
                Ok(Some(response))
            }
            Err(failure) => {
                self.in_a_row += 1;
                self.last = Some(failure.clone());
                if self.in_a_row >= MAX_FAILURES_IN_A_ROW { Err(failure) } else { Ok(None) }
            }
        }
    }
}

fn with_path(site_url: &Url, path: &str) -> Option<Url> {
    site_url.join(path).ok().filter(|url| url.origin() == site_url.origin())
}
