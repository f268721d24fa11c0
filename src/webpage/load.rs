//! Loads the objects of a page like a browser: over up to six reused connections per server, or one with HTTP/2, and
//! each object once. Everything is polled in the caller's task and ends with it.

use std::future::poll_fn;
use std::task::Poll;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use http::Version;
use tokio::time::sleep_until;
use url::Url;

use super::header_cache::inherited_headers;
use super::load_options::{LoadOptions, LoadedPage};
use super::load_task;
use super::load_task::{RequestConnection, TaskOutcome, object_deadline};
use super::loader::PageLoader;
use super::object::LoadingObject;
use super::object_queue::PageObjectQueue;
use super::origin::{NextTask, OriginProtocol, OriginServer};
use crate::domain::{Failure, FailureKind, PageLoad, Phase, duration_micros};
use crate::net::{Deadline, TlsOptions};
use crate::protocol::http::client::{AuthState, CookieJar, is_same_origin};

/// Maximum number of objects in progress at once, over all servers.
const MAX_IN_FLIGHT: usize = 48;

const ALLOW_RESUMPTION: bool = true;
/// Protocols offered by ALPN.
const ALPN_HTTP2_OR_HTTP1: &[&[u8]] = &[b"h2", b"http/1.1"];
const ALPN_HTTP3: &[&[u8]] = &[b"h3"];
const ALPN_NONE: &[&[u8]] = &[];

/// Loads the objects of `queue` and those found in them, with the page's cookies and credentials.
pub async fn load(
    options: &LoadOptions<'_>,
    cookie_jar: &mut CookieJar,
    auth_state: Option<&mut AuthState>,
    queue: PageObjectQueue,
) -> LoadedPage {
    let mut loader = PageLoader {
        options,
        cookie_jar,
        auth_state,
        queue,
        objects: Vec::new(),
        origins: Vec::new(),
        tasks: FuturesUnordered::new(),
        objects_in_flight: 0,
        multiplexed_connection_count: 0,
        inherited_headers: inherited_headers(options.monitor_headers),
        header_cache: Vec::new(),
    };
    let has_timed_out = |object: &LoadingObject| {
        object.page_object.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::TimedOut)
    };
    let timed_out = loader.run().await.is_err()
        || options.attempt_deadline.is_expired() && loader.objects.iter().any(has_timed_out);
    loader.into_loaded_page(timed_out)
}

/// The deadline was reached.
struct TimedOut;

