//! A UDP socket that measures and limits received data.

use crate::sync::Mutex;
use std::io::{self, IoSliceMut};
use std::net::{self, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Initial limit of received bytes. A server may send as much as QUIC's flow control allows before anything is read, so
/// this must be more.
const INITIAL_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// Counts the data received over a connection. Cheap to clone; clones share their state.
#[derive(Clone, Debug, Default)]
pub struct QuicMeter(Arc<MeterState>);

#[derive(Debug)]
struct MeterState {
    first_datagram_at: OnceLock<Instant>,
    received_bytes: AtomicU64,
    /// How many bytes may be received; only compared, the reader closes the connection.
    limit_bytes: AtomicU64,
    /// Kind and errno; an `io::Error` cannot be cloned.
    first_socket_error: Mutex<Option<(io::ErrorKind, Option<i32>)>>,
    /// Notified at each error of the socket.
    error_notify: Notify,
    /// Notified when more was received than the limit.
    over_limit_notify: Notify,
}

impl Default for MeterState {
    fn default() -> Self {
        Self {
            first_datagram_at: OnceLock::new(),
            received_bytes: AtomicU64::new(0),
            limit_bytes: AtomicU64::new(INITIAL_LIMIT_BYTES),
            first_socket_error: Mutex::default(),
            error_notify: Notify::new(),
            over_limit_notify: Notify::new(),
        }
    }
}

impl QuicMeter {
    /// Returns when the first datagram was received.
    #[must_use]
    pub fn first_datagram_at(&self) -> Option<Instant> {
        self.0.first_datagram_at.get().copied()
    }

    /// Raises the limit by `bytes` from now on. The reader must check whether it [is exceeded](Self::is_over_limit).
    pub fn raise_limit(&self, bytes: u64) {
        let received_bytes = self.0.received_bytes.load(Ordering::Relaxed);
        // Earlier increases remain: a connection may transfer several bodies at once.
        self.0.limit_bytes.fetch_max(received_bytes.saturating_add(INITIAL_LIMIT_BYTES), Ordering::Relaxed);
        let increase = |limit: u64| Some(limit.saturating_add(bytes));
        // It always returns `Some`, so it never fails.
        let _ = self.0.limit_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, increase);
    }

    /// Whether more was received than the limit.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        self.0.received_bytes.load(Ordering::Relaxed) > self.0.limit_bytes.load(Ordering::Relaxed)
    }

    /// Waits until more was received than the limit.
    pub async fn wait_until_over_limit(&self) {
        let notified = self.0.over_limit_notify.notified();
        let mut notified = std::pin::pin!(notified);
        // Notifications count from here on, even before the wait.
        notified.as_mut().enable();
        if !self.is_over_limit() {
            notified.await;
        }
    }

    /// Waits until the socket reports an error, such as a closed port.
    pub(super) async fn wait_for_socket_error(&self) {
        self.0.error_notify.notified().await;
    }

    /// Returns the first error of the socket.
    #[must_use]
    pub fn first_socket_error(&self) -> Option<io::Error> {
        let error = *self.0.first_socket_error.lock();
        error.map(|(kind, code)| code.map_or_else(|| kind.into(), io::Error::from_raw_os_error))
    }

    fn record_received(&self, bytes: u64) {
        self.0.first_datagram_at.get_or_init(Instant::now);
        self.0.received_bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.is_over_limit() {
            self.0.over_limit_notify.notify_waiters();
        }
    }

    fn record_error(&self, error: &io::Error) {
        let mut first_error = self.0.first_socket_error.lock();
        first_error.get_or_insert((error.kind(), error.raw_os_error()));
        self.0.error_notify.notify_one();
    }
}

/// A socket that meters reads and errors. quinn ignores the errors of connected sockets, even that of a closed port;
/// therefore reads and writes are done here. QUIC continues after such errors.
#[derive(Debug)]
pub(super) struct MeteredSocket {
    /// Reports when the socket is writable.
    write_readiness: Arc<dyn AsyncUdpSocket>,
    socket: UdpSocket,
    udp_state: UdpSocketState,
    meter: QuicMeter,
}

impl MeteredSocket {
    pub(super) fn new(socket: net::UdpSocket, meter: QuicMeter) -> io::Result<Self> {
        let write_readiness = TokioRuntime.wrap_udp_socket(socket.try_clone()?)?;
        let socket = UdpSocket::from_std(socket)?;
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { write_readiness, socket, udp_state: state, meter })
    }

    fn receive(&self, bufs: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        self.socket.try_io(Interest::READABLE, || self.udp_state.recv((&self.socket).into(), bufs, meta))
    }
}

impl AsyncUdpSocket for MeteredSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.write_readiness).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let write = || self.udp_state.try_send((&self.socket).into(), transmit);
        match self.socket.try_io(Interest::WRITABLE, write) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(error) => {
                // Path MTU discovery sends datagrams that are too long on purpose.
                if error.raw_os_error() != Some(nix::errno::Errno::EMSGSIZE as i32) {
                    self.meter.record_error(&error);
                }
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.socket.poll_recv_ready(cx))?;
            match self.receive(bufs, meta) {
                Ok(count) => {
                    self.meter
                        .record_received(meta.iter().take(count).map(|datagram| datagram.len as u64).sum());
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => self.meter.record_error(&error),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.udp_state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.udp_state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.udp_state.may_fragment()
    }
}
