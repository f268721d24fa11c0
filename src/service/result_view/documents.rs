//! The documents of a page, which the objects of the page do not contain: each hop of its redirects, and the page itself.

use super::attempts::hop_views;
use super::http_status::http_status_from_stored;
use super::objects::ObjectView;
use super::phases::phases_sum_us;
use crate::domain::{CheckResult, FailureKind, PageObjectKind};

/// Returns the documents of the page of `result` as rows of its waterfall, in their order; of a script, those of all
/// steps.
#[must_use]
pub fn document_views(result: &CheckResult) -> Vec<ObjectView<'_>> {
    let mut documents = Vec::new();
    for step in &result.details.steps {
        let objects = step.browser_step.iter().flat_map(|browser_step| &browser_step.objects);
        for object in objects.filter(|object| object.kind == PageObjectKind::Document) {
            let view = ObjectView::new(object);
            let start_offset_us = step.start_offset_us + view.start_offset_us;
            documents.push(ObjectView { start_offset_us, ..view });
        }
    }
    if result.details.steps.is_empty() {
        documents.extend(documents_over_http(result));
    }
    documents
}

fn documents_over_http(result: &CheckResult) -> Vec<ObjectView<'_>> {
    let (Some(http), Some(attempt)) = (result.facts.http.as_deref(), result.attempts.last()) else {
        return Vec::new();
    };
    let own_failure =
        attempt.failure.as_ref().filter(|failure| failure.kind != FailureKind::PageObjectFailed);
    let hops = hop_views(http, &attempt.phases);
    let last = hops.len().saturating_sub(1);
    let to_view = |(index, hop): (usize, super::attempts::HopView<'_>)| {
        let is_page = index == last;
        let redirect = http.redirects.get(index);
        let status = redirect.map_or(http.http_status, |redirect| redirect.http_status);
        ObjectView {
            url: redirect.map_or(http.url.as_str(), |redirect| redirect.url.as_str()),
            kind: PageObjectKind::Document,
            is_third_party: false,
            was_blocked: false,
            http_status: http_status_from_stored(status),
            start_offset_us: hop.offset_us,
            total_us: phases_sum_us(&hop.phases),
            phases: hop.phases,
            decoded_bytes: if is_page { http.body_bytes } else { 0 },
            failure_reason: own_failure.filter(|_| is_page).map(ToString::to_string),
        }
    };
    hops.into_iter().enumerate().map(to_view).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::sample_result;

    #[test]
    fn a_page_over_http_has_a_document_for_each_hop() {
        let mut result = sample_result::sample_result();
        result.details.steps.clear();
        let documents = document_views(&result);
        let rows: Vec<_> =
            documents.iter().map(|row| (row.url, row.http_status, row.start_offset_us)).collect();
        assert_eq!(
            rows,
            [
                ("http://a.test/", Some(301), 0),
                ("https://a.test/two", Some(302), 111_500),
                ("https://a.test/end", Some(404), 161_500),
            ]
        );
        assert_eq!(documents[2].decoded_bytes, 123_456);
        result.facts.http = None;
        assert_eq!(document_views(&result), []);
    }

    #[test]
    fn the_documents_of_a_script_are_those_of_its_steps() {
        let mut result = sample_result::sample_result();
        assert_eq!(document_views(&result), []);
        let step = result.details.steps.iter_mut().find(|step| step.browser_step.is_some()).unwrap();
        step.start_offset_us = 1_000;
        step.browser_step.as_mut().unwrap().objects[1].kind = PageObjectKind::Document;
        let documents = document_views(&result);
        assert_eq!(documents.len(), 1);
        assert_eq!((documents[0].url, documents[0].start_offset_us), ("https://b.test/b.png", 21_000));
    }
}
