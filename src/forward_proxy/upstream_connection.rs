//! A connection to a target for requests in absolute form, and the response body that it delivers.

use crate::sync::Mutex;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::http1_builders::target_side_builder;

/// A connection, with the future that drives it.
pub(super) struct UpstreamConnection {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) sender: SendRequest<Incoming>,
    /// `None` after the connection has ended.
    driver: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl UpstreamConnection {
    pub(super) async fn new(host: &str, port: u16, stream: TcpStream) -> hyper::Result<Self> {
        let (sender, connection) = target_side_builder().handshake(TokioIo::new(stream)).await?;
        // The exchange that an error affects reports it.
        let connection = Box::pin(async move { drop(connection.with_upgrades().await) });
        Ok(Self { host: host.to_owned(), port, sender, driver: Some(connection) })
    }

    /// Drives the connection as far as possible without waiting.
    fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.driver
            && connection.as_mut().poll(cx).is_ready()
        {
            self.driver = None;
        }
    }

    /// Waits for `future` and drives the connection meanwhile.
    pub(super) async fn drive_until<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        poll_fn(|cx| {
            self.poll(cx);
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Whether the connection leads to this target and is ready for another request.
    pub(super) async fn can_serve(&mut self, host: &str, port: u16) -> bool {
        if self.host != host || self.port != port {
            return false;
        }
        poll_fn(|cx| {
            self.poll(cx);
            Poll::Ready(self.driver.is_some() && self.sender.is_ready())
        })
        .await
    }
}

/// A response body that drives its connection, and returns the connection for reuse at its end.
pub(super) struct UpstreamBody {
    body: Incoming,
    upstream: Option<UpstreamConnection>,
    idle_upstream: Arc<Mutex<Option<UpstreamConnection>>>,
}

impl UpstreamBody {
    pub(super) fn new(
        body: Incoming,
        upstream: UpstreamConnection,
        idle_upstream: &Arc<Mutex<Option<UpstreamConnection>>>,
    ) -> Self {
        let mut this = Self { body, upstream: Some(upstream), idle_upstream: Arc::clone(idle_upstream) };
        if this.body.is_end_stream() {
            this.return_to_idle();
        }
        this
    }

    fn return_to_idle(&mut self) {
        *self.idle_upstream.lock() = self.upstream.take();
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(upstream) = &mut self.upstream {
            upstream.poll(cx);
        }
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let has_ended = matches!(frame, Poll::Ready(None)) || self.body.is_end_stream();
        if has_ended && self.upstream.is_some() {
            self.return_to_idle();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
