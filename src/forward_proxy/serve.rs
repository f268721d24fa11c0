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

use super::connection::{ProxyConnection, ProxyError, ResponseBody, Tunnel, text_body};
use super::forward_request;
use super::http1_builders::server_builder;
use super::proxy::ForwardProxy;
use crate::net::Net;
use crate::sync::Mutex;

/// Connections of a browser that are served at once; further ones wait in the backlog.
const MAX_CONNECTIONS: usize = 256;

/// Pause after an error of `accept`, such as too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

impl ForwardProxy {
    /// Serves the browser's connections over `net` until it is dropped, and them with it.
    pub async fn serve(&self, net: &Net) -> Infallible {
        let mut visits = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if visits.len() < MAX_CONNECTIONS => match accepted {
                    Ok((stream, from)) => visits.push(self.accept(net, stream, from)),
                    Err(_) => tokio::time::sleep(ACCEPT_RETRY_DELAY).await,
                },
                Some(()) = visits.next(), if !visits.is_empty() => {}
            }
        }
    }

    async fn accept(&self, net: &Net, stream: TcpStream, from: SocketAddr) {
        // Somebody else's connection is closed without a word.
        if self.rules.allowed_clients.allows(from, self.address).await {
            // On failure small writes wait a little.
            let _ = stream.set_nodelay(true);
            serve_connection(self, net, stream).await;
        }
    }
}

/// Serves `stream` until one side has ended it.
async fn serve_connection(forward: &ForwardProxy, net: &Net, stream: TcpStream) {
    let visit = ProxyConnection { forward, net, pending_tunnel: Mutex::default(), idle: Arc::default() };
    let service = service_fn(|request| visit.handle(request));
    let connection = server_builder().serve_connection(TokioIo::new(stream), service).with_upgrades();
    // An error is the browser's: it went away, or said something that is no HTTP and was told so.
    if connection.await.is_ok() {
        let tunnel = visit.pending_tunnel.lock().take();
        if let Some(tunnel) = tunnel {
            visit.run_tunnel(tunnel).await;
        }
    }
}

impl ProxyConnection<'_> {
    async fn handle(&self, request: Request<Incoming>) -> Result<Response<ResponseBody>, Infallible> {
        let answered = if request.method() == Method::CONNECT {
            self.handle_connect(request).await
        } else {
            forward_request::forward(self, request).await
        };
        Ok(answered.unwrap_or_else(|error| error.to_response()))
    }

    async fn handle_connect(
        &self,
        mut request: Request<Incoming>,
    ) -> Result<Response<ResponseBody>, ProxyError> {
        let authority = request.uri().authority().filter(|authority| authority.port_u16().is_some());
        let Some(authority) = authority.cloned() else {
            return Err(ProxyError::bad_request("CONNECT needs a host with a port"));
        };
        let port = authority.port_u16().unwrap_or_default();
        let host = authority.host().to_owned();
        let target = self.connect_target(&host, port).await?;
        let browser = hyper::upgrade::on(&mut request);
        self.upgrade_to(Tunnel::Connected { browser, target, host, port });
        Ok(Response::new(text_body("")))
    }

    async fn run_tunnel(&self, tunnel: Tunnel) {
        // How a tunnel ends is seen by both of its ends.
        match tunnel {
            Tunnel::Connected { browser, mut target, host, port } => {
                let Ok(browser) = browser.await else { return };
                let mut browser = TokioIo::new(browser);
                match &self.forward.interceptor {
                    Some(bridge) => {
                        let tracing = self.forward.trace_context_for(&host);
                        let bridged = bridge.relay(self.net, browser, target, &host, tracing).await;
                        if let Err(failure) = bridged {
                            self.forward.target_log.record_failure(&host, port, &failure);
                        }
                    }
                    None => drop(copy_bidirectional(&mut browser, &mut target).await),
                }
            }
            Tunnel::Switched { browser, target, mut upstream } => {
                let Ok(target) = upstream.drive_until(target).await else { return };
                let Ok(browser) = browser.await else { return };
                drop(copy_bidirectional(&mut TokioIo::new(browser), &mut TokioIo::new(target)).await);
            }
        }
    }
}
