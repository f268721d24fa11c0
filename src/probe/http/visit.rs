//! One attempt: requests from hop to hop, and what the last answer means.

use std::sync::Arc;

use cookie_store::{CookieStore, RawCookie};
use http::header::{CONTENT_TYPE, HeaderValue, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode, Version};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use url::{Host, Url};

use super::Context;
use super::evidence;
use super::login::Session;
use super::options::Options;
use super::redirect::{self, shown};
use super::request::Ask;
use crate::judge::certificate::Expiry;
use crate::judge::charset;
use crate::judge::keyword::KeywordRule;
use crate::model::{Failure, FailureKind, Hop, HttpFacts, Observation, Phase, WarningKind, printable};
use crate::net::{Deadline, Endpoint, Family, Trace};
use crate::wire::http::{self as wire, Body, Head, Keep, Protocol};

/// Bytes of a body that are searched in passing.
const LONG_BODY: usize = 32 * 1024;
/// Challenges that are answered at most: the first one, and a few that call the answer outdated.
const MOST_LOGINS: u32 = 3;

/// What to do after an answer.
enum Next {
    /// The next request.
    Ask,
    /// Nothing: it was judged.
    Done,
}

pub(super) struct Visit<'a> {
    options: &'a Options,
    cx: Context<'a>,
    observation: Observation,
    /// The way and the phases of the request that is under way.
    trace: Trace,
    url: Url,
    method: Method,
    hops: Vec<Hop>,
    cookies: Option<CookieStore>,
    /// Set once the server has asked for it.
    session: Option<Session>,
    /// How often it was set.
    logins: u32,
    /// Whether the last request said who asks.
    authorized: bool,
}

impl<'a> Visit<'a> {
    pub(super) fn new(options: &'a Options, cx: Context<'a>) -> Self {
        let mut observation = Observation::default();
        for note in &options.notes {
            observation.warn(WarningKind::Note, note);
        }
        Self {
            options,
            cx,
            observation,
            trace: Trace::default(),
            url: options.url.clone(),
            method: options.method.clone(),
            hops: Vec::new(),
            cookies: None,
            session: None,
            logins: 0,
            authorized: false,
        }
    }

