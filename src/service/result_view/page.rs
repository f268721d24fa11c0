//! A page: its totals, its objects, and how they differ from the last passing run.

use super::objects::ObjectView;
use crate::domain::{PageLoad, PageObjectChange, Status};

/// A page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageView<'a> {
    /// Time from the request of the page until the last object was loaded.
    pub total_us: u64,
    /// Decoded size of the page and all objects, in bytes.
    pub decoded_bytes: u64,
    /// Number of objects that failed to load.
    pub failed_count: usize,
    /// Number of objects of other sites.
    pub third_party_count: usize,
    /// Number of objects beyond the limit, which were not loaded.
    pub unlisted_objects: usize,
    /// The objects, in the order in which they were found.
    pub objects: Vec<ObjectView<'a>>,
    /// How they differ from the last passing run at the location.
    pub changes: Vec<ObjectChangeView<'a>>,
}

/// How an object differs from the previous run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectChangeKind {
    /// It is new.
    New,
    /// It is no longer there.
    Missing,
    /// Its size differs.
    Resized,
}

/// An object that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChangeView<'a> {
    /// Kind of difference.
    pub kind: ObjectChangeKind,
    /// URL of the object.
    pub url: &'a str,
    /// Decoded size before, in bytes; 0 for a new one.
    pub bytes_before: u64,
    /// Decoded size now, in bytes; 0 for a missing one.
    pub bytes_now: u64,
}

impl<'a> PageView<'a> {
    pub(super) fn new(page: &'a PageLoad) -> Self {
        let objects: Vec<_> = page.objects.iter().map(ObjectView::new).collect();
        Self {
            total_us: page.duration_us,
            decoded_bytes: page.decoded_bytes,
            failed_count: objects.iter().filter(|object| object.failure_reason.is_some()).count(),
            third_party_count: objects.iter().filter(|object| object.is_third_party).count(),
            unlisted_objects: page.unlisted_objects as usize,
            objects,
            changes: page.changes.iter().map(ObjectChangeView::new).collect(),
        }
    }
}

impl<'a> ObjectChangeView<'a> {
    fn new(change: &'a PageObjectChange) -> Self {
        let kind = match change.status {
            Status::OBJECT_NEW => ObjectChangeKind::New,
            Status::OBJECT_MISSING => ObjectChangeKind::Missing,
            _ => ObjectChangeKind::Resized,
        };
        let (before, now) =
            (change.previous_bytes.unwrap_or_default(), change.current_bytes.unwrap_or_default());
        Self { kind, url: &change.url, bytes_before: before, bytes_now: now }
    }

    /// Formats the change as a sentence, with `url` as displayed and sizes formatted by `format_bytes`.
    #[must_use]
    pub fn format(&self, url: &str, format_bytes: impl Fn(u64) -> String) -> String {
        let (before, now) = (format_bytes(self.bytes_before), format_bytes(self.bytes_now));
        match self.kind {
            ObjectChangeKind::New => format!("new: {url}, {now} bytes"),
            ObjectChangeKind::Missing => format!("missing: {url}, {before} bytes before"),
            ObjectChangeKind::Resized => format!("changed from {before} to {now} bytes: {url}"),
        }
    }
}
