//! Scans loaded content for objects; long content is scanned on a blocking thread.

use encoding_rs::{Encoding, UTF_8};
use url::Url;

use super::css_scanner::scan_css;
use super::html_scanner::scan_html;
use super::object_queue::{FoundObject, PageObjectQueue};
use crate::domain::PageObjectKind;

/// Longest content that is scanned on the async thread, in bytes.
const INLINE_SCAN_BYTES: usize = 64 * 1024;

/// A style sheet or document to scan.
pub(super) struct ScanSource {
    /// Its bytes.
    pub(super) body: Vec<u8>,
    /// Its media type, as declared.
    pub(super) content_type: Option<String>,
    /// The object as it was found.
    pub(super) found: FoundObject,
    /// Its final URL.
    pub(super) url: Url,
}

/// Adds the objects of `source` to `queue`.
pub(super) async fn scan_objects(source: ScanSource, mut queue: PageObjectQueue) -> PageObjectQueue {
    let is_long = source.body.len() > INLINE_SCAN_BYTES;
    let scan = move || {
        let content_type = source.content_type.as_deref().unwrap_or_default();
        let text = declared_encoding(content_type).decode(&source.body).0;
        if source.found.kind == PageObjectKind::StyleSheet {
            scan_css(&text, &source.found, &source.url, &mut queue);
        } else if content_type.is_empty() || content_type.contains("html") || content_type.contains("xml") {
            scan_html(&text, &source.url, source.found.frame_depth + 1, &mut queue);
        }
        queue
    };
    if !is_long {
        return scan();
    }
    // The scan does not panic. If it did, no further objects would be loaded.
    tokio::task::spawn_blocking(scan).await.unwrap_or_else(|_| PageObjectQueue::closed())
}

/// Returns the encoding. References are mostly ASCII, so without a declared charset it is UTF-8.
fn declared_encoding(content_type: &str) -> &'static Encoding {
    let content_type = content_type.to_ascii_lowercase();
    let label =
        content_type.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("charset="));
    label.and_then(|label| Encoding::for_label(label.trim_matches(['"', '\'']).as_bytes())).unwrap_or(UTF_8)
}
