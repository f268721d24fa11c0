//! A UDP socket that notes what came over it, and takes no more than it may.

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

/// Bytes that may come at first. A server may send what the flow control of QUIC lets it before anybody reads
/// what it said, so this has to be more.
const INITIAL_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// What came over a connection. Cheap to clone; all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct QuicMeter(Arc<MeterState>);

#[derive(Debug)]
struct MeterState {
    first: OnceLock<Instant>,
    bytes: AtomicU64,
    limit: AtomicU64,
    error: Mutex<Option<(io::ErrorKind, Option<i32>)>>,
    failing: Notify,
    flooded: Notify,
}

impl Default for MeterState {
    fn default() -> Self {
        Self {
            first: OnceLock::new(),
            bytes: AtomicU64::new(0),
            limit: AtomicU64::new(INITIAL_LIMIT_BYTES),
            error: Mutex::default(),
            failing: Notify::new(),
            flooded: Notify::new(),
        }
    }
}

impl QuicMeter {
    /// When the first datagram came.
    #[must_use]
    pub fn first_datagram_at(&self) -> Option<Instant> {
        self.0.first.get().copied()
    }

    /// Lets `bytes` more in, from now on. Who reads has to look whether it [is flooded](Self::is_over_limit).
    pub fn raise_limit(&self, bytes: u64) {
        let so_far = self.0.bytes.load(Ordering::Relaxed);
        // What others were let in before stays: a connection may carry many bodies at once.
        self.0.limit.fetch_max(so_far.saturating_add(INITIAL_LIMIT_BYTES), Ordering::Relaxed);
        let add = |max: u64| Some(max.saturating_add(bytes));
        // It always adds, and so never fails.
        let _ = self.0.limit.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Whether more came than was let in.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        self.0.bytes.load(Ordering::Relaxed) > self.0.limit.load(Ordering::Relaxed)
    }

    /// Waits until more came than was let in.
    pub async fn over_limit(&self) {
        let told = self.0.flooded.notified();
        let mut told = std::pin::pin!(told);
        // Heard from here on, also when it comes before the wait.
        told.as_mut().enable();
        if !self.is_over_limit() {
            told.await;
        }
    }

    /// Waits until the socket tells an error, such as that nobody listens.
    pub(super) async fn socket_error(&self) {
        self.0.failing.notified().await;
    }

    /// The first error of the socket.
    #[must_use]
    pub fn error(&self) -> Option<io::Error> {
        let noted = *self.0.error.lock();
        noted.map(|(kind, code)| code.map_or_else(|| kind.into(), io::Error::from_raw_os_error))
    }

    fn record_received(&self, bytes: u64) {
        self.0.first.get_or_init(Instant::now);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.is_over_limit() {
            self.0.flooded.notify_waiters();
        }
    }

    fn record_error(&self, error: &io::Error) {
        let mut noted = self.0.error.lock();
        noted.get_or_insert((error.kind(), error.raw_os_error()));
        self.0.failing.notify_one();
    }
}

/// The socket. quinn drops the errors of a connected one, and with them that nobody listens: so it is read and
/// written here. Errors are noted, as QUIC goes on over them.
#[derive(Debug)]
pub(super) struct MeteredSocket {
    /// Knows when there is room to write.
    write_readiness: Arc<dyn AsyncUdpSocket>,
    socket: UdpSocket,
    state: UdpSocketState,
    gauge: QuicMeter,
}

impl MeteredSocket {
    pub(super) fn new(socket: net::UdpSocket, meter: QuicMeter) -> io::Result<Self> {
        let room = TokioRuntime.wrap_udp_socket(socket.try_clone()?)?;
        let socket = UdpSocket::from_std(socket)?;
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { write_readiness: room, socket, state, gauge: meter })
    }

    fn read(&self, bufs: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        self.socket.try_io(Interest::READABLE, || self.state.recv((&self.socket).into(), bufs, meta))
    }
}

impl AsyncUdpSocket for MeteredSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.write_readiness).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let write = || self.state.try_send((&self.socket).into(), transmit);
        match self.socket.try_io(Interest::WRITABLE, write) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(error) => {
                // A datagram that is too long is how the path is measured.
                if error.raw_os_error() != Some(nix::errno::Errno::EMSGSIZE as i32) {
                    self.gauge.record_error(&error);
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
            match self.read(bufs, meta) {
                Ok(count) => {
                    self.gauge.record_received(meta.iter().take(count).map(|one| one.len as u64).sum());
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => self.gauge.record_error(&error),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}
