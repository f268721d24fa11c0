//! The objects of a page: rows of a waterfall.

use super::http_status::http_status_from_stored;
use crate::domain::{PageObject, PageObjectKind, Phases};

/// One object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectView<'a> {
    /// Its URL.
    pub url: &'a str,
    /// What it is.
    pub kind: PageObjectKind,
    /// Whether it belongs to another site than the page.
    pub is_third_party: bool,
    /// Whether Vigie blocked the request.
    pub was_blocked: bool,
    /// Status code of the response; `None` when there was none.
    pub http_status: Option<u16>,
    /// Time from the start of the page to the request.
    pub start_offset_us: u64,
    /// How long it took.
    pub total_us: u64,
    /// Its phases.
    pub phases: Phases,
    /// Decoded size in bytes.
    pub decoded_bytes: u64,
    /// Why it failed to load.
    pub failure_reason: Option<String>,
}

impl<'a> ObjectView<'a> {
    pub(super) fn new(object: &'a PageObject) -> Self {
        Self {
            url: &object.url,
            kind: object.kind,
            is_third_party: object.third_party,
            was_blocked: object.blocked,
            http_status: http_status_from_stored(object.http_status),
            start_offset_us: object.start_offset_us,
            total_us: object.duration_us,
            phases: object.phases,
            decoded_bytes: object.body_bytes,
            failure_reason: object.failure.as_ref().map(ToString::to_string),
        }
    }

    /// Whether it was not loaded although nothing blocked it. One that fails no check, such as an icon, may have failed
    /// all the same.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failure_reason.is_some() || self.http_status.is_some_and(|status| status >= 400)
    }

    /// Whether it failed or was blocked.
    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.was_blocked || self.has_failed()
    }
}

/// Returns the time that a waterfall of `objects` spans, in microseconds; never 0.
#[must_use]
pub fn waterfall_span_us(objects: &[ObjectView<'_>]) -> u64 {
    objects.iter().map(|object| object.start_offset_us + object.total_us).max().unwrap_or(1).max(1)
}
