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
const MAX_URL_BYTES: usize = 512 * 1024;
/// Longest URL in bytes; servers do not accept longer ones.
const MAX_URL_LEN: usize = 8000;
/// Maximum number of objects that are deduplicated; those beyond are counted each time.
const MAX_KNOWN: usize = 100_000;

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
    pub frames: u8,
    /// Number of nested `@import`s between it and the document.
    pub imports: u8,
    /// For a style sheet, whether it applies to the screen.
    pub applies: bool,
}

/// Collects the found objects.
#[derive(Debug)]
pub struct PageObjectQueue {
    known: HashSet<u64>,
    new: Vec<FoundObject>,
    listed: usize,
    url_bytes: usize,
    unlisted: u32,
}

/// The context of a found object.
#[derive(Clone, Debug)]
pub(super) struct ScanContext {
    /// The document or style sheet.
    pub(super) by: Arc<Url>,
    /// See [`FoundObject`].
    pub(super) frames: u8,
    /// See [`FoundObject`].
    pub(super) imports: u8,
}

impl PageObjectQueue {
    /// Creates an empty queue for the page at `page`, which is not an object of itself.
    #[must_use]
    pub fn new(page: &Url) -> Self {
        let mut queue = Self { known: HashSet::new(), new: Vec::new(), listed: 0, url_bytes: 0, unlisted: 0 };
        queue.known.insert(url_hash(&normalize(page.clone())));
        queue
    }

    /// Creates a queue that accepts nothing more.
    pub(super) fn closed() -> Self {
        let known = HashSet::new();
        Self { known, new: Vec::new(), listed: MAX_OBJECTS, url_bytes: 0, unlisted: 1 }
    }

    /// Takes the objects found since the last call, in their order.
    pub fn drain(&mut self) -> Vec<FoundObject> {
        std::mem::take(&mut self.new)
    }

    /// Returns the number of objects that are not loaded because there are too many.
    #[must_use]
    pub fn unlisted(&self) -> u32 {
        self.unlisted
    }

    /// Counts an object that is not loaded.
    pub(super) fn count_unlisted(&mut self) {
        self.unlisted = self.unlisted.saturating_add(1);
    }

    /// Adds the target of `reference` relative to `base`. References without a request (`data:`, `blob:`, …), to the
    /// same document, and invalid ones are ignored.
    pub(super) fn add(&mut self, base: &Url, reference: &str, kind: PageObjectKind, within: &ScanContext) {
        self.add_stylesheet(base, reference, kind, within, true);
    }

    /// Like [`Self::add`]; `applies_to_screen` is false for a style sheet whose objects are not loaded.
    pub(super) fn add_stylesheet(
        &mut self,
        base: &Url,
        reference: &str,
        kind: PageObjectKind,
        within: &ScanContext,
        applies: bool,
    ) {
        let reference = reference.trim_matches(|c: char| c.is_ascii_whitespace());
        if reference.is_empty() || reference.starts_with('#') || is_inline(reference) {
            return;
        }
        let Ok(url) = base.join(reference) else { return };
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return;
        }
        let url = normalize(url);
        if self.known.len() < MAX_KNOWN && !self.known.insert(url_hash(&url)) {
            return;
        }
        let length = url.as_str().len();
        let full = self.listed >= MAX_OBJECTS || self.url_bytes + length > MAX_URL_BYTES;
        if full || length > MAX_URL_LEN {
            self.count_unlisted();
            return;
        }
        self.listed += 1;
        self.url_bytes += length;
        self.new.push(FoundObject {
            url,
            kind,
            referrer: Arc::clone(&within.by),
            frames: within.frames,
            imports: within.imports,
            applies,
        });
    }
}

/// Whether the reference needs no request. Checked before parsing, since such references can be megabytes long.
fn is_inline(reference: &str) -> bool {
    let head = reference.as_bytes();
    ["data:", "blob:", "javascript:", "about:"].iter().any(|scheme| {
        head.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Returns `url` in the form in which it is requested.
fn normalize(mut url: Url) -> Url {
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
