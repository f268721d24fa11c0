//! Relays HTTP between a browser and a target of the site under check. Both connections end here, so that trace fields
//! can be added to requests. The protocol is the one that browser and target agreed on.
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

use super::http1_builders::{browser_side_builder, target_side_builder};
use super::trace_context::TraceContext;

/// Longest head in HTTP/2, in bytes.
const MAX_HEADER_LIST_BYTES: u32 = 64 * 1024;
/// Concurrent requests on one HTTP/2 connection.
const MAX_CONCURRENT_STREAMS: u32 = 200;

/// A connection to the browser or to the target.
pub(super) trait RelayStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> RelayStream for S {}

/// Both sides of a connection that has switched to another protocol.
type UpgradedSides = (OnUpgrade, OnUpgrade);

/// Relays HTTP/1.1 until one side closes.
pub(super) async fn relay_http1(
    browser: impl RelayStream,
    target: impl RelayStream,
    trace_context: &Arc<TraceContext>,
) {
    let handshake = target_side_builder().handshake(TokioIo::new(target));
    let Ok((sender, target_connection)) = handshake.await else { return };
    // One request at a time, as the browser sends them.
    let sender = Arc::new(tokio::sync::Mutex::new(sender));
    let (upgrade_requested, upgrade_pair) =
        (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::<Option<UpgradedSides>>::default()));
    let service = service_fn(|mut request: Request<Incoming>| {
        let (sender, upgrade_pair) = (Arc::clone(&sender), Arc::clone(&upgrade_pair));
        trace_context.inject(request.headers_mut());
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        upgrade_requested.fetch_or(is_upgrade, Ordering::Relaxed);
        let browser_upgrade = is_upgrade.then(|| hyper::upgrade::on(&mut request));
        async move {
            let mut sender = sender.lock().await;
            sender.ready().await?;
            let mut response = sender.send_request(request).await?;
            if let Some(browser_upgrade) =
                browser_upgrade.filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS)
            {
                let pair = (browser_upgrade, hyper::upgrade::on(&mut response));
                *upgrade_pair.lock() = Some(pair);
            }
            *response.version_mut() = Version::HTTP_11;
            Ok::<_, hyper::Error>(response)
        }
    });
    let mut browser_connection =
        pin!(browser_side_builder().serve_connection(TokioIo::new(browser), service).with_upgrades());
    let mut target_connection = pin!(target_connection.with_upgrades());
    let mut is_target_open = true;
    loop {
        tokio::select! {
            // Both ends see how the connection ended, so its result is ignored.
            _ = &mut browser_connection => break,
            _ = &mut target_connection, if is_target_open => {
                is_target_open = false;
                // The browser must not send another request when the connection to the target is closed.
                if !upgrade_requested.load(Ordering::Relaxed) {
                    browser_connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
    let pair = upgrade_pair.lock().take();
    let Some((browser_upgrade, target_upgrade)) = pair else { return };
    let target_upgrade = async {
        tokio::select! {
            target_upgrade = target_upgrade => target_upgrade,
            never = async { if is_target_open { let _ = target_connection.await; } std::future::pending().await } => never,
        }
    };
    let (Ok(browser_upgrade), Ok(target_upgrade)) = (browser_upgrade.await, target_upgrade.await) else {
        return;
    };
    drop(copy_bidirectional(&mut TokioIo::new(browser_upgrade), &mut TokioIo::new(target_upgrade)).await);
}

/// Relays HTTP/2 until one side closes.
pub(super) async fn relay_http2(
    browser: impl RelayStream,
    target: impl RelayStream,
    trace_context: &Arc<TraceContext>,
) {
    let (task_sender, mut task_receiver) = mpsc::unbounded_channel();
    let task_sender = TaskSender(task_sender);
    let handshake = client::conn::http2::Builder::new(task_sender.clone())
        .max_header_list_size(MAX_HEADER_LIST_BYTES)
        .handshake(TokioIo::new(target));
    let Ok((sender, target_connection)) = handshake.await else { return };
    let service = service_fn(|mut request: Request<Incoming>| {
        let mut sender = sender.clone();
        trace_context.inject(request.headers_mut());
        async move { sender.send_request(request).await }
    });
    let mut browser_connection = pin!(
        server::conn::http2::Builder::new(task_sender)
            .max_header_list_size(MAX_HEADER_LIST_BYTES)
            .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(browser), service)
    );
    let mut target_connection = pin!(target_connection);
    let (mut is_target_open, mut tasks) = (true, FuturesUnordered::new());
    loop {
        tokio::select! {
            _ = &mut browser_connection => break,
            _ = &mut target_connection, if is_target_open => {
                is_target_open = false;
                browser_connection.as_mut().graceful_shutdown();
            }
            Some(task) = task_receiver.recv() => tasks.push(task),
            Some(()) = tasks.next(), if !tasks.is_empty() => {}
        }
    }
}

type BoxedTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Queues the tasks of a connection: a few for each of its streams, whose number is limited.
#[derive(Clone)]
struct TaskSender(mpsc::UnboundedSender<BoxedTask>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for TaskSender {
    fn execute(&self, task: F) {
        // Fails only when the relay has ended; the task is then no longer needed.
        let _ = self.0.send(Box::pin(task));
    }
}
