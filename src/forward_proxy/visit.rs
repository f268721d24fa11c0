//! One connection of a browser to its forward proxy.

use crate::sync::Mutex;
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::exchange;
use super::http1::{PATIENCE, with_browser};
use super::proxy::Forward;
use super::upstream::Upstream;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{Deadline, Endpoint, Net, Trace};

/// The body of an answer to the browser.
pub(super) type Answer = UnsyncBoxBody<Bytes, hyper::Error>;

/// What one connection of the browser shares among its requests.
pub(super) struct Visit<'a> {
    pub(super) forward: &'a Forward,
    pub(super) net: &'a Net,
    /// What the connection turns into when its exchange is over.
    after: Mutex<Option<Tunnel>>,
    /// The connection to a target that the next request may use.
    pub(super) idle: Arc<Mutex<Option<Upstream>>>,
}

/// Bytes both ways, from an exchange that ended in one.
pub(super) enum Tunnel {
    /// After `CONNECT`.
    Connected { browser: OnUpgrade, target: TcpStream, host: String, port: u16 },
    /// After `101 Switching Protocols`.
    Switched { browser: OnUpgrade, target: OnUpgrade, upstream: Upstream },
}

/// Serves `stream` until one side has ended it.
pub(super) async fn serve(forward: &Forward, net: &Net, stream: TcpStream) {
    let visit = Visit { forward, net, after: Mutex::default(), idle: Arc::default() };
    let service = service_fn(|request| visit.answer(request));
    let connection = with_browser().serve_connection(TokioIo::new(stream), service).with_upgrades();
    // An error is the browser's: it went away, or said something that is no HTTP and was told so.
    if connection.await.is_ok() {
        let tunnel = visit.after.lock().take();
        if let Some(tunnel) = tunnel {
            visit.carry(tunnel).await;
        }
    }
}

impl Visit<'_> {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Answer>, Infallible> {
        let answered = if request.method() == Method::CONNECT {
            self.connect_for(request).await
        } else {
            exchange::pass(self, request).await
        };
        Ok(answered.unwrap_or_else(|refusal| refusal.answer()))
    }

    async fn connect_for(&self, mut request: Request<Incoming>) -> Result<Response<Answer>, Refusal> {
        let authority = request.uri().authority().filter(|authority| authority.port_u16().is_some());
        let Some(authority) = authority.cloned() else {
            return Err(Refusal::bad("CONNECT needs a host with a port"));
        };
        let port = authority.port_u16().unwrap_or_default();
        let host = authority.host().to_owned();
        let target = self.dial(&host, port).await?;
        let browser = hyper::upgrade::on(&mut request);
        self.turn_into(Tunnel::Connected { browser, target, host, port });
        Ok(Response::new(text("")))
    }

    /// A connection to `host`, when the rules and the network of the location let it be.
    pub(super) async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let rules = &self.forward.rules;
        let refused = |status, failure: Failure| {
            self.forward.ledger.failed(host, port, &failure);
            Refusal { status, text: failure.to_string() }
        };
        if let Some(rule) = rules.blocked.rule_for(host) {
            let detail = format!("`{host}` is blocked by `{rule}`");
            let failure = Failure::new(Phase::Prepare, FailureKind::PageUnloadable, detail);
            return Err(refused(StatusCode::FORBIDDEN, failure));
        }
        let mut to = Endpoint::new(host, port);
        (to.family, to.proxy) = (rules.family, rules.proxy);
        let mut trace = Trace::default();
        let connected = self.net.connect(&to, Deadline::within(PATIENCE), &mut trace).await;
        let stream = connected.map_err(|failure| match failure.kind {
            FailureKind::EgressDenied => refused(StatusCode::FORBIDDEN, failure),
            _ => refused(StatusCode::BAD_GATEWAY, failure),
        })?;
        if stream.peer_addr().is_ok_and(|peer| peer == self.forward.address) {
            let detail = "it is the forward proxy of the browser itself";
            let failure = Failure::new(Phase::Connect, FailureKind::EgressDenied, detail);
            return Err(refused(StatusCode::FORBIDDEN, failure));
        }
        self.forward.ledger.reached(host, port, &trace);
        Ok(stream)
    }

    /// Lets the connection go on as `tunnel` after the answer that is being made.
    pub(super) fn turn_into(&self, tunnel: Tunnel) {
        *self.after.lock() = Some(tunnel);
    }

    async fn carry(&self, tunnel: Tunnel) {
        // How a tunnel ends is seen by both of its ends.
        match tunnel {
            Tunnel::Connected { browser, mut target, host, port } => {
                let Ok(browser) = browser.await else { return };
                let mut browser = TokioIo::new(browser);
                match &self.forward.bridge {
                    Some(bridge) => {
                        let tracing = self.forward.tracing_of(&host);
                        let bridged = bridge.carry(self.net, browser, target, &host, tracing).await;
                        if let Err(failure) = bridged {
                            self.forward.ledger.failed(&host, port, &failure);
                        }
                    }
                    None => drop(copy_bidirectional(&mut browser, &mut target).await),
                }
            }
            Tunnel::Switched { browser, target, mut upstream } => {
                let Ok(target) = upstream.drive(target).await else { return };
                let Ok(browser) = browser.await else { return };
                drop(copy_bidirectional(&mut TokioIo::new(browser), &mut TokioIo::new(target)).await);
            }
        }
    }
}

/// Why the browser gets no answer of the target.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn bad(text: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: text.to_owned() }
    }

    fn answer(&self) -> Response<Answer> {
        let mut response = Response::new(text(&format!("{}\n", self.text)));
        *response.status_mut() = self.status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
        let why = HeaderValue::from_str(&self.text).unwrap_or(HeaderValue::from_static("refused"));
        response.headers_mut().insert(super::rules::REFUSED, why);
        response
    }
}

pub(super) fn text(text: &str) -> Answer {
    Full::new(Bytes::copy_from_slice(text.as_bytes())).map_err(|never| match never {}).boxed_unsync()
}
