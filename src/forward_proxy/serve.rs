//! Serves the connections of one browser.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::exchange;
use super::http1::with_browser;
use super::proxy::Forward;
use super::visit::{Answer, Refusal, Tunnel, Visit, text};
use crate::net::Net;
use crate::sync::Mutex;

/// Connections of a browser that are served at once; further ones wait in the backlog.
const CONNECTIONS: usize = 256;

/// Pause after an error of `accept`, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

impl Forward {
    /// Serves the browser's connections over `net` until it is dropped, and them with it.
    pub async fn serve(&self, net: &Net) -> Infallible {
        let mut visits = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if visits.len() < CONNECTIONS => match accepted {
                    Ok((stream, from)) => visits.push(self.receive(net, stream, from)),
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
                Some(()) = visits.next(), if !visits.is_empty() => {}
            }
        }
    }

    async fn receive(&self, net: &Net, stream: TcpStream, from: SocketAddr) {
        // Somebody else's connection is closed without a word.
        if self.rules.peers.admits(from, self.address).await {
            // On failure small writes wait a little.
            let _ = stream.set_nodelay(true);
            connection(self, net, stream).await;
        }
    }
}

/// Serves `stream` until one side has ended it.
async fn connection(forward: &Forward, net: &Net, stream: TcpStream) {
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