    /// Asks until an answer is the last one, and judges that.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        loop {
            let (head, body) = self.ask().await?;
            let outcome = self.take_answer(&head, body).await;
            if matches!(outcome, Ok(Next::Ask)) {
                continue;
            }
            if outcome.is_err() || self.observation.failure.is_some() {
                self.observation.captures.insert(0, evidence::head(&head));
            }
            return outcome.map(|_| ());
        }
    }

    async fn take_answer(&mut self, head: &Head, body: Body) -> Result<Next, Failure> {
        self.keep_cookies(&head.headers);
        self.note_answer(head);
        if self.options.error_302 && head.status == StatusCode::FOUND {
            let detail = format!("`{}` answered 302", shown(&self.url));
            return Err(Failure::new(Phase::Validate, FailureKind::HttpRedirectForbidden, detail));
        }
        if self.options.follows && redirect::is_redirect(head.status) {
            drop(body);
            return self.follow(head).map(|()| Next::Ask);
        }
        if self.can_log_in(head) {
            drop(body);
            return self.log_in(head).map(|()| Next::Ask);
        }
        self.judge(head, body).await.map(|()| Next::Done)
    }

    /// What was seen, complete up to where the visit stopped.
    pub(super) fn into_observation(mut self) -> Observation {
        self.close_exchange();
        if let Some(facts) = &mut self.observation.facts.http {
            facts.redirects = self.hops;
        }
        self.observation
    }

    /// Opens a connection to the current URL, sends the request and waits for the head of the answer.
    async fn ask(&mut self) -> Result<(Head, Body), Failure> {
        let endpoint = self.endpoint();
        let tcp = self.cx.net.connect(&endpoint, self.cx.deadline, &mut self.trace).await?;
        // All that matters is read before the close; a reset then leaves no TIME_WAIT behind, here or there.
        // If the option cannot be set, the usual close follows.
        let _ = tcp.set_zero_linger();
        if self.url.scheme() != "https" {
            let protocol = match self.options.version {
                Version::HTTP_2 => Protocol::Http2,
                _ => Protocol::Http1,
            };
            return self.exchange(tcp, protocol, self.options.version).await;
        }
        let options = &self.options.tls;
        let name = &endpoint.host;
        let secured = self.cx.net.handshake(tcp, name, options, self.cx.deadline, &mut self.trace).await;
        // An expired certificate that the handshake refused is judged by the handshake.
        let stream = secured?;
        self.judge_dates();
        let protocol = match stream.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        };
        let version = match (self.options.version, protocol) {
            (Version::HTTP_2, Protocol::Http1) => {
                let detail = format!("`{}` does not speak HTTP/2, HTTP/1.1 was used", shown(&self.url));
                self.observation.warn(WarningKind::FellBack, detail);
                Version::HTTP_11
            }
            (version, _) => version,
        };
        self.exchange(stream, protocol, version).await
    }

    async fn exchange<S>(
        &mut self,
        stream: S,
        protocol: Protocol,
        version: Version,
    ) -> Result<(Head, Body), Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let authorization = self.authorization();
        self.authorized = authorization.is_some();
        let ask = Ask {
            url: &self.url,
            method: &self.method,
            version,
            cookies: self.cookies.as_ref().and_then(|cookies| cookie_header(cookies, &self.url)),
            authorization,
        };
        let request = ask.request(self.options)?;
        wire::open(stream, protocol, request, self.cx.deadline, &mut self.trace.phases).await
    }

    fn authorization(&mut self) -> Option<HeaderValue> {
        let login = self.options.login.as_ref().filter(|login| login.is_for(&self.url))?;
        login.authorization(self.session.as_mut()?, &self.method, &self.url)
    }

    fn endpoint(&self) -> Endpoint {
        let (host, literal) = match self.url.host() {
            Some(Host::Domain(name)) => (name.to_owned(), None),
            Some(Host::Ipv4(address)) => (address.to_string(), Some(address.into())),
            Some(Host::Ipv6(address)) => (address.to_string(), Some(address.into())),
            None => (String::new(), None),
        };
        let is_first = self.url.host() == self.options.url.host();
        let pinned = self.options.pinned.filter(|_| is_first);
        let family = match (self.options.family, pinned.or(literal)) {
            // IPv6 that was written down as an address is wanted, whatever names resolve to.
            (Family::V4Only, Some(std::net::IpAddr::V6(_))) => Family::Any,
            (family, _) => family,
        };
        let port = self.url.port_or_known_default().unwrap_or(80);
        Endpoint { host: host.into(), port, pinned, family, proxy: None }
    }

    fn judge_dates(&mut self) {
        let Some(tls) = &self.trace.tls else { return };
        match self.options.expiry.judge(tls, self.cx.clock.now()) {
            None => {}
            Some(Expiry::Expired(failure)) => self.observation.fail(failure),
            // Hops of one host show the same certificate: once is enough.
            Some(Expiry::Expiring(line)) if self.observation.warnings.iter().any(|w| w.detail == line) => {}
            Some(Expiry::Expiring(line)) => self.observation.warn(WarningKind::CertificateExpiring, line),
        }
    }

    fn keep_cookies(&mut self, headers: &HeaderMap) {
        if !headers.contains_key(SET_COOKIE) {
            return;
        }
        let texts = headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookies = texts.filter_map(|text| RawCookie::parse(text.to_owned()).ok());
        self.cookies.get_or_insert_default().store_response_cookies(cookies, &self.url);
    }

    fn note_answer(&mut self, head: &Head) {
        let facts = self.observation.facts.http.get_or_insert_default();
        **facts = HttpFacts {
            http_status: head.status.as_u16(),
            http_version: version_name(head.version).to_owned(),
            http_reason: head.reason.as_deref().map(short),
            content_type: content_type(&head.headers).map(short),
            url: self.url.as_str().to_owned(),
            ..HttpFacts::default()
        };
    }

    fn follow(&mut self, head: &Head) -> Result<(), Failure> {
        let to = redirect::target(&self.url, head.status, &head.headers)?;
        if self.hops.len() == redirect::MOST {
            let detail = format!("more than {} redirects, the next one to `{}`", redirect::MOST, shown(&to));
            return Err(Failure::new(Phase::Validate, FailureKind::RedirectLoop, detail));
        }
        self.hops.push(Hop {
            url: self.url.as_str().to_owned(),
            http_status: head.status.as_u16(),
            address: self.trace.address,
            phases: self.trace.phases,
        });
        self.method = redirect::method(head.status, &self.method);
        self.url = to;
        self.close_exchange();
        Ok(())
    }

    fn can_log_in(&self, head: &Head) -> bool {
        head.status == StatusCode::UNAUTHORIZED
            && self.logins < MOST_LOGINS
            && self.options.login.as_ref().is_some_and(|login| login.is_for(&self.url))
            && self.session.as_ref().is_none_or(|session| session.is_outdated(&head.headers))
    }

    fn log_in(&mut self, head: &Head) -> Result<(), Failure> {
        self.session = Some(Session::answering(&head.headers)?);
        self.logins += 1;
        self.close_exchange();
        Ok(())
    }

    /// Moves what the last request saw into the observation.
    fn close_exchange(&mut self) {
        let trace = std::mem::take(&mut self.trace);
        self.observation.phases.add_all(&trace.phases);
        self.observation.address = trace.address.or(self.observation.address);
        if !trace.resolved.is_empty() {
            self.observation.facts.resolved = trace.resolved;
        }
        if trace.tls.is_some() {
            self.observation.facts.tls = trace.tls;
        }
    }

    async fn judge(&mut self, head: &Head, body: Body) -> Result<(), Failure> {
        if let Err(failure) = self.judge_status(head) {
            self.observation.fail(failure);
        }
        let keyword = self.options.keyword.as_ref().filter(|_| self.observation.failure.is_none());
        let keep = match (keyword, &self.observation.failure) {
            (Some(_), _) => Keep::Bytes,
            (None, Some(_)) => Keep::First(evidence::BODY_BYTES),
            (None, None) => Keep::Nothing,
        };
        let (limit, deadline) = (self.options.body_bytes, self.cx.deadline);
        let content = body.read(keep, limit, deadline, &mut self.trace.phases).await;
        if let Some(facts) = &mut self.observation.facts.http {
            facts.body_wire_bytes = content.wire_bytes;
            facts.body_bytes = content.body_bytes;
        }
        let kind = content_type(&head.headers);
        let bytes = Arc::new(content.bytes);
        let verdict = match (content.failure, keyword) {
            (Some(failure), _) => Err(failure),
            (None, None) => Ok(()),
            (None, Some(keyword)) => {
                let started = Instant::now();
                let (body, kind) = (Arc::clone(&bytes), kind.map(str::to_owned));
                let verdict = search(keyword.clone(), body, kind, deadline).await;
                self.trace.phases.set(Phase::Validate, started.elapsed());
                verdict
            }
        };
        if verdict.is_err() || self.observation.failure.is_some() {
            self.observation.captures.extend(evidence::body(&bytes, kind));
        }
        verdict
    }

    fn judge_status(&mut self, head: &Head) -> Result<(), Failure> {
        let refused = |kind, words: &str| {
            let detail = format!("{} from `{}`{words}", status_line(head), shown(&self.url));
            Err(Failure::new(Phase::Validate, kind, detail))
        };
        match head.status.as_u16() {
            100..200 => refused(FailureKind::ResponseInvalid, ", which nobody asked for"),
            300..400 => {
                let detail = format!("{} from `{}` was not followed", status_line(head), shown(&self.url));
                self.observation.warn(WarningKind::RedirectNotFollowed, detail);
                Ok(())
            }
            401 if self.authorized => {
                refused(FailureKind::LoginRefused, " after user name and password were sent")
            }
            401 if !self.options.error_401 => Ok(()),
            400.. => refused(FailureKind::HttpStatus, ""),
            _ => Ok(()),
        }
    }
}

