//! The stream of updates of one page in one browser.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use tokio::time::Instant;

use super::open_streams::{StreamHolder, StreamPermit};
use super::page::LivePage;
use super::shown_page::ShownPage;
use super::state::LiveState;
use crate::web::query_masks::HideQueryValues;
use crate::web::viewer::Viewer;
use crate::web::{actions, locations_page, monitor_page, monitors};

/// Shortest time between two updates.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// A page that takes a time to make is made again after this many times that time: a stream takes a twentieth of a
/// processor at most.
const REST_FACTOR: u32 = 19;
/// Longest time between two updates.
const MAX_INTERVAL: Duration = Duration::from_secs(30);
/// How often it is checked whether the viewer may still see the page.
const ACCESS_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Longest time without a message: proxies close connections that are silent for a minute.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// What the browser has to know first: how long it waits before it connects again, in milliseconds.
const PREAMBLE: &str = "retry: 1000\n\n";
/// A message without content.
const COMMENT: &str = ":\n\n";

/// `GET /live?page=&shown=`: the updates of `page`, a path with its query. `shown`, and after a reconnection the header
/// `Last-Event-ID`, name the state that the browser shows.
pub(in crate::web) async fn get_updates(State(state): State<LiveState>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let viewer = match state.actions.auth.admit(&head).await {
        Ok(viewer) => viewer,
        Err(refusal) => return refusal,
    };
    let (page_path, mut shown_fingerprint) = read_query(&head.uri);
    if let Some(id) = head.headers.get("last-event-id").and_then(|id| id.to_str().ok()) {
        id.clone_into(&mut shown_fingerprint);
    }
    let Ok(page_uri) = page_path.parse::<Uri>() else {
        return (StatusCode::BAD_REQUEST, "`page` is no path").into_response();
    };
    let page = match render(&state, &viewer, &page_uri).await {
        Some(Ok(page)) => page,
        Some(Err(response)) => return response,
        None => return (StatusCode::NOT_FOUND, "This page has no updates").into_response(),
    };
    let Some(permit) = state.open_streams.open(StreamHolder::of(&viewer)) else {
        let retry = [(header::RETRY_AFTER, "30")];
        return (StatusCode::SERVICE_UNAVAILABLE, retry, "Too many pages are open").into_response();
    };
    let mut shown = ShownPage::default();
    let mut first_message = PREAMBLE.to_owned();
    let fingerprint = page.fingerprint();
    if fingerprint == shown_fingerprint {
        shown.record(&page);
    } else if let Some(update) = shown.update(&page) {
        first_message.push_str(&to_message(&update, &fingerprint));
    }
    let hides_query_values = !viewer.can_see_query_values;
    let now = Instant::now();
    let updates = Updates {
        state,
        head,
        viewer,
        page_uri,
        shown,
        access_checked_at: now,
        last_sent_at: now,
        next_at: now + MIN_INTERVAL,
        _permit: permit,
    };
    let messages = stream::unfold((Some(first_message), updates), |(first, mut updates)| async move {
        let message = match first {
            Some(message) => message,
            None => updates.next_message().await?,
        };
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(message)), (None, updates)))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // nginx would hold updates back until its buffer is full.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    let mut response = (headers, Body::from_stream(messages)).into_response();
    if hides_query_values {
        response.extensions_mut().insert(HideQueryValues);
    }
    response
}

/// Makes the page at `uri`; `None` for a page without updates.
async fn render(state: &LiveState, viewer: &Viewer, uri: &Uri) -> Option<Result<LivePage, Response>> {
    // The semaphore is never closed.
    let _turn = state.rendering.acquire().await;
    match uri.path() {
        "/" => Some(monitors::live_page(&state.actions.pages, viewer, uri).await),
        path if path.starts_with(monitors::VIEWS_PATH) => {
            Some(monitors::live_page(&state.actions.pages, viewer, uri).await)
        }
        "/locations" => Some(locations_page::live_page(&state.locations, viewer).await),
        path if actions::is_test_path(path) => {
            Some(actions::test_page_of(&state.actions, viewer, path).await)
        }
        path => {
            let id = path.strip_prefix("/monitors/")?;
            Some(monitor_page::live_page(&state.actions.pages, viewer, id).await)
        }
    }
}

/// Returns `page` and `shown` of the query.
fn read_query(uri: &Uri) -> (String, String) {
    let (mut page, mut shown) = (String::new(), String::new());
    for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        match &*name {
            "page" => page = value.into_owned(),
            "shown" => shown = value.into_owned(),
            _ => {}
        }
    }
    (page, shown)
}

/// Returns the message that carries `html`, whose id the browser names when it connects again.
fn to_message(html: &str, fingerprint: &str) -> String {
    let mut message = format!("id: {fingerprint}\n");
    for line in html.split(['\n', '\r']) {
        message.push_str("data: ");
        message.push_str(line);
        message.push('\n');
    }
    message.push('\n');
    message
}

/// The stream of updates of one page in one browser.
struct Updates {
    state: LiveState,
    /// The request, by which access is checked again.
    head: Parts,
    viewer: Viewer,
    page_uri: Uri,
    shown: ShownPage,
    access_checked_at: Instant,
    last_sent_at: Instant,
    next_at: Instant,
    _permit: StreamPermit,
}

impl Updates {
    /// Waits for the next message; `None` ends the stream: the server stops, or the viewer may not see the page any more.
    async fn next_message(&mut self) -> Option<String> {
        loop {
            tokio::select! {
                () = self.state.stop.cancelled() => return None,
                () = tokio::time::sleep_until(self.next_at) => {}
            }
            if self.access_checked_at.elapsed() >= ACCESS_CHECK_INTERVAL {
                self.check_access().await?;
            }
            let started_at = Instant::now();
            // While the store cannot be read, the page stays as it is.
            let page = render(&self.state, &self.viewer, &self.page_uri)
                .await?
                .map_err(|response| response.status());
            let rest = started_at.elapsed() * REST_FACTOR;
            self.next_at = Instant::now() + rest.clamp(MIN_INTERVAL, MAX_INTERVAL);
            let message = match page {
                Ok(page) => self.shown.update(&page).map(|update| to_message(&update, &page.fingerprint())),
                Err(status) if status.is_server_error() => None,
                Err(_) => return None,
            };
            let is_silent = self.last_sent_at.elapsed() >= KEEP_ALIVE_INTERVAL;
            if let Some(message) = message.or_else(|| is_silent.then(|| COMMENT.to_owned())) {
                self.last_sent_at = Instant::now();
                return Some(message);
            }
        }
    }

    /// Checks whether the viewer may still see what they see; `None` otherwise. The browser then connects again.
    async fn check_access(&mut self) -> Option<()> {
        self.access_checked_at = Instant::now();
        match self.state.actions.auth.admit(&self.head).await {
            Ok(viewer) if viewer == self.viewer => Some(()),
            // The login cannot be checked now.
            Err(refusal) if refusal.status().is_server_error() => Some(()),
            Ok(_) | Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_message_is_data() {
        assert_eq!(
            to_message("<a>\nb\r\nid: 7\n", "x"),
            "id: x\ndata: <a>\ndata: b\ndata: \ndata: id: 7\ndata: \n\n"
        );
    }

    #[test]
    fn the_query_names_the_page_and_what_is_shown() {
        let uri = "/live?page=%2F%3Fq%3Da%26b%3Dc&shown=12".parse().unwrap();
        assert_eq!(read_query(&uri), ("/?q=a&b=c".to_owned(), "12".to_owned()));
    }
}
