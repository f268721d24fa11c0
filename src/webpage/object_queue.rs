//! The objects found in a page so far: each once, and within limits.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use url::Url;

use crate::domain::PageObjectKind;

/// Maximum number of objects of a page that are loaded.
pub const MAX_OBJECTS: usize = 500;
/// Maximum length of all object URLs together, in bytes.
const MAX_TOTAL_URL_BYTES: usize = 512 * 1024;
/// Longest URL in bytes; servers do not accept longer ones.
const MAX_URL_LEN: usize = 8000;
/// Maximum number of objects that are deduplicated; those beyond are counted each time.
const MAX_DEDUPLICATED: usize = 100_000;

/// An object that was found.
#[derive(Clone, Debug)]
pub struct FoundObject {
    /// Its URL, without fragment and credentials.
    pub url: Url,
    /// Its kind.
    pub kind: PageObjectKind,
    /// The document or style sheet that refers to it.
    pub referrer: Arc<Url>,
    /// Number of frames between it and the page.
    pub frame_depth: u8,
    /// Number of nested `@import`s between it and the document.
    pub import_depth: u8,
    /// For a style sheet, whether it applies to the screen.
    pub applies_to_screen: bool,
}

/// Collects the found objects.
#[derive(Debug)]
pub struct PageObjectQueue {
    /// Hashes of the URLs that were added, and of the page itself.
    seen_url_hashes: HashSet<u64>,
    /// Objects found since the last call of `drain`.
    found: Vec<FoundObject>,
    /// Number of objects that were ever added to `found`.
    listed_count: usize,
    total_url_bytes: usize,
    unlisted_count: u32,
}

/// What all objects that were found in one document or style sheet have in common.
#[derive(Clone, Debug)]
pub(super) struct ScanContext {
    /// The document or style sheet.
    pub(super) referrer: Arc<Url>,
    /// See [`FoundObject`].
    pub(super) frame_depth: u8,
    /// See [`FoundObject`].
    pub(super) import_depth: u8,
}

impl PageObjectQueue {
    /// Creates an empty queue for the page at `page_url`, which is not an object of itself.
    #[must_use]
    pub fn new(page_url: &Url) -> Self {
        let mut queue = Self {
            seen_url_hashes: HashSet::new(),
            found: Vec::new(),
            listed_count: 0,
            total_url_bytes: 0,
            unlisted_count: 0,
        };
        queue.seen_url_hashes.insert(url_hash(&normalize_url(page_url.clone())));
        queue
    }

    /// Creates a queue that accepts nothing more.
    pub(super) fn closed() -> Self {
        let seen_url_hashes = HashSet::new();
        Self {
            seen_url_hashes,
            found: Vec::new(),
            listed_count: MAX_OBJECTS,
            total_url_bytes: 0,
            unlisted_count: 1,
        }
    }

    /// Takes the objects found since the last call, in their order.
    pub fn drain(&mut self) -> Vec<FoundObject> {
        std::mem::take(&mut self.found)
    }

    /// Returns the number of objects that are not loaded because of a limit.
    #[must_use]
    pub fn unlisted_count(&self) -> u32 {
        self.unlisted_count
    }

    /// Counts an object that is not loaded.
    pub(super) fn count_unlisted(&mut self) {
        self.unlisted_count = self.unlisted_count.saturating_add(1);
    }

    /// Adds the target of `reference` relative to `base`. References without a request (`data:`, `blob:`, …), to the
    /// same document, and invalid ones are ignored.
    pub(super) fn add(&mut self, base: &Url, reference: &str, kind: PageObjectKind, context: &ScanContext) {
        self.add_with_media(base, reference, kind, context, true);
    }

    /// Like [`Self::add`]; `applies_to_screen` is false for a style sheet whose objects are not loaded.
    pub(super) fn add_with_media(
        &mut self,
        base: &Url,
        reference: &str,
        kind: PageObjectKind,
        context: &ScanContext,
        applies_to_screen: bool,
    ) {
        let reference = reference.trim_matches(|c: char| c.is_ascii_whitespace());
        if reference.is_empty() || reference.starts_with('#') || needs_no_request(reference) {
            return;
        }
        let Ok(url) = base.join(reference) else { return };
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return;
        }
        let url = normalize_url(url);
        if self.seen_url_hashes.len() < MAX_DEDUPLICATED && !self.seen_url_hashes.insert(url_hash(&url)) {
            return;
        }
        let length = url.as_str().len();
        let is_full = self.listed_count >= MAX_OBJECTS || self.total_url_bytes + length > MAX_TOTAL_URL_BYTES;
        if is_full || length > MAX_URL_LEN {
            self.count_unlisted();
            return;
        }
        self.listed_count += 1;
        self.total_url_bytes += length;
        self.found.push(FoundObject {
            url,
            kind,
            referrer: Arc::clone(&context.referrer),
            frame_depth: context.frame_depth,
            import_depth: context.import_depth,
            applies_to_screen,
        });
    }
}

/// Whether the reference needs no request. Checked before parsing, since such references can be megabytes long.
fn needs_no_request(reference: &str) -> bool {
    let reference_bytes = reference.as_bytes();
    ["data:", "blob:", "javascript:", "about:"].iter().any(|scheme| {
        reference_bytes
            .get(..scheme.len())
            .is_some_and(|reference_bytes| reference_bytes.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Returns `url` in the form in which it is requested.
fn normalize_url(mut url: Url) -> Url {
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        // http URLs accept both calls.
        let _ = url.set_username("");
        let _ = url.set_password(None);
    }
    url
}

fn url_hash(url: &Url) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.as_str().hash(&mut hasher);
    hasher.finish()
}