impl PageLoader<'_> {
    async fn run(&mut self) -> Result<(), TimedOut> {
        self.enqueue_found();
        // One timer for all: a timer per object would cost more than everything else here.
        let mut deadline = std::pin::pin!(sleep_until(self.options.attempt_deadline.at));
        loop {
            self.start_ready_tasks();
            let has_waiting = self.origins.iter().any(|origin| !origin.waiting_objects.is_empty());
            if self.objects_in_flight == 0 && !has_waiting {
                return Ok(());
            }
            let task_outcome = poll_fn(|cx| match self.tasks.poll_next_unpin(cx) {
                Poll::Ready(task_outcome) => Poll::Ready(Ok(task_outcome)),
                Poll::Pending => deadline.as_mut().poll(cx).map(|()| Err(TimedOut)),
            });
            match task_outcome.await? {
                Some(task_outcome) => self.on_outcome(task_outcome).await,
                None => return Ok(()),
            }
        }
    }

    fn into_loaded_page(self, timed_out: bool) -> LoadedPage {
        let unlisted_objects = self.queue.unlisted_count();
        let timeout_failure = |object: &LoadingObject| {
            let phase = if object.started_at.is_some() { Phase::Transfer } else { Phase::Prepare };
            Failure::timed_out(phase, self.options.attempt_deadline.timeout)
        };
        let mut objects = Vec::with_capacity(self.objects.len());
        for mut object in self.objects {
            if !object.is_done {
                let failure = timeout_failure(&object);
                object.finish(Some(failure));
            }
            objects.push(object.page_object);
        }
        let bytes = objects.iter().map(|object| object.body_bytes).sum();
        let total_us = duration_micros(self.options.page_requested_at.elapsed());
        let page = PageLoad {
            duration_us: total_us,
            decoded_bytes: bytes,
            unlisted_objects,
            objects,
            ..PageLoad::default()
        };
        LoadedPage { page, timed_out }
    }

    /// Queues the found objects at their servers.
    pub(super) fn enqueue_found(&mut self) {
        for found in self.queue.drain() {
            let origin_index = self.origin_index_for(&found.url);
            let origin = &mut self.origins[origin_index];
            origin.waiting_objects.push_back(self.objects.len());
            self.objects.push(LoadingObject::new(found, origin_index, !origin.is_page_site));
        }
    }

    /// Returns the index of the server of `url`.
    pub(super) fn origin_index_for(&mut self, url: &Url) -> usize {
        if let Some(index) = self.origins.iter().position(|origin| is_same_origin(&origin.url, url)) {
            return index;
        }
        let LoadOptions { location_net: net, connect_options, page_url, page_http_version: version, .. } =
            *self.options;
        let endpoint = connect_options.endpoint_of(url);
        let is_page_origin = is_same_origin(url, page_url);
        let tls_options = |alpn| {
            let client_certificate =
                connect_options.tls_options.client_certificate_id.filter(|_| url.host() == page_url.host());
            TlsOptions {
                alpn_protocols: alpn,
                client_certificate_id: client_certificate,
                ..connect_options.tls_options.clone()
            }
        };
        let protocol = match (url.scheme(), version) {
            ("https", Version::HTTP_3) if is_page_origin => OriginProtocol::Http3(tls_options(ALPN_HTTP3)),
            ("https", Version::HTTP_10) => {
                OriginProtocol::Tls(net.tls_client(&endpoint.host, &tls_options(ALPN_NONE), ALLOW_RESUMPTION))
            }
            ("https", _) => OriginProtocol::Tls(net.tls_client(
                &endpoint.host,
                &tls_options(ALPN_HTTP2_OR_HTTP1),
                ALLOW_RESUMPTION,
            )),
            (_, Version::HTTP_2) if is_page_origin => OriginProtocol::H2c,
            _ => OriginProtocol::Http1,
        };
        self.origins.push(OriginServer::new(url, page_url, endpoint, protocol));
        self.origins.len() - 1
    }

    /// Starts everything that can start.
    fn start_ready_tasks(&mut self) {
        for origin_index in 0..self.origins.len() {
            while self.objects_in_flight < MAX_IN_FLIGHT {
                let origin = &mut self.origins[origin_index];
                let Some(&object_index) = origin.waiting_objects.front() else { break };
                match origin.next_task() {
                    NextTask::Wait => break,
                    next_task => {
                        origin.waiting_objects.pop_front();
                        self.objects_in_flight += 1;
                        self.start_task(origin_index, object_index, next_task);
                    }
                }
            }
        }
    }

    fn start_task(&mut self, origin_index: usize, object_index: usize, next_task: NextTask) {
        let options = self.options;
        let started = self.objects[object_index].start(options.page_requested_at);
        let deadline = object_deadline(options.attempt_deadline, started, options.object_timeout);
        let origin = &mut self.origins[origin_index];
        match next_task {
            NextTask::Wait => {}
            NextTask::Resolve => {
                origin.is_resolving = true;
                let endpoint = origin.endpoint.clone();
                let resolve_task =
                    load_task::resolve_origin(options, endpoint, deadline, origin_index, object_index);
                self.tasks.push(Box::pin(resolve_task));
            }
            NextTask::Connect => {
                origin.connection_count += 1;
                let addresses = origin.addresses.clone().unwrap_or_default();
                let target = (addresses, origin.endpoint.clone());
                let protocol = (origin.protocol.clone(), origin.header_limit);
                let to_outcome = move |(connection, trace)| TaskOutcome::Connected {
                    origin: origin_index,
                    object: object_index,
                    connection,
                    trace,
                };
                self.tasks
                    .push(Box::pin(load_task::connect(options, target, protocol, deadline).map(to_outcome)));
            }
            NextTask::UseHttp1(connection) => {
                self.send_request(origin_index, object_index, RequestConnection::Http1(connection), deadline);
            }
            NextTask::UseMultiplexed(connection_id, connection) => {
                self.send_request(
                    origin_index,
                    object_index,
                    RequestConnection::Multiplexed(connection_id, connection),
                    deadline,
                );
            }
        }
    }

    pub(super) fn send_request(
        &mut self,
        origin_index: usize,
        object_index: usize,
        connection: RequestConnection,
        deadline: Deadline,
    ) {
        let version = connection.version();
        let headers = self.headers_for(object_index, version);
        let LoadingObject { url, found, .. } = &self.objects[object_index];
        let request = headers.and_then(|headers| load_task::build_request(url, headers, version));
        let object_kind = found.kind;
        let max_body_bytes = self.options.max_body_bytes;
        let to_outcome = move |response| TaskOutcome::Responded {
            origin: origin_index,
            object: object_index,
            response: Box::new(response),
        };
        self.tasks.push(Box::pin(
            load_task::fetch_object(connection, request, object_kind, max_body_bytes, deadline)
                .map(to_outcome),
        ));
    }
}
