//! Loads the objects of a page as a browser does: six connections a server that are used again and again, one where
//! it speaks HTTP/2, each object once. All of it is polled in the caller's task and ends with it.

use std::future::poll_fn;
use std::task::Poll;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use http::Version;
use tokio::time::sleep_until;
use url::Url;

use super::finds::Finds;
use super::flight;
use super::flight::{Landed, Over, until};
use super::loader::Loader;
use super::object::Object;
use super::origin::{Next, Origin, Speech};
use super::prepared::own;
use super::terms::{Loaded, Terms};
use crate::domain::{Failure, FailureKind, FullPage, Phase, duration_micros};
use crate::net::{Deadline, TlsOptions};
use crate::protocol::http::client::{AuthState, CookieJar, is_same_origin};

/// Objects that are under way at once, over all servers.
const MOST_AT_ONCE: usize = 48;

/// What is offered by ALPN.
const BOTH: &[&[u8]] = &[b"h2", b"http/1.1"];
const HTTP3: &[&[u8]] = &[b"h3"];
const NOTHING: &[&[u8]] = &[];

/// Loads what `finds` has, and what is found in that. Cookies of `jar` go with it, and a login.
pub async fn load(
    terms: &Terms<'_>,
    jar: &mut CookieJar,
    pass: Option<&mut AuthState>,
    finds: Finds,
) -> Loaded {
    let mut loader = Loader {
        terms,
        jar,
        pass,
        finds,
        objects: Vec::new(),
        origins: Vec::new(),
        flights: FuturesUnordered::new(),
        under_way: 0,
        shared: 0,
        own: own(terms.headers),
        prepared: Vec::new(),
    };
    let is_late = |object: &Object| {
        object.told.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::TimedOut)
    };
    let timed_out =
        loader.run().await.is_err() || terms.deadline.is_expired() && loader.objects.iter().any(is_late);
    loader.end(timed_out)
}

/// The deadline has come.
struct TimedOut;

impl Loader<'_> {
    async fn run(&mut self) -> Result<(), TimedOut> {
        self.take_finds();
        // One timer for all of it: to set one for each object costs more than all else here.
        let mut end = std::pin::pin!(sleep_until(self.terms.deadline.at));
        loop {
            self.depart();
            let waits = self.origins.iter().any(|origin| !origin.waiting.is_empty());
            if self.under_way == 0 && !waits {
                return Ok(());
            }
            let landed = poll_fn(|cx| match self.flights.poll_next_unpin(cx) {
                Poll::Ready(landed) => Poll::Ready(Ok(landed)),
                Poll::Pending => end.as_mut().poll(cx).map(|()| Err(TimedOut)),
            });
            match landed.await? {
                Some(landed) => self.land(landed).await,
                None => return Ok(()),
            }
        }
    }

    fn end(self, timed_out: bool) -> Loaded {
        let unlisted = self.finds.unlisted();
        let late = |object: &Object| {
            let phase = if object.began.is_some() { Phase::Transfer } else { Phase::Prepare };
            Failure::timed_out(phase, self.terms.deadline.timeout)
        };
        let mut objects = Vec::with_capacity(self.objects.len());
        for mut object in self.objects {
            if !object.is_done {
                let failure = late(&object);
                object.finish(Some(failure));
            }
            objects.push(object.told);
        }
        let bytes = objects.iter().map(|object| object.body_bytes).sum();
        let total_us = duration_micros(self.terms.started.elapsed());
        let page = FullPage { total_us, bytes, unlisted, objects, ..FullPage::default() };
        Loaded { page, timed_out }
    }

    /// Lets what was found wait for its server.
    pub(super) fn take_finds(&mut self) {
        for found in self.finds.take() {
            let number = self.origin(&found.url);
            let origin = &mut self.origins[number];
            origin.waiting.push_back(self.objects.len());
            self.objects.push(Object::new(found, number, !origin.is_near));
        }
    }

    /// The number of the server that `url` is asked of.
    pub(super) fn origin(&mut self, url: &Url) -> usize {
        if let Some(known) = self.origins.iter().position(|origin| is_same_origin(&origin.url, url)) {
            return known;
        }
        let Terms { net, way, page, version, .. } = *self.terms;
        let endpoint = way.endpoint(url);
        let is_own = is_same_origin(url, page);
        let options = |alpn| {
            let client_certificate = way.tls.client_certificate_id.filter(|_| url.host() == page.host());
            TlsOptions { alpn, client_certificate_id: client_certificate, ..way.tls.clone() }
        };
        let speech = match (url.scheme(), version) {
            ("https", Version::HTTP_3) if is_own => Speech::Quic(options(HTTP3)),
            ("https", Version::HTTP_10) => {
                Speech::Tls(net.tls_session(&endpoint.host, &options(NOTHING), true))
            }
            ("https", _) => Speech::Tls(net.tls_session(&endpoint.host, &options(BOTH), true)),
            (_, Version::HTTP_2) if is_own => Speech::PlainHttp2,
            _ => Speech::Plain,
        };
        self.origins.push(Origin::new(url, page, endpoint, speech));
        self.origins.len() - 1
    }

    /// Begins what can be begun.
    fn depart(&mut self) {
        for number in 0..self.origins.len() {
            while self.under_way < MOST_AT_ONCE {
                let origin = &mut self.origins[number];
                let Some(&object) = origin.waiting.front() else { break };
                match origin.next() {
                    Next::Wait => break,
                    next => {
                        origin.waiting.pop_front();
                        self.under_way += 1;
                        self.begin(number, object, next);
                    }
                }
            }
        }
    }

    fn begin(&mut self, number: usize, object: usize, next: Next) {
        let terms = self.terms;
        let began = self.objects[object].begin(terms.started);
        let deadline = until(terms.deadline, began, terms.object_timeout);
        let origin = &mut self.origins[number];
        match next {
            Next::Wait => {}
            Next::Resolve => {
                origin.is_asked = true;
                let endpoint = origin.endpoint.clone();
                let resolving = flight::resolve(terms, endpoint, deadline, number, object);
                self.flights.push(Box::pin(resolving));
            }
            Next::Open => {
                origin.open += 1;
                let addresses = origin.addresses.clone().unwrap_or_default();
                let to = (addresses, origin.endpoint.clone());
                let how = (origin.speech.clone(), origin.room);
                let landed =
                    move |(connection, trace)| Landed::Opened { origin: number, object, connection, trace };
                self.flights.push(Box::pin(flight::open(terms, to, how, deadline).map(landed)));
            }
            Next::Serial(connection) => self.ask(number, object, Over::Serial(connection), deadline),
            Next::Shared(shared, connection) => {
                self.ask(number, object, Over::Shared(shared, connection), deadline);
            }
        }
    }

    pub(super) fn ask(&mut self, origin: usize, object: usize, over: Over, deadline: Deadline) {
        let version = over.version();
        let headers = self.headers(object, version);
        let Object { url, found, .. } = &self.objects[object];
        let request = headers.and_then(|headers| flight::message(url, headers, version));
        let kind = found.kind;
        let body_bytes = self.terms.body_bytes;
        let landed = move |answer| Landed::Answered { origin, object, answer: Box::new(answer) };
        self.flights.push(Box::pin(flight::exchange(over, request, kind, body_bytes, deadline).map(landed)));
    }
}
