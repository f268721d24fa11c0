//! Handles the outcomes of tasks.

use http::StatusCode;
use http::header::CONTENT_TYPE;
use url::Url;

use super::content_scan;
use super::load_task::{NewConnection, ObjectResponse, RequestConnection, TaskOutcome, object_deadline};
use super::loader::PageLoader;
use super::object_queue::{FoundObject, PageObjectQueue};
use crate::domain::{Failure, FailureKind, PageObjectKind, Phase};
use crate::protocol::http::client::{MAX_REDIRECTS, display_url, is_redirect, redirect_target};
use crate::protocol::http::{BodyContent, ResponseHead};

/// How often an object is requested again because its connection ended before the response. Servers limit the number of
/// exchanges per connection.
const MAX_RETRIES: u32 = 10;
/// Deepest frames that are scanned: those of the page itself, but not frames within frames.
const MAX_FRAME_DEPTH: u8 = 1;

impl PageLoader<'_> {
    /// Handles the outcome of a task.
    pub(super) async fn on_outcome(&mut self, task_outcome: TaskOutcome) {
        match task_outcome {
            TaskOutcome::Resolved { origin: origin_index, object: object_index, addresses, trace } => {
                self.objects[object_index].page_object.phases.merge(&trace.phases);
                let server = &mut self.origins[origin_index];
                server.is_resolving = false;
                match addresses {
                    Ok(addresses) => {
                        server.addresses = Some(addresses.into());
                        server.waiting_objects.push_front(object_index);
                        self.objects_in_flight -= 1;
                    }
                    Err(failure) => self.fail_origin(origin_index, object_index, &failure),
                }
            }
            TaskOutcome::Connected { origin: origin_index, object: object_index, connection, trace } => {
                self.objects[object_index].page_object.phases.merge(&trace.phases);
                match connection {
                    Ok(connection) => self.on_connected(origin_index, object_index, connection),
                    Err(failure) => {
                        self.origins[origin_index].connection_count -= 1;
                        if self.origins[origin_index].was_connected {
                            self.finish_object(object_index, Some(failure));
                        } else {
                            self.fail_origin(origin_index, object_index, &failure);
                        }
                    }
                }
            }
            TaskOutcome::Responded { origin: origin_index, object: object_index, response } => {
                self.on_response(origin_index, object_index, *response).await;
            }
            TaskOutcome::ConnectionClosed { origin: origin_index, connection_id } => {
                self.origins[origin_index].drop_multiplexed(connection_id);
            }
        }
    }

    fn on_connected(&mut self, origin_index: usize, object_index: usize, connection: NewConnection) {
        let origin = &mut self.origins[origin_index];
        origin.was_connected = true;
        let request_connection = match connection {
            NewConnection::Http1(connection) => RequestConnection::Http1(connection),
            NewConnection::Multiplexed(shared, driver) => {
                self.multiplexed_connection_count += 1;
                let connection_id = self.multiplexed_connection_count;
                self.tasks.push(Box::pin(async move {
                    driver.await;
                    TaskOutcome::ConnectionClosed { origin: origin_index, connection_id }
                }));
                origin.is_multiplexed = true;
                origin.multiplexed_connection = Some((connection_id, shared.clone()));
                RequestConnection::Multiplexed(connection_id, shared)
            }
        };
        let started = self.objects[object_index].start(self.options.page_requested_at);
        let deadline = object_deadline(self.options.attempt_deadline, started, self.options.object_timeout);
        self.send_request(origin_index, object_index, request_connection, deadline);
    }

    /// Fails all objects that wait for a server that cannot be reached.
    fn fail_origin(&mut self, origin_index: usize, object_index: usize, failure: &Failure) {
        self.finish_object(object_index, Some(failure.clone()));
        for waiting_index in std::mem::take(&mut self.origins[origin_index].waiting_objects) {
            self.objects[waiting_index].start(self.options.page_requested_at);
            self.objects[waiting_index].finish(Some(failure.clone()));
        }
    }

    fn finish_object(&mut self, object_index: usize, failure: Option<Failure>) {
        self.objects_in_flight -= 1;
        self.objects[object_index].finish(failure);
    }

    async fn on_response(&mut self, origin_index: usize, object_index: usize, response: ObjectResponse) {
        let ObjectResponse { outcome, phases, retry_reason, reusable_connection, multiplexed_connection_id } =
            response;
        let origin = &mut self.origins[origin_index];
        match reusable_connection {
            Some(connection) => origin.idle_connections.push(connection),
            None if multiplexed_connection_id.is_none() => {
                origin.connection_count = origin.connection_count.saturating_sub(1);
            }
            None => {}
        }
        let loading = &mut self.objects[object_index];
        loading.page_object.phases.merge(&phases);
        let (head, content) = match (outcome, retry_reason) {
            (Ok(response), _) => response,
            (Err(_), Some(reason)) if loading.retry_count < MAX_RETRIES => {
                loading.retry_count += 1;
                self.objects_in_flight -= 1;
                origin.on_connection_lost(reason, multiplexed_connection_id);
                origin.waiting_objects.push_front(object_index);
                return;
            }
            (Err(failure), _) => return self.finish_object(object_index, Some(failure)),
        };
        if origin.is_page_site {
            self.cookie_jar.store_response_cookies(&loading.url, &head.headers);
        }
        loading.record_response(&head, &content);
        if let Some(failure) = content.failure.clone() {
            return self.finish_object(object_index, Some(failure));
        }
        if is_redirect(head.status) {
            return self.follow_redirect(object_index, &head);
        }
        let failure = status_failure(&loading.url, loading.redirect_count > 0, head.status);
        let is_scanned = failure.is_none()
            && matches!(loading.found.kind, PageObjectKind::StyleSheet | PageObjectKind::Frame);
        let scan_target = is_scanned.then(|| (loading.found.clone(), loading.url.clone()));
        self.finish_object(object_index, failure);
        if let Some((found, url)) = scan_target {
            self.scan_content(found, url, &head, content).await;
        }
    }

    fn follow_redirect(&mut self, object_index: usize, head: &ResponseHead) {
        let loading = &mut self.objects[object_index];
        match redirect_target(&loading.url, head.status, &head.headers) {
            Err(failure) => self.finish_object(object_index, Some(failure)),
            Ok(redirect_url) if loading.redirect_count == MAX_REDIRECTS => {
                let detail = format!(
                    "more than {MAX_REDIRECTS} redirects, the next one to `{}`",
                    display_url(&redirect_url)
                );
                let failure = Failure::new(Phase::Validate, FailureKind::RedirectLoop, detail);
                self.finish_object(object_index, Some(failure));
            }
            Ok(redirect_url) => {
                loading.redirect_count += 1;
                self.objects_in_flight -= 1;
                let origin_index = self.origin_index_for(&redirect_url);
                let loading = &mut self.objects[object_index];
                (loading.url, loading.origin_index) = (redirect_url, origin_index);
                self.origins[origin_index].waiting_objects.push_front(object_index);
            }
        }
    }

    /// Scans a style sheet or frame for objects.
    async fn scan_content(
        &mut self,
        found: FoundObject,
        url: Url,
        head: &ResponseHead,
        content: BodyContent,
    ) {
        if found.kind == PageObjectKind::Frame && found.frame_depth >= MAX_FRAME_DEPTH {
            return;
        }
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let source = content_scan::ScanSource {
            body: content.bytes,
            content_type: content_type.map(str::to_owned),
            found,
            url,
        };
        let queue = std::mem::replace(&mut self.queue, PageObjectQueue::new(self.options.page_url));
        self.queue = content_scan::scan_objects(source, queue).await;
        self.enqueue_found();
    }
}

/// Returns the failure of an unexpected status; after redirects, it names the final URL.
fn status_failure(url: &Url, was_redirected: bool, status: StatusCode) -> Option<Failure> {
    let from_url = |url| format!(" from `{}`", display_url(url));
    let detail =
        || format!("{}{}", status.as_u16(), if was_redirected { from_url(url) } else { String::new() });
    match status.as_u16() {
        200..300 | 304 => None,
        100..200 => Some(Failure::new(Phase::Validate, FailureKind::ResponseInvalid, detail())),
        _ => Some(Failure::new(Phase::Validate, FailureKind::HttpErrorStatus, detail())),
    }
}
