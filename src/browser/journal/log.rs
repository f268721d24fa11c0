//! The requests of one browser session, and what its pages printed.

use std::collections::{HashMap, HashSet, VecDeque};

use tokio::time::Instant;

use crate::domain::{ConsoleEntry, Failure, PageObjectKind, Phases, truncate};
use crate::forward_proxy::REFUSED_HEADER;

/// Requests that are told of one step; later ones are only counted.
pub(super) const MOST_REQUESTS: usize = 1000;

/// Lines of the console that are kept of one step.
const MOST_LINES: usize = 100;

/// Characters of a line.
const LONGEST_LINE: usize = 1000;

/// Header fields of one message, and characters of a value.
pub(super) const MOST_FIELDS: usize = 100;

pub(super) const LONGEST_VALUE: usize = 2000;

/// One request of the browser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// `GET`, …
    pub method: String,
    /// Where it went.
    pub url: String,
    /// What it is for; `None` of a document of the page itself.
    pub kind: Option<PageObjectKind>,
    /// Whether it is a document, of the page or of a frame.
    pub document: bool,
    /// When it began, in seconds since 1970.
    pub began: f64,
    /// When it was over, likewise.
    pub ended: f64,
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
pub struct Pages {
    /// Requests that are over, and those under way, in the order in which they began.
    pub exchanges: Vec<Exchange>,
    /// Requests beyond those.
    pub unlisted: u32,
    /// Lines of the console.
    pub console: Vec<ConsoleEntry>,
}

/// Collects what drivers tell.
#[derive(Debug, Default)]
pub struct Journal {
    /// Those of `exchanges`, by the browser's id. Logs are not in order: bytes may be told of after the end.
    known: HashMap<String, usize>,
    /// In the order in which they began.
    pub(super) exchanges: VecDeque<Exchange>,
    pub(super) unlisted: u32,
    console: Vec<ConsoleEntry>,
    /// The browser's id of the page's own document, and the frame that is the page.
    pub(super) main_frame: Option<String>,
    /// Ids of the requests that keep the network busy, and when that changed last.
    pending: HashSet<String>,
    changed_at: Option<Instant>,
    /// Difference of the clocks of the browser: wall less monotonic, in seconds.
    pub(super) wall: f64,
}

impl Journal {
    /// What happened since the last time. Requests that are under way are told as they are, and not again.
    pub fn read(&mut self) -> Pages {
        self.known.clear();
        let mut exchanges = Vec::from(std::mem::take(&mut self.exchanges));
        exchanges.sort_by(|one, other| one.began.total_cmp(&other.began));
        Pages {
            exchanges,
            unlisted: std::mem::take(&mut self.unlisted),
            console: std::mem::take(&mut self.console),
        }
    }

    /// The document that the page itself asked for last, as far as it was told of.
    #[must_use]
    pub fn last_document(&self) -> Option<&Exchange> {
        self.exchanges.iter().rev().find(|exchange| exchange.document && exchange.kind.is_none())
    }

    /// Since when no request is under way, as far as the journal was told, and at the earliest since `start`;
    /// `None` while one is. Streams of events and connections that stay open do not count.
    #[must_use]
    pub fn quiet_since_or(&self, start: Instant) -> Option<Instant> {
        let changed_at = self.changed_at.map_or(start, |changed_at| changed_at.max(start));
        self.pending.is_empty().then_some(changed_at)
    }

    pub(super) fn begin(&mut self, id: &str, exchange: Exchange, busy: bool) {
        if busy && self.pending.len() < MOST_REQUESTS {
            self.pending.insert(id.to_owned());
            self.changed_at = Some(Instant::now());
        }
        if self.exchanges.len() >= MOST_REQUESTS {
            self.unlisted += 1;
            return;
        }
        self.known.insert(id.to_owned(), self.exchanges.len());
        self.exchanges.push_back(exchange);
    }

    /// The page is another one now: what the last one waited for comes no more.
    pub(super) fn left(&mut self) {
        self.pending.clear();
    }

    /// What was told in between is lost, as where it was too much: nothing that was under way is waited for any more.
    pub fn missed(&mut self) {
        // A driver without a log, as of a grid, never told of any.
        if !self.pending.is_empty() {
            self.pending.clear();
            self.changed_at = Some(Instant::now());
        }
    }

    pub(super) fn exchange(&mut self, id: &str) -> Option<&mut Exchange> {
        let at = *self.known.get(id)?;
        self.exchanges.get_mut(at)
    }

    pub(super) fn end(&mut self, id: &str) -> Option<&mut Exchange> {
        if self.pending.remove(id) {
            self.changed_at = Some(Instant::now());
        }
        self.exchange(id)
    }

    pub(super) fn say(&mut self, level: &str, source: &str, text: &str, url: &str, line: Option<u32>) {
        if self.console.len() < MOST_LINES {
            self.console.push(ConsoleEntry {
                level: level.to_owned(),
                source: source.to_owned(),
                text: truncate(text, LONGEST_LINE),
                url: truncate(url, LONGEST_LINE),
                line,
            });
        }
    }
}

/// Browsers do not tell the size of everything, such as of what they asked for ahead: then the answer's own word
/// counts, where it is not compressed.
pub(super) fn counted(exchange: &mut Exchange) {
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
pub(super) fn disowned(exchange: &mut Exchange) {
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
pub(super) fn version(word: &str) -> String {
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
        let (mut journal, start) = (Journal::default(), Instant::now());
        journal.begin("1", Exchange::default(), true);
        assert_eq!(journal.quiet_since_or(start), None);
        journal.missed();
        let since = journal.quiet_since_or(start);
        assert!(since.is_some_and(|since| since > start));
        journal.missed();
        assert_eq!(journal.quiet_since_or(start), since);
        assert_eq!(journal.read().exchanges.len(), 1);
    }
}
