//! An object while it is loaded.

use http::header::CONTENT_TYPE;
use tokio::time::Instant;
use url::Url;

use super::object_queue::FoundObject;
use crate::domain::{Failure, PageObject, Phases, duration_micros};
use crate::protocol::http::client::{truncate_for_result, version_name};
use crate::protocol::http::{BodyContent, ResponseHead};

/// An object while it is loaded.
pub(super) struct LoadingObject {
    /// The object as it was found.
    pub(super) found: FoundObject,
    /// The current URL; redirects change it.
    pub(super) url: Url,
    /// Index of its current server among the `origins` of the page; redirects change it.
    pub(super) origin_index: usize,
    /// Number of redirects so far.
    pub(super) redirect_count: usize,
    /// When its loading started.
    pub(super) started_at: Option<Instant>,
    /// How often it was requested again because a connection had ended.
    pub(super) retry_count: u32,
    /// Whether it is finished.
    pub(super) is_done: bool,
    /// The object as the result of the check describes it.
    pub(super) page_object: PageObject,
}

impl LoadingObject {
    /// Creates an object that was not requested yet.
    pub(super) fn new(found: FoundObject, origin_index: usize, is_third_party: bool) -> Self {
        let page_object = PageObject {
            url: found.url.as_str().to_owned(),
            kind: found.kind,
            third_party: is_third_party,
            blocked: false,
            start_offset_us: 0,
            duration_us: 0,
            phases: Phases::default(),
            http_status: 0,
            http_version: String::new(),
            media_type: String::new(),
            body_wire_bytes: 0,
            body_bytes: 0,
            failure: None,
        };
        let url = found.url.clone();
        Self {
            found,
            url,
            origin_index,
            redirect_count: 0,
            started_at: None,
            retry_count: 0,
            is_done: false,
            page_object,
        }
    }

    /// Records that loading starts now, unless it started before; returns when it started.
    pub(super) fn start(&mut self, page_requested_at: Instant) -> Instant {
        let page_object = &mut self.page_object;
        *self.started_at.get_or_insert_with(|| {
            let now = Instant::now();
            page_object.start_offset_us = duration_micros(now.duration_since(page_requested_at));
            now
        })
    }

    /// Records status, version, media type and sizes of the response.
    pub(super) fn record_response(&mut self, head: &ResponseHead, content: &BodyContent) {
        let page_object = &mut self.page_object;
        page_object.http_status = head.status.as_u16();
        version_name(head.version).clone_into(&mut page_object.http_version);
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        page_object.media_type = truncate_for_result(content_type.unwrap_or_default());
        page_object.body_wire_bytes = content.wire_bytes;
        page_object.body_bytes = content.body_bytes;
    }

    /// Marks it as done, with its duration and `failure`.
    pub(super) fn finish(&mut self, failure: Option<Failure>) {
        self.is_done = true;
        self.page_object.failure = failure;
        self.page_object.duration_us =
            self.started_at.map_or(0, |started| duration_micros(started.elapsed()));
    }
}
