//! Loads the objects of a page as a browser does: six connections a server that are used again and again, one where
//! it speaks HTTP/2, each object once. All of it is polled in the caller's task and ends with it.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, REFERER,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

use super::finds::{Finds, Found};
use super::flight::{self, Answer, Flight, Landed, Opened, Over, until};
use super::object::{Object, micros};
use super::origin::{Next, Origin};
use super::{read, same_site};
use crate::model::{Failure, FailureKind, FullPage, ObjectKind, Phase};
use crate::net::{Deadline, Net, TlsOptions};
use crate::wire::http::client::{
    Jar, MOST_REDIRECTS, Pass, Way, is_redirect, is_same_origin, is_secret, redirect_target, shown,
};
use crate::wire::http::{Content, Head};

/// Objects that are under way at once, over all servers.
const MOST_AT_ONCE: usize = 48;
/// How often an object is asked for again, since the connection had ended before it was answered. Servers let a
/// connection carry some number of exchanges.
const MOST_REPEATS: u32 = 10;
/// Documents in documents that are searched: the page, and its frames.
const MOST_FRAMES: u8 = 1;

/// What is offered by ALPN.
const BOTH: &[&[u8]] = &[b"h2", b"http/1.1"];
const NOTHING: &[&[u8]] = &[];

/// By which terms a page is loaded.
#[derive(Debug)]
pub struct Terms<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// How connections are made. A client certificate is shown to the page's own host only.
    pub way: &'a Way,
    /// Where the page came from.
    pub page: &'a Url,
    /// What the page was asked for in. Over TLS, HTTP/2 is offered for the objects in any case but of 1.0.
    pub version: Version,
    /// Header fields of the monitor. Those that let somebody in go to the origin of the page only.
    pub headers: &'a HeaderMap,
    /// Bytes of a body that are read at most.
    pub body_bytes: u64,
    /// How long one object may take.
    pub object_timeout: Duration,
    /// When all has to be over.
    pub deadline: Deadline,
    /// When the page was asked for.
    pub started: Instant,
}

/// What a page came to.
#[derive(Debug)]
pub struct Loaded {
    /// Its objects. `bytes` are those of the objects alone.
    pub page: FullPage,
    /// Whether the deadline came before the last object.
    pub timed_out: bool,
}

/// Loads what `finds` has, and what is found in that. Cookies of `jar` go with it, and a login.
pub async fn load(terms: &Terms<'_>, jar: &mut Jar, pass: Option<&mut Pass>, finds: Finds) -> Loaded {
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
    };
    let is_late = |object: &Object| {
        object.told.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::TimedOut)
    };
    let timed_out =
        loader.run().await.is_err() || terms.deadline.passed() && loader.objects.iter().any(is_late);
    loader.end(timed_out)
}

struct Loader<'a> {
    terms: &'a Terms<'a>,
    jar: &'a mut Jar,
    pass: Option<&'a mut Pass>,
    finds: Finds,
    objects: Vec<Object>,
    origins: Vec<Origin>,
    flights: FuturesUnordered<Flight<'a>>,
    /// Objects that something is under way for.
    under_way: usize,
    /// Shared connections so far.
    shared: usize,
}

/// The deadline has come.
struct TimedOut;

