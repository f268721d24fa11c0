//! Looks for objects in what was loaded; what is long is read apart from the threads that wait for servers.

use encoding_rs::{Encoding, UTF_8};
use url::Url;

use super::css_scanner::scan_css;
use super::html_scanner::scan_html;
use super::object_queue::{FoundObject, PageObjectQueue};
use crate::domain::PageObjectKind;

/// Bytes that are read in passing.
const INLINE_SCAN_BYTES: usize = 64 * 1024;

/// A style sheet or a document.
pub(super) struct ScanSource {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// Its media type, as declared.
    pub(super) kind: Option<String>,
    /// As it was found.
    pub(super) found: FoundObject,
    /// Where it came from in the end.
    pub(super) url: Url,
}

/// Adds what `source` names to `finds`.
pub(super) async fn scan_objects(source: ScanSource, mut queue: PageObjectQueue) -> PageObjectQueue {
    let is_long = source.bytes.len() > INLINE_SCAN_BYTES;
    let reading = move || {
        let kind = source.kind.as_deref().unwrap_or_default();
        let text = encoding(kind).decode(&source.bytes).0;
        if source.found.kind == PageObjectKind::Style {
            scan_css(&text, &source.found, &source.url, &mut queue);
        } else if kind.is_empty() || kind.contains("html") || kind.contains("xml") {
            scan_html(&text, &source.url, source.found.frames + 1, &mut queue);
        }
        queue
    };
    if !is_long {
        return reading();
    }
    // It does not panic; if it did, nothing more is found.
    tokio::task::spawn_blocking(reading).await.unwrap_or_else(|_| PageObjectQueue::closed())
}

/// References are ASCII mostly: what is not declared in the head counts as UTF-8.
fn encoding(kind: &str) -> &'static Encoding {
    let kind = kind.to_ascii_lowercase();
    let label = kind.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("charset="));
    label.and_then(|label| Encoding::for_label(label.trim_matches(['"', '\'']).as_bytes())).unwrap_or(UTF_8)
}
