//! The log of the requests and the console of one browser session.

use std::collections::{HashMap, HashSet, VecDeque};

use tokio::time::Instant;

use crate::domain::{ConsoleEntry, Failure, PageObjectKind, Phases, truncate};
use crate::forward_proxy::PROXY_ERROR_HEADER;

/// Maximum number of requests that are logged per step; later ones are only counted.
pub(super) const MAX_REQUESTS_PER_STEP: usize = 1000;

/// Maximum number of console lines kept per step.
const MAX_CONSOLE_LINES: usize = 100;

/// Longest console line, in characters.
const MAX_LINE_CHARS: usize = 1000;

/// Maximum number of header fields per message.
pub(super) const MAX_HEADER_FIELDS: usize = 100;

/// Longest URL or header value that is kept, in characters.
pub(super) const MAX_URL_OR_HEADER_CHARS: usize = 2000;

/// One request of the browser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The kind of object; `None` for a document of the page itself.
    pub object_kind: Option<PageObjectKind>,
    /// Whether it is a document, of the page or of a frame.
    pub is_document: bool,
    /// When it started, in seconds since 1970.
    pub started_at: f64,
    /// When it ended, in seconds since 1970.
    pub ended_at: f64,
    /// Durations of its phases.
    pub phases: Phases,
    /// Status code; 0 without a response.
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2` or `HTTP/3`.
    pub http_version: String,
    /// Media type as declared.
    pub mimetype: String,
    /// Bytes over the wire.
    pub body_wire_bytes: u64,
    /// Bytes after decompression.
    pub body_bytes: u64,
    /// Header fields of the request.
    pub request_headers: Vec<(String, String)>,
    /// Header fields of the response.
    pub response_headers: Vec<(String, String)>,
    /// The browser's name for the reason of the failure, such as `net::ERR_CONNECTION_REFUSED`.
    pub error_name: Option<String>,
    /// Whether the page itself cancelled it.
    pub cancelled: bool,
    /// The failure that Vigie's own proxy recorded for the request, if any; set by the reader of the log.
    pub proxy_failure: Option<Failure>,
}

/// The activity since the last read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkActivity {
    /// Finished and pending requests, in the order of their start.
    pub requests: Vec<LoggedRequest>,
    /// Number of requests beyond those.
    pub unlisted_requests: u32,
    /// Lines of the console.
    pub console_entries: Vec<ConsoleEntry>,
}

/// Collects the reports of drivers.
#[derive(Debug, Default)]
pub struct NetworkLog {
    /// Indices into `requests`, by the browser's id. Logs are not in order: bytes may be reported after the end.
    index_by_id: HashMap<String, usize>,
    /// Requests in the order of their start.
    pub(super) requests: VecDeque<LoggedRequest>,
    /// Number of requests beyond [`MAX_REQUESTS_PER_STEP`].
    pub(super) unlisted_requests: u32,
    console_entries: Vec<ConsoleEntry>,
    /// The browser's id of the top-level frame.
    pub(super) main_frame_id: Option<String>,
    /// Ids of the pending requests.
    pending_ids: HashSet<String>,
    /// When `pending_ids` last changed; `None` before its first change. Navigations do not count.
    pending_changed_at: Option<Instant>,
    /// Difference of the browser's clocks: wall time minus monotonic time, in seconds.
    pub(super) clock_offset_seconds: f64,
}

impl NetworkLog {
    /// Returns the activity since the last call. Pending requests are returned in their current state, and not again.
    pub fn take_activity(&mut self) -> NetworkActivity {
        self.index_by_id.clear();
        let mut requests = Vec::from(std::mem::take(&mut self.requests));
        requests.sort_by(|one, other| one.started_at.total_cmp(&other.started_at));
        NetworkActivity {
            requests,
            unlisted_requests: std::mem::take(&mut self.unlisted_requests),
            console_entries: std::mem::take(&mut self.console_entries),
        }
    }

    /// Returns the last document that the page itself requested, as far as it was reported.
    #[must_use]
    pub fn last_page_document(&self) -> Option<&LoggedRequest> {
        self.requests.iter().rev().find(|request| request.is_document && request.object_kind.is_none())
    }

    /// Returns the documents of pages, frames and windows, in the order in which they were requested.
    pub fn documents(&self) -> impl Iterator<Item = &LoggedRequest> {
        self.requests.iter().filter(|request| request.is_document || request.object_kind.is_none())
    }

    /// Returns since when no request is pending, at the earliest `earliest`; `None` while one is. Event streams and
    /// connections that stay open do not count.
    #[must_use]
    pub fn idle_since(&self, earliest: Instant) -> Option<Instant> {
        let changed_at = self.pending_changed_at.map_or(earliest, |changed_at| changed_at.max(earliest));
        self.pending_ids.is_empty().then_some(changed_at)
    }

    /// Adds a request that has started. If `counts_as_pending`, the network is not idle until its end.
    pub(super) fn log_request(&mut self, id: &str, request: LoggedRequest, counts_as_pending: bool) {
        if counts_as_pending && self.pending_ids.len() < MAX_REQUESTS_PER_STEP {
            self.pending_ids.insert(id.to_owned());
            self.pending_changed_at = Some(Instant::now());
        }
        if self.requests.len() >= MAX_REQUESTS_PER_STEP {
            self.unlisted_requests += 1;
            return;
        }
        self.index_by_id.insert(id.to_owned(), self.requests.len());
        self.requests.push_back(request);
    }

    /// Clears the pending requests, which belong to the page before.
    pub(super) fn on_navigation(&mut self) {
        self.pending_ids.clear();
    }

    /// Clears the pending requests after entries were lost, for instance because there were too many: their ends may be
    /// among them.
    pub fn clear_pending(&mut self) {
        // A driver without a log, such as that of a grid, never reported any.
        if !self.pending_ids.is_empty() {
            self.pending_ids.clear();
            self.pending_changed_at = Some(Instant::now());
        }
    }

    /// Returns the request with the browser's `id`; `None` if it is not listed, or was returned by `take_activity`.
    pub(super) fn logged_request_mut(&mut self, id: &str) -> Option<&mut LoggedRequest> {
        let index = *self.index_by_id.get(id)?;
        self.requests.get_mut(index)
    }

    /// Marks a request as no longer pending, and returns it like [`Self::logged_request_mut`] to set its result.
    pub(super) fn finish_request(&mut self, id: &str) -> Option<&mut LoggedRequest> {
        if self.pending_ids.remove(id) {
            self.pending_changed_at = Some(Instant::now());
        }
        self.logged_request_mut(id)
    }

    pub(super) fn add_console_entry(
        &mut self,
        level: &str,
        source: &str,
        text: &str,
        url: &str,
        line: Option<u32>,
    ) {
        if self.console_entries.len() < MAX_CONSOLE_LINES {
            self.console_entries.push(ConsoleEntry {
                level: level.to_owned(),
                source: source.to_owned(),
                text: truncate(text, MAX_LINE_CHARS),
                url: truncate(url, MAX_LINE_CHARS),
                line,
            });
        }
    }
}

/// Sets a missing size from `Content-Length` if the response is not compressed. Browsers do not report all sizes, for
/// instance those of preloaded objects.
pub(super) fn fill_body_bytes_from_header(request: &mut LoggedRequest) {
    let field = |name: &str| {
        let found =
            request.response_headers.iter().find(|(field_name, _)| field_name.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let is_uncompressed = field("content-encoding").is_none_or(|coding| coding == "identity");
    if request.body_bytes == 0
        && let Some(length) =
            field("content-length").filter(|_| is_uncompressed).and_then(|text| text.parse().ok())
    {
        request.body_bytes = length;
    }
}

/// Replaces a response by which Vigie's own proxy reports an unreachable target by its error: the site sent none.
/// The document of the page is left: it is evaluated by what the browser displays.
pub(super) fn replace_proxy_response_by_error(request: &mut LoggedRequest) {
    if request.object_kind.is_none() || !request.url.starts_with("http:") {
        return;
    }
    let reason =
        request.response_headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(PROXY_ERROR_HEADER));
    if let Some((_, reason)) = reason {
        request.error_name = Some(truncate(reason, 100));
    }
    // Firefox reports a response twice, and incompletely the second time.
    if request.error_name.is_some() {
        request.http_status = 0;
        request.mimetype.clear();
        request.response_headers.clear();
    }
}

/// Returns the protocol name of results for the name that browsers use.
pub(super) fn http_version_name(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "h2" | "http/2" | "http/2.0" => "HTTP/2".to_owned(),
        "h3" | "http/3" | "h3-29" => "HTTP/3".to_owned(),
        "http/1.1" => "HTTP/1.1".to_owned(),
        "http/1.0" => "HTTP/1.0".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pending_requests_are_forgotten_when_entries_are_lost() {
        let (mut network_log, start) = (NetworkLog::default(), Instant::now());
        network_log.log_request("1", LoggedRequest::default(), true);
        assert_eq!(network_log.idle_since(start), None);
        network_log.clear_pending();
        let since = network_log.idle_since(start);
        assert!(since.is_some_and(|since| since > start));
        network_log.clear_pending();
        assert_eq!(network_log.idle_since(start), since);
        assert_eq!(network_log.take_activity().requests.len(), 1);
    }
}
