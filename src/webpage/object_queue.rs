//! What was found in a page so far: each object once, and no more than a check can bear.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use url::Url;

use crate::domain::PageObjectKind;

/// Objects of a page that are loaded at most.
pub const MAX_OBJECTS: usize = 500;
/// Bytes of all their URLs together.
const MAX_URL_BYTES: usize = 512 * 1024;
/// Bytes of one URL; servers take no longer ones.
const MAX_URL_LEN: usize = 8000;
/// Objects that are told apart; what is found beyond is counted each time.
const MAX_KNOWN: usize = 100_000;

/// An object that was found.
#[derive(Clone, Debug)]
pub struct FoundObject {
    /// Where it is; without fragment and credentials.
    pub url: Url,
    /// What it is for.
    pub kind: PageObjectKind,
    /// The document or style sheet that names it.
    pub referrer: Arc<Url>,
    /// How many frames lie between it and the page.
    pub frames: u8,
    /// How many style sheets import each other above it.
    pub imports: u8,
    /// Of a style sheet, whether it is for the screen.
    pub applies: bool,
}

/// Collects what is found.
#[derive(Debug)]
pub struct PageObjectQueue {
    known: HashSet<u64>,
    new: Vec<FoundObject>,
    listed: usize,
    url_bytes: usize,
    unlisted: u32,
}

/// Where something is found.
#[derive(Clone, Debug)]
pub(super) struct ScanContext {
    /// The document or style sheet.
    pub(super) by: Arc<Url>,
    /// As of [`FoundObject`].
    pub(super) frames: u8,
    /// As of [`FoundObject`].
    pub(super) imports: u8,
}

impl PageObjectQueue {
    /// Nothing yet of the page at `page`, which is no object of itself.
    #[must_use]
    pub fn new(page: &Url) -> Self {
        let mut queue = Self { known: HashSet::new(), new: Vec::new(), listed: 0, url_bytes: 0, unlisted: 0 };
        queue.known.insert(url_hash(&normalize(page.clone())));
        queue
    }

    /// Takes nothing any more.
    pub(super) fn closed() -> Self {
        let known = HashSet::new();
        Self { known, new: Vec::new(), listed: MAX_OBJECTS, url_bytes: 0, unlisted: 1 }
    }

    /// Takes what was found since the last call, in its order.
    pub fn drain(&mut self) -> Vec<FoundObject> {
        std::mem::take(&mut self.new)
    }

    /// Objects that are not loaded, since there are too many.
    #[must_use]
    pub fn unlisted(&self) -> u32 {
        self.unlisted
    }

    /// Counts one that is not loaded.
    pub(super) fn count_unlisted(&mut self) {
        self.unlisted = self.unlisted.saturating_add(1);
    }

    /// Adds what `reference` leads to from `base`. What no server is asked for (`data:`, `blob:`, …), a part of
    /// the same document and what is no URL are passed over.
    pub(super) fn add(&mut self, base: &Url, reference: &str, kind: PageObjectKind, within: &ScanContext) {
        self.add_stylesheet(base, reference, kind, within, true);
    }

    /// The same for a style sheet that may not be for the screen.
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

/// Told before it is parsed: such references can be megabytes long.
fn is_inline(reference: &str) -> bool {
    let head = reference.as_bytes();
    ["data:", "blob:", "javascript:", "about:"].iter().any(|scheme| {
        head.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// `url` as it is asked for.
fn normalize(mut url: Url) -> Url {
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        // http URLs take both calls.
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
