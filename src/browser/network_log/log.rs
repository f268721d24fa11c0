//! The requests of one browser session, and what its pages printed.

use std::collections::{HashMap, HashSet, VecDeque};

use tokio::time::Instant;

use crate::domain::{ConsoleEntry, Failure, PageObjectKind, Phases, truncate};
use crate::forward_proxy::REFUSED_HEADER;

/// Requests that are told of one step; later ones are only counted.
pub(super) const MAX_REQUESTS: usize = 1000;

/// Lines of the console that are kept of one step.
const MAX_CONSOLE_LINES: usize = 100;

/// Characters of a line.
const MAX_LINE_CHARS: usize = 1000;

/// Header fields of one message, and characters of a value.
pub(super) const MAX_FIELDS: usize = 100;

pub(super) const MAX_VALUE_CHARS: usize = 2000;

/// One request of the browser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedRequest {
    /// `GET`, …
    pub method: String,
    /// Where it went.
    pub url: String,
    /// What it is for; `None` of a document of the page itself.
    pub kind: Option<PageObjectKind>,
    /// Whether it is a document, of the page or of a frame.
    pub is_document: bool,
    /// When it began, in seconds since 1970.
    pub started_at: f64,
    /// When it was over, likewise.
    pub ended_at: f64,
    /// Where the time went.
    pub phases: Phases,
    /// Status code; 0 when no answer came.
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2`, `HTTP/3`.
    pub http_version: String,
    /// Media type as declared.
    pub mimetype: String,
    /// Bytes over the wire.
    pub wire_bytes: u64,
    /// Bytes after decompression.
    pub bytes: u64,
    /// Header fields of the request and of the answer.
    pub request_headers: Vec<(String, String)>,
    /// Those of the answer.
    pub response_headers: Vec<(String, String)>,
    /// The browser's word for why it came to nothing, such as `net::ERR_CONNECTION_REFUSED`.
    pub error: Option<String>,
    /// Whether the page itself gave it up.
    pub cancelled: bool,
    /// What our own proxy saw on the way, where it came to nothing; whoever reads the journal asks for it.
    pub cause: Option<Failure>,
}

/// What happened since the journal was read last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkActivity {
    /// Requests that are over, and those under way, in the order in which they began.
    pub exchanges: Vec<LoggedRequest>,
    /// Requests beyond those.
    pub unlisted: u32,
    /// Lines of the console.
    pub console: Vec<ConsoleEntry>,
}

/// Collects what drivers tell.
#[derive(Debug, Default)]
pub struct NetworkLog {
    /// Those of `exchanges`, by the browser's id. Logs are not in order: bytes may be told of after the end.
    by_id: HashMap<String, usize>,
    /// In the order in which they began.
    pub(super) exchanges: VecDeque<LoggedRequest>,
    pub(super) unlisted: u32,
    console: Vec<ConsoleEntry>,
    /// The browser's id of the page's own document, and the frame that is the page.
    pub(super) main_frame: Option<String>,
    /// Ids of the requests that keep the network busy, and when that changed last.
    pending: HashSet<String>,
    changed_at: Option<Instant>,
    /// Difference of the clocks of the browser: wall less monotonic, in seconds.
    pub(super) clock_offset: f64,
}

impl NetworkLog {
    /// What happened since the last time. Requests that are under way are told as they are, and not again.
    pub fn drain(&mut self) -> NetworkActivity {
        self.by_id.clear();
        let mut exchanges = Vec::from(std::mem::take(&mut self.exchanges));
        exchanges.sort_by(|one, other| one.started_at.total_cmp(&other.started_at));
        NetworkActivity {
            exchanges,
            unlisted: std::mem::take(&mut self.unlisted),
            console: std::mem::take(&mut self.console),
        }
    }

    /// The document that the page itself asked for last, as far as it was told of.
    #[must_use]
    pub fn last_document(&self) -> Option<&LoggedRequest> {
        self.exchanges.iter().rev().find(|exchange| exchange.is_document && exchange.kind.is_none())
    }

    /// Since when no request is under way, as far as the journal was told, and at the earliest since `start`;
    /// `None` while one is. Streams of events and connections that stay open do not count.
    #[must_use]
    pub fn idle_since(&self, start: Instant) -> Option<Instant> {
        let changed_at = self.changed_at.map_or(start, |changed_at| changed_at.max(start));
        self.pending.is_empty().then_some(changed_at)
    }

    pub(super) fn start_request(&mut self, id: &str, exchange: LoggedRequest, busy: bool) {
        if busy && self.pending.len() < MAX_REQUESTS {
            self.pending.insert(id.to_owned());
            self.changed_at = Some(Instant::now());
        }
        if self.exchanges.len() >= MAX_REQUESTS {
            self.unlisted += 1;
            return;
        }
        self.by_id.insert(id.to_owned(), self.exchanges.len());
        self.exchanges.push_back(exchange);
    }

    /// The page is another one now: what the last one waited for comes no more.
    pub(super) fn on_navigation(&mut self) {
        self.pending.clear();
    }

    /// What was told in between is lost, as where it was too much: nothing that was under way is waited for any more.
    pub fn reset_pending(&mut self) {
        // A driver without a log, as of a grid, never told of any.
        if !self.pending.is_empty() {
            self.pending.clear();
            self.changed_at = Some(Instant::now());
        }
    }

    pub(super) fn request_mut(&mut self, id: &str) -> Option<&mut LoggedRequest> {
        let at = *self.by_id.get(id)?;
        self.exchanges.get_mut(at)
    }

    pub(super) fn finish_request(&mut self, id: &str) -> Option<&mut LoggedRequest> {
        if self.pending.remove(id) {
            self.changed_at = Some(Instant::now());
        }
        self.request_mut(id)
    }

    pub(super) fn add_console_line(
        &mut self,
        level: &str,
        source: &str,
        text: &str,
        url: &str,
        line: Option<u32>,
    ) {
        if self.console.len() < MAX_CONSOLE_LINES {
            self.console.push(ConsoleEntry {
                level: level.to_owned(),
                source: source.to_owned(),
                text: truncate(text, MAX_LINE_CHARS),
                url: truncate(url, MAX_LINE_CHARS),
                line,
            });
        }
    }
}

/// Browsers do not tell the size of everything, such as of what they asked for ahead: then the answer's own word
/// counts, where it is not compressed.
pub(super) fn fill_size_from_header(exchange: &mut LoggedRequest) {
    let field = |name: &str| {
        let found = exchange.response_headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let plain = field("content-encoding").is_none_or(|coding| coding == "identity");
    if exchange.bytes == 0
        && let Some(length) = field("content-length").filter(|_| plain).and_then(|text| text.parse().ok())
    {
        exchange.bytes = length;
    }
}

/// What our own proxy answers in place of a target that it could not reach is no answer of the site. The page itself
/// is judged by what is shown.
pub(super) fn clear_proxy_error(exchange: &mut LoggedRequest) {
    if exchange.kind.is_none() || !exchange.url.starts_with("http:") {
        return;
    }
    let why = exchange.response_headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(REFUSED_HEADER));
    if let Some((_, why)) = why {
        exchange.error = Some(truncate(why, 100));
    }
    // Firefox tells an answer twice, and not all of it the second time.
    if exchange.error.is_some() {
        exchange.http_status = 0;
        exchange.mimetype.clear();
        exchange.response_headers.clear();
    }
}

/// The words of protocols that browsers use, as results show them.
pub(super) fn protocol_name(word: &str) -> String {
    match word.to_ascii_lowercase().as_str() {
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
    async fn what_is_under_way_when_something_is_missed_is_not_waited_for() {
        let (mut network_log, start) = (NetworkLog::default(), Instant::now());
        network_log.start_request("1", LoggedRequest::default(), true);
        assert_eq!(network_log.idle_since(start), None);
        network_log.reset_pending();
        let since = network_log.idle_since(start);
        assert!(since.is_some_and(|since| since > start));
        network_log.reset_pending();
        assert_eq!(network_log.idle_since(start), since);
        assert_eq!(network_log.drain().exchanges.len(), 1);
    }
}