/// Judges a body by `rule`. A long one is searched apart from the threads that wait for other targets, and
/// no longer than until `deadline`: a few expressions take seconds for a page. The target has delivered by
/// then, so that is no fault of its.
async fn search(
    rule: Box<KeywordRule>,
    body: Arc<Vec<u8>>,
    content_type: Option<String>,
    deadline: Deadline,
) -> Result<(), Failure> {
    let is_long = body.len() > LONG_BODY;
    let judge = move || {
        let text = charset::decode(&body, content_type.as_deref());
        // That it compiles was seen when the probe was built.
        match rule.compile() {
            Ok(keyword) => keyword.judge(&text).map_or(Ok(()), Err),
            Err(error) => Err(Failure::new(Phase::Validate, FailureKind::Internal, error.to_string())),
        }
    };
    if !is_long {
        return judge();
    }
    let internal = |words: &str| Err(Failure::new(Phase::Validate, FailureKind::Internal, words));
    match deadline.hold(Phase::Validate, tokio::task::spawn_blocking(judge)).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(_)) => internal("the search for the keyword ended early"),
        Err(_) => {
            internal("the search for the keyword was not over at the timeout; simplify `keyword_string`")
        }
    }
}

/// What a peer wrote, in a length that a result can bear.
fn short(text: &str) -> String {
    printable(&text.chars().take(120).collect::<String>())
}

fn status_line(head: &Head) -> String {
    match &head.reason {
        Some(reason) => format!("`{} {}`", head.status.as_u16(), short(reason)),
        None => format!("`{}`", head.status.as_u16()),
    }
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok())
}

fn cookie_header(cookies: &CookieStore, url: &Url) -> Option<HeaderValue> {
    let pairs: Vec<String> =
        cookies.get_request_values(url).map(|(name, value)| format!("{name}={value}")).collect();
    if pairs.is_empty() { None } else { HeaderValue::from_str(&pairs.join("; ")).ok() }
}

pub(super) fn version_name(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}
