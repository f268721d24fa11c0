//! HTTP between a browser and a target of the site under check, where both connections end here, so that its
//! requests can be given their place in the trace. The protocol is the one that browser and target agreed on.
//!
//! Nothing is spawned: tasks of HTTP/2 are polled here, and end with this future.

use crate::sync::Mutex;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::{Request, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{client, server};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::sync::mpsc;

use super::http1_builders::{client_builder, server_builder};
use super::trace_context::TraceContext;

/// Bytes of a head in HTTP/2.
const MAX_HEADER_LIST_BYTES: u32 = 64 * 1024;
/// Requests at once on one connection of HTTP/2.
const MAX_CONCURRENT_STREAMS: u32 = 200;

/// A connection to one side.
pub(super) trait RelayStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> RelayStream for S {}

/// Both sides of a connection that has switched to another protocol.
type UpgradePair = (OnUpgrade, OnUpgrade);

/// HTTP/1.1, until one side ends it.
pub(super) async fn relay_http1(
    browser: impl RelayStream,
    target: impl RelayStream,
    tracing: &Arc<TraceContext>,
) {
    let connecting = client_builder().handshake(TokioIo::new(target));
    let Ok((sender, connection)) = connecting.await else { return };
    // One request at a time, as the browser sends them.
    let sender = Arc::new(tokio::sync::Mutex::new(sender));
    let (switches, switched) =
        (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::<Option<UpgradePair>>::default()));
    let service = service_fn(|mut request: Request<Incoming>| {
        let (sender, switched) = (Arc::clone(&sender), Arc::clone(&switched));
        tracing.inject(request.headers_mut());
        let asks = request.headers().contains_key(header::UPGRADE);
        switches.fetch_or(asks, Ordering::Relaxed);
        let ours = asks.then(|| hyper::upgrade::on(&mut request));
        async move {
            let mut sender = sender.lock().await;
            sender.ready().await?;
            let mut response = sender.send_request(request).await?;
            if let Some(ours) = ours.filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS) {
                let both = (ours, hyper::upgrade::on(&mut response));
                *switched.lock() = Some(both);
            }
            *response.version_mut() = Version::HTTP_11;
            Ok::<_, hyper::Error>(response)
        }
    });
    let mut serving = pin!(server_builder().serve_connection(TokioIo::new(browser), service).with_upgrades());
    let mut connection = pin!(connection.with_upgrades());
    let mut open = true;
    loop {
        tokio::select! {
            // How a connection ends is seen by both of its ends.
            _ = &mut serving => break,
            _ = &mut connection, if open => {
                open = false;
                // The browser is not to send a request into a connection that is gone.
                if !switches.load(Ordering::Relaxed) {
                    serving.as_mut().graceful_shutdown();
                }
            }
        }
    }
    let both = switched.lock().take();
    let Some((ours, theirs)) = both else { return };
    let theirs = async {
        tokio::select! {
            theirs = theirs => theirs,
            never = async { if open { let _ = connection.await; } std::future::pending().await } => never,
        }
    };
    let (Ok(ours), Ok(theirs)) = (ours.await, theirs.await) else { return };
    drop(copy_bidirectional(&mut TokioIo::new(ours), &mut TokioIo::new(theirs)).await);
}

/// HTTP/2, until one side ends it.
pub(super) async fn relay_http2(
    browser: impl RelayStream,
    target: impl RelayStream,
    tracing: &Arc<TraceContext>,
) {
    let (hand, mut handed) = mpsc::unbounded_channel();
    let hand = TaskQueue(hand);
    let connecting = client::conn::http2::Builder::new(hand.clone())
        .max_header_list_size(MAX_HEADER_LIST_BYTES)
        .handshake(TokioIo::new(target));
    let Ok((sender, connection)) = connecting.await else { return };
    let service = service_fn(|mut request: Request<Incoming>| {
        let mut sender = sender.clone();
        tracing.inject(request.headers_mut());
        async move { sender.send_request(request).await }
    });
    let mut serving = pin!(
        server::conn::http2::Builder::new(hand)
            .max_header_list_size(MAX_HEADER_LIST_BYTES)
            .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(browser), service)
    );
    let mut connection = pin!(connection);
    let (mut open, mut tasks) = (true, FuturesUnordered::new());
    loop {
        tokio::select! {
            _ = &mut serving => break,
            _ = &mut connection, if open => {
                open = false;
                serving.as_mut().graceful_shutdown();
            }
            Some(task) = handed.recv() => tasks.push(task),
            Some(()) = tasks.next(), if !tasks.is_empty() => {}
        }
    }
}

type BoxedTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Hands over the tasks of a connection, a few for each of its streams, whose number is bounded.
#[derive(Clone)]
struct TaskQueue(mpsc::UnboundedSender<BoxedTask>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for TaskQueue {
    fn execute(&self, task: F) {
        // The connection that it is of is gone with the receiver.
        let _ = self.0.send(Box::pin(task));
    }
}
