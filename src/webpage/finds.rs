//! What was found in a page so far: each object once, and no more than a check can bear.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use url::Url;

use crate::domain::PageObjectKind;

/// Objects of a page that are loaded at most.
pub const MOST_OBJECTS: usize = 500;
/// Bytes of all their URLs together.
const MOST_URL_BYTES: usize = 512 * 1024;
/// Bytes of one URL; servers take no longer ones.
const LONGEST_URL: usize = 8000;
/// Objects that are told apart; what is found beyond is counted each time.
const MOST_KNOWN: usize = 100_000;

/// An object that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is; without fragment and credentials.
    pub url: Url,
    /// What it is for.
    pub kind: PageObjectKind,
    /// The document or style sheet that names it.
    pub by: Arc<Url>,
    /// How many frames lie between it and the page.
    pub frames: u8,
    /// How many style sheets import each other above it.
    pub imports: u8,
    /// Of a style sheet, whether it is for the screen.
    pub applies: bool,
}

/// Collects what is found.
#[derive(Debug)]
pub struct Finds {
    known: HashSet<u64>,
    new: Vec<Found>,
    listed: usize,
    url_bytes: usize,
    unlisted: u32,
}

/// Where something is found.
#[derive(Clone, Debug)]
pub(super) struct Within {
    /// The document or style sheet.
    pub(super) by: Arc<Url>,
    /// As of [`Found`].
    pub(super) frames: u8,
    /// As of [`Found`].
    pub(super) imports: u8,
}

impl Finds {
    /// Nothing yet of the page at `page`, which is no object of itself.
    #[must_use]
    pub fn new(page: &Url) -> Self {
        let mut finds = Self { known: HashSet::new(), new: Vec::new(), listed: 0, url_bytes: 0, unlisted: 0 };
        finds.known.insert(key(&bare(page.clone())));
        finds
    }

    /// Takes nothing any more.
    pub(super) fn closed() -> Self {
        let known = HashSet::new();
        Self { known, new: Vec::new(), listed: MOST_OBJECTS, url_bytes: 0, unlisted: 1 }
    }

    /// Takes what was found since the last call, in its order.
    pub fn take(&mut self) -> Vec<Found> {
        std::mem::take(&mut self.new)
    }

    /// Objects that are not loaded, since there are too many.
    #[must_use]
    pub fn unlisted(&self) -> u32 {
        self.unlisted
    }

    /// Counts one that is not loaded.
    pub(super) fn leave_out(&mut self) {
        self.unlisted = self.unlisted.saturating_add(1);
    }

    /// Adds what `reference` leads to from `base`. What no server is asked for (`data:`, `blob:`, …), a part of
    /// the same document and what is no URL are passed over.
    pub(super) fn add(&mut self, base: &Url, reference: &str, kind: PageObjectKind, within: &Within) {
        self.add_sheet(base, reference, kind, within, true);
    }

    /// The same for a style sheet that may not be for the screen.
    pub(super) fn add_sheet(
        &mut self,
        base: &Url,
        reference: &str,
        kind: PageObjectKind,
        within: &Within,
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
        let url = bare(url);
        if self.known.len() < MOST_KNOWN && !self.known.insert(key(&url)) {
            return;
        }
        let length = url.as_str().len();
        let full = self.listed >= MOST_OBJECTS || self.url_bytes + length > MOST_URL_BYTES;
        if full || length > LONGEST_URL {
            self.leave_out();
            return;
        }
        self.listed += 1;
        self.url_bytes += length;
        self.new.push(Found {
            url,
            kind,
            by: Arc::clone(&within.by),
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
fn bare(mut url: Url) -> Url {
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        // http URLs take both calls.
        let _ = url.set_username("");
        let _ = url.set_password(None);
    }
    url
}

fn key(url: &Url) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.as_str().hash(&mut hasher);
    hasher.finish()
}