impl Loader<'_> {
    async fn run(&mut self) -> Result<(), TimedOut> {
        self.take_finds();
        loop {
            self.depart();
            let waits = self.origins.iter().any(|origin| !origin.waiting.is_empty());
            if self.under_way == 0 && !waits {
                return Ok(());
            }
            let landed = timeout_at(self.terms.deadline.at, self.flights.next()).await;
            match landed.map_err(|_| TimedOut)? {
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
        let total_us = micros(self.terms.started.elapsed());
        let page = FullPage { total_us, bytes, unlisted, objects, ..FullPage::default() };
        Loaded { page, timed_out }
    }

    /// Lets what was found wait for its server.
    fn take_finds(&mut self) {
        for found in self.finds.take() {
            self.objects.push(Object::new(found, self.terms.page));
            let object = self.objects.len() - 1;
            let origin = self.origin(object);
            self.origins[origin].waiting.push_back(object);
        }
    }

    /// The server that `object` is asked for.
    fn origin(&mut self, object: usize) -> usize {
        let url = &self.objects[object].url;
        let key = url.origin();
        if let Some(known) = self.origins.iter().position(|origin| origin.key == key) {
            return known;
        }
        let Terms { net, way, page, version, .. } = *self.terms;
        let endpoint = way.endpoint(url);
        let session = (url.scheme() == "https").then(|| {
            let is_own = url.host() == page.host();
            let client_certificate = way.tls.client_certificate.filter(|_| is_own);
            let alpn = if version == Version::HTTP_10 { NOTHING } else { BOTH };
            let options = TlsOptions { alpn, client_certificate, ..way.tls.clone() };
            net.tls_session(&endpoint.host, &options, true)
        });
        let speaks_http2 = version == Version::HTTP_2 && key == page.origin();
        self.origins.push(Origin::new(url, endpoint, session, speaks_http2));
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
                let (endpoint, session) = (origin.endpoint.clone(), origin.session.clone());
                let speaks_http2 = origin.speaks_http2;
                self.flights.push(Box::pin(async move {
                    let opening =
                        Box::pin(flight::open(terms, (addresses, endpoint), session, speaks_http2, deadline));
                    let held = deadline.hold(Phase::Connect, opening).await;
                    let (connection, trace) = held.unwrap_or_else(|failure| (Err(failure), Box::default()));
                    Landed::Opened { origin: number, object, connection, trace }
                }));
            }
            Next::Serial(connection) => self.ask(number, object, Over::Serial(connection), deadline),
            Next::Shared(shared, connection) => {
                self.ask(number, object, Over::Shared(shared, connection), deadline);
            }
        }
    }

    fn ask(&mut self, origin: usize, object: usize, over: Over, deadline: Deadline) {
        let headers = self.headers(object);
        let (url, kind) = (self.objects[object].url.clone(), self.objects[object].found.kind);
        let body_bytes = self.terms.body_bytes;
        self.flights.push(Box::pin(async move {
            let answer = flight::exchange(over, url, headers, kind, body_bytes, deadline).await;
            Landed::Answered { origin, object, answer: Box::new(answer) }
        }));
    }

    async fn land(&mut self, landed: Landed) {
        match landed {
            Landed::Resolved { origin, object, addresses, trace } => {
                self.objects[object].told.phases.add_all(&trace.phases);
                let server = &mut self.origins[origin];
                server.is_asked = false;
                match addresses {
                    Ok(addresses) => {
                        server.addresses = Some(addresses.into());
                        server.waiting.push_front(object);
                        self.under_way -= 1;
                    }
                    Err(failure) => self.give_up(origin, object, &failure),
                }
            }
            Landed::Opened { origin, object, connection, trace } => {
                self.objects[object].told.phases.add_all(&trace.phases);
                match connection {
                    Ok(connection) => self.opened(origin, object, connection),
                    Err(failure) => {
                        self.origins[origin].open -= 1;
                        if self.origins[origin].was_reached {
                            self.finish(object, Some(failure));
                        } else {
                            self.give_up(origin, object, &failure);
                        }
                    }
                }
            }
            Landed::Answered { origin, object, answer } => self.answered(origin, object, *answer).await,
            Landed::Ended { origin, connection } => self.origins[origin].give_up(connection),
        }
    }

    fn opened(&mut self, number: usize, object: usize, connection: Opened) {
        let origin = &mut self.origins[number];
        origin.was_reached = true;
        let over = match connection {
            Opened::Serial(connection) => Over::Serial(connection),
            Opened::Shared(shared, driver) => {
                self.shared += 1;
                let connection = self.shared;
                self.flights.push(Box::pin(async move {
                    driver.await;
                    Landed::Ended { origin: number, connection }
                }));
                origin.is_http2 = true;
                origin.shared = Some((connection, shared.clone()));
                Over::Shared(connection, shared)
            }
        };
        let began = self.objects[object].begin(self.terms.started);
        let deadline = until(self.terms.deadline, began, self.terms.object_timeout);
        self.ask(number, object, over, deadline);
    }

    /// The server cannot be reached: that is the failure of all that wait for it.
    fn give_up(&mut self, origin: usize, object: usize, failure: &Failure) {
        self.finish(object, Some(failure.clone()));
        for waiting in std::mem::take(&mut self.origins[origin].waiting) {
            self.objects[waiting].begin(self.terms.started);
            self.objects[waiting].finish(Some(failure.clone()));
        }
    }

    fn finish(&mut self, object: usize, failure: Option<Failure>) {
        self.under_way -= 1;
        self.objects[object].finish(failure);
    }

    async fn answered(&mut self, number: usize, object: usize, answer: Answer) {
        let Answer { outcome, phases, stale, back, shared } = answer;
        let origin = &mut self.origins[number];
        match back {
            Some(connection) => origin.idle.push(connection),
            None if shared.is_none() => origin.open = origin.open.saturating_sub(1),
            None => {}
        }
        let held = &mut self.objects[object];
        held.told.phases.add_all(&phases);
        let (head, content) = match outcome {
            Ok(answer) => answer,
            Err(_) if stale && held.repeats < MOST_REPEATS => {
                held.repeats += 1;
                self.under_way -= 1;
                let origin = &mut self.origins[number];
                if let Some(connection) = shared {
                    origin.give_up(connection);
                }
                // Those that are idle too have waited as long.
                origin.open = origin.open.saturating_sub(origin.idle.len());
                origin.idle.clear();
                origin.waiting.push_front(object);
                return;
            }
            Err(failure) => return self.finish(object, Some(failure)),
        };
        if same_site(self.terms.page, &held.url) {
            self.jar.keep(&held.url, &head.headers);
        }
        held.note(&head, &content);
        if let Some(failure) = content.failure.clone() {
            return self.finish(object, Some(failure));
        }
        if is_redirect(head.status) {
            return self.follow(object, &head);
        }
        let failure = judge(&held.url, held.hops > 0, head.status);
        let (found, url) = (held.found.clone(), held.url.clone());
        let is_read = failure.is_none() && matches!(found.kind, ObjectKind::Style | ObjectKind::Frame);
        self.finish(object, failure);
        if is_read {
            self.read(found, url, &head, content).await;
        }
    }

    fn follow(&mut self, object: usize, head: &Head) {
        let held = &mut self.objects[object];
        match redirect_target(&held.url, head.status, &head.headers) {
            Err(failure) => self.finish(object, Some(failure)),
            Ok(to) if held.hops == MOST_REDIRECTS => {
                let detail =
                    format!("more than {MOST_REDIRECTS} redirects, the next one to `{}`", shown(&to));
                let failure = Failure::new(Phase::Validate, FailureKind::RedirectLoop, detail);
                self.finish(object, Some(failure));
            }
            Ok(to) => {
                held.hops += 1;
                held.url = to;
                self.under_way -= 1;
                let origin = self.origin(object);
                self.origins[origin].waiting.push_front(object);
            }
        }
    }

    /// Looks for objects in a style sheet or frame.
    async fn read(&mut self, found: Found, url: Url, head: &Head, content: Content) {
        if found.kind == ObjectKind::Frame && found.frames >= MOST_FRAMES {
            return;
        }
        let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let source = read::Source { bytes: content.bytes, kind: kind.map(str::to_owned), found, url };
        let finds = std::mem::replace(&mut self.finds, Finds::new(self.terms.page));
        self.finds = read::search(source, finds).await;
        self.take_finds();
    }

    fn headers(&mut self, object: usize) -> HeaderMap {
        let object = &self.objects[object];
        let (page, url) = (self.terms.page, &object.url);
        let is_own = is_same_origin(url, page);
        let mut headers = HeaderMap::with_capacity(12);
        for (name, value) in self.terms.headers {
            let is_ours = [HOST, CONNECTION, CONTENT_TYPE, CONTENT_LENGTH].contains(name);
            if !is_ours && (is_own || !is_secret(name)) {
                headers.append(name, value.clone());
            }
        }
        accept(&mut headers, object.found.kind);
        if let Some(referer) = referer(&object.found.by, url) {
            set(&mut headers, REFERER, &referer);
        }
        if same_site(page, url)
            && let Some(cookies) = self.jar.header(url)
        {
            headers.append(COOKIE, cookies);
        }
        if let Some(value) = self.pass.as_mut().and_then(|pass| pass.authorization(&Method::GET, url)) {
            headers.insert(AUTHORIZATION, value);
        }
        headers
    }
}

