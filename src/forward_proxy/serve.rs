//! Serves the connections of one browser.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::Either;
use futures::stream::FuturesUnordered;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::TcpStream;

use super::browser_connection::{BrowserConnection, ProxyError, ResponseBody, Tunnel, text_body};
use super::config::MAX_CONNECTIONS;
use super::forward_request;
use super::http1_builders::browser_side_builder;
use super::proxy::ForwardProxy;
use crate::net::Net;
use crate::sync::Mutex;

/// Pause after an error of `accept`, such as too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

impl ForwardProxy {
    /// Serves the connections of the browser over `net`. Dropping the future ends all of them.
    pub async fn serve(&self, net: &Net) -> Infallible {
        let mut connections = FuturesUnordered::new();
        let mut relayed = self.relayed_connections.lock().await;
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                    Ok((stream, client)) => {
                        connections.push(Either::Left(self.serve_if_allowed(net, stream, client)));
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_RETRY_DELAY).await,
                },
                Some(stream) = relayed.recv(), if connections.len() < MAX_CONNECTIONS => {
                    connections.push(Either::Right(serve_connection(self, net, stream)));
                }
                Some(()) = connections.next(), if !connections.is_empty() => {}
            }
        }
    }

    async fn serve_if_allowed(&self, net: &Net, stream: TcpStream, client_address: SocketAddr) {
        // Connections of other clients are closed without a response.
        let (clients, owner) = (&self.config.allowed_clients, self.socket_owner());
        if clients.allows_connection(client_address, self.listen_address, owner).await {
            // If it fails, small writes are delayed a little.
            let _ = stream.set_nodelay(true);
            serve_connection(self, net, stream).await;
        }
    }
}

/// Serves `stream` until one side closes it.
async fn serve_connection<S>(proxy: &ForwardProxy, net: &Net, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let browser_connection = BrowserConnection {
        proxy,
        location_net: net,
        pending_tunnel: Mutex::default(),
        idle_upstream: Arc::default(),
    };
    let service = service_fn(|request| browser_connection.handle_request(request));
    let connection = browser_side_builder().serve_connection(TokioIo::new(stream), service).with_upgrades();
    // An error concerns only the browser: it disconnected, or sent invalid HTTP and got an error response.
    if connection.await.is_ok() {
        let tunnel = browser_connection.pending_tunnel.lock().take();
        if let Some(tunnel) = tunnel {
            browser_connection.run_tunnel(tunnel).await;
        }
    }
}

impl BrowserConnection<'_> {
    async fn handle_request(&self, request: Request<Incoming>) -> Result<Response<ResponseBody>, Infallible> {
        let response = if request.method() == Method::CONNECT {
            self.handle_connect(request).await
        } else {
            forward_request::forward(self, request).await
        };
        Ok(response.unwrap_or_else(|error| error.to_response()))
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
        self.set_pending_tunnel(Tunnel::Connect { browser, target, host, port });
        Ok(Response::new(text_body("")))
    }

    async fn run_tunnel(&self, tunnel: Tunnel) {
        // Both ends see how a tunnel ended, so its result is ignored.
        match tunnel {
            Tunnel::Connect { browser, mut target, host, port } => {
                let Ok(browser) = browser.await else { return };
                let mut browser = TokioIo::new(browser);
                match &self.proxy.tls_interceptor {
                    Some(interceptor) => {
                        let trace_context = self.proxy.trace_context_for(&host);
                        let result = interceptor
                            .run_tunnel(self.location_net, browser, target, &host, trace_context)
                            .await;
                        if let Err(failure) = result {
                            self.proxy.target_log.record_failure(&host, port, &failure);
                        }
                    }
                    None => drop(copy_bidirectional(&mut browser, &mut target).await),
                }
            }
            Tunnel::Upgrade { browser, target, mut upstream } => {
                let Ok(target) = upstream.drive_until(target).await else { return };
                let Ok(browser) = browser.await else { return };
                drop(copy_bidirectional(&mut TokioIo::new(browser), &mut TokioIo::new(target)).await);
            }
        }
    }
}
