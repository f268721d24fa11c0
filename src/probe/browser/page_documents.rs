//! The documents that the pages of a script were loaded from, for the captures of header fields.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::dom;
use super::load_error::without_fragment;
use super::options::UserExperience;
use super::page_inspection::{PageReport, inspect_top_page};
use super::script_browser::ScriptBrowser;
use crate::browser::LoggedRequest;

/// How many documents of pages are remembered, and how many of frames and other windows.
const MAX_DOCUMENTS: usize = 20;
/// How long the log of the browser may lag behind the page that it shows.
const LOG_DELAY: Duration = Duration::from_secs(1);
/// How long a page may take to say which document it shows.
const PAGE_ID_TIMEOUT: Duration = Duration::from_secs(1);

/// The documents of the steps so far, the latest last.
#[derive(Debug, Default)]
pub(super) struct PageDocuments {
    main_documents: VecDeque<LoggedRequest>,
    /// Documents of frames and of windows that pages opened.
    frame_documents: VecDeque<LoggedRequest>,
    /// The last document of the page in the step in progress.
    last_in_step: Option<LoggedRequest>,
}

impl PageDocuments {
    /// Starts a step, which has no document yet.
    pub(super) fn begin_step(&mut self) {
        self.last_in_step = None;
    }

    /// Adds the documents among `requests`.
    pub(super) fn add(&mut self, requests: &[LoggedRequest]) {
        for request in requests.iter().filter(|request| request.is_document || request.object_kind.is_none())
        {
            let documents = if request.object_kind.is_none() {
                self.last_in_step = Some(request.clone());
                &mut self.main_documents
            } else {
                &mut self.frame_documents
            };
            if documents.len() >= MAX_DOCUMENTS {
                documents.pop_front();
            }
            documents.push_back(request.clone());
        }
    }

    /// Returns the last document of the page in the step in progress, whether the page shows it or not.
    pub(super) fn last_in_step(&self) -> Option<&LoggedRequest> {
        self.last_in_step.as_ref()
    }

    /// Returns the last document that was loaded from `url`; one of a page takes precedence.
    fn find(&self, url: &str) -> Option<&LoggedRequest> {
        find_document(&self.main_documents, url).or_else(|| find_document(&self.frame_documents, url))
    }
}

/// What identifies the document that a window shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownDocument {
    time_origin: String,
    /// The address that it was loaded from, which scripts of the page do not change.
    url: String,
}

/// Returns which document the window shows; `None` while a dialog hides it, or when the page does not answer in time.
pub(super) async fn shown_document(browser: &ScriptBrowser<'_>) -> Option<ShownDocument> {
    if browser.session.is_driver_busy() {
        return None;
    }
    let report = inspect_top_page(browser, UserExperience::Off, Instant::now() + PAGE_ID_TIMEOUT).await;
    let PageReport { time_origin, document_url: url, .. } = report.ok()?;
    Some(ShownDocument { time_origin, url })
}

/// Returns the request that loaded `shown`, from the log of the browser or from earlier steps.
pub(super) async fn find_request(
    browser: &ScriptBrowser<'_>,
    documents: &PageDocuments,
    shown: &ShownDocument,
) -> Option<LoggedRequest> {
    // Other pages do not use the network.
    if !shown.url.starts_with("http") {
        return None;
    }
    let deadline = Instant::now() + LOG_DELAY;
    loop {
        browser.fetch_logged_requests(deadline.max(dom::query_deadline())).await;
        let logged = {
            let log = browser.network_log_reader.lock_log();
            let pages = log.documents().filter(|request| request.object_kind.is_none());
            find_document(pages, &shown.url).or_else(|| find_document(log.documents(), &shown.url)).cloned()
        };
        // Firefox reports a response shortly after the page shows it.
        match logged {
            Some(request) if request.http_status > 0 || Instant::now() >= deadline => return Some(request),
            None if documents.find(&shown.url).is_some() || Instant::now() >= deadline => {
                return documents.find(&shown.url).cloned();
            }
            _ => dom::wait_before_retry().await,
        }
    }
}

fn find_document<'a>(
    documents: impl IntoIterator<Item = &'a LoggedRequest>,
    url: &str,
) -> Option<&'a LoggedRequest> {
    let is_loaded_from = |request: &&LoggedRequest| without_fragment(&request.url) == without_fragment(url);
    documents.into_iter().filter(is_loaded_from).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PageObjectKind;

    fn document(url: &str, object_kind: Option<PageObjectKind>, status: u16) -> LoggedRequest {
        LoggedRequest {
            url: url.to_owned(),
            object_kind,
            is_document: true,
            http_status: status,
            ..LoggedRequest::default()
        }
    }

    #[test]
    fn the_last_document_of_an_address_is_found_and_frames_do_not_push_pages_out() {
        let mut documents = PageDocuments::default();
        documents.add(&[document("http://a.test/x", None, 200), document("http://a.test/x#top", None, 404)]);
        for n in 0..1_000 {
            documents.add(&[document(&format!("http://ads.test/{n}"), Some(PageObjectKind::Frame), 200)]);
        }
        assert_eq!(documents.find("http://a.test/x#end").unwrap().http_status, 404);
        assert!(
            documents.find("http://ads.test/999").is_some() && documents.find("http://ads.test/1").is_none()
        );
        assert_eq!(documents.last_in_step().unwrap().http_status, 404);
        documents.begin_step();
        assert!(documents.last_in_step().is_none() && documents.find("http://a.test/x").is_some());
    }
}