/// Whether the answer to `url` is what was asked for; after redirects, who answered is told.
fn judge(url: &Url, is_elsewhere: bool, status: StatusCode) -> Option<Failure> {
    let from = |url| format!(" from `{}`", shown(url));
    let detail = || format!("{}{}", status.as_u16(), if is_elsewhere { from(url) } else { String::new() });
    match status.as_u16() {
        200..300 | 304 => None,
        100..200 => Some(Failure::new(Phase::Validate, FailureKind::ResponseInvalid, detail())),
        _ => Some(Failure::new(Phase::Validate, FailureKind::HttpStatus, detail())),
    }
}

/// What browsers ask for, unless the monitor asks for something itself.
fn accept(headers: &mut HeaderMap, kind: ObjectKind) {
    let wanted = match kind {
        ObjectKind::Image => "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
        ObjectKind::Style => "text/css,*/*;q=0.1",
        ObjectKind::Frame => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        _ => return,
    };
    if headers.get(ACCEPT).is_some_and(|value| value == "*/*") {
        headers.insert(ACCEPT, HeaderValue::from_static(wanted));
    }
}

/// What `by` says of itself to `to`: all of its URL to its own origin, the origin to others, nothing from TLS to
/// none (`strict-origin-when-cross-origin`).
fn referer(by: &Url, to: &Url) -> Option<String> {
    if by.scheme() == "https" && to.scheme() != "https" {
        return None;
    }
    if is_same_origin(by, to) {
        let before = &by[..Position::BeforeUsername];
        return Some(format!("{before}{}", &by[Position::BeforeHost..Position::AfterQuery]));
    }
    Some(format!("{}/", by.origin().ascii_serialization()))
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
