//! A UDP socket that notes what came over it, and takes no more than it may.

use std::io::{self, IoSliceMut};
use std::net::{self, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::Instant;

/// Bytes that may come at first. A server may send what the flow control of QUIC lets it before anybody reads
/// what it said, so this has to be more.
const AT_FIRST: u64 = 4 * 1024 * 1024;

/// What came over a connection. Cheap to clone; all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<Noted>);

#[derive(Debug)]
struct Noted {
    first: OnceLock<Instant>,
    bytes: AtomicU64,
    most: AtomicU64,
    error: Mutex<Option<(io::ErrorKind, Option<i32>)>>,
}

impl Default for Noted {
    fn default() -> Self {
        Self {
            first: OnceLock::new(),
            bytes: AtomicU64::new(0),
            most: AtomicU64::new(AT_FIRST),
            error: Mutex::default(),
        }
    }
}

impl Gauge {
    /// When the first datagram came.
    #[must_use]
    pub fn first(&self) -> Option<Instant> {
        self.0.first.get().copied()
    }

    /// Lets `bytes` more in, from now on. Beyond them the connection ends.
    pub fn allow(&self, bytes: u64) {
        let so_far = self.0.bytes.load(Ordering::Relaxed);
        self.0.most.store(so_far.saturating_add(bytes).saturating_add(AT_FIRST), Ordering::Relaxed);
    }

    /// Whether more came than was let in.
    #[must_use]
    pub fn is_flooded(&self) -> bool {
        self.0.bytes.load(Ordering::Relaxed) > self.0.most.load(Ordering::Relaxed)
    }

    /// The error that ended the socket, such as that nobody listens.
    #[must_use]
    pub fn error(&self) -> Option<io::Error> {
        let noted = *self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        noted.map(|(kind, code)| code.map_or_else(|| kind.into(), io::Error::from_raw_os_error))
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        self.0.first.get_or_init(Instant::now);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.is_flooded() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }

    fn failed(&self, error: &io::Error) {
        let mut noted = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get_or_insert((error.kind(), error.raw_os_error()));
    }
}

/// The socket. quinn sends; what comes is read here, since quinn drops the errors of a connected socket, and with
/// them that nobody listens.
#[derive(Debug)]
pub(super) struct Gauged {
    sending: Arc<dyn AsyncUdpSocket>,
    receiving: UdpSocket,
    state: UdpSocketState,
    gauge: Gauge,
}

impl Gauged {
    pub(super) fn new(socket: net::UdpSocket, gauge: Gauge) -> io::Result<Self> {
        let receiving = UdpSocket::from_std(socket.try_clone()?)?;
        let state = UdpSocketState::new((&receiving).into())?;
        Ok(Self { sending: TokioRuntime.wrap_udp_socket(socket)?, receiving, state, gauge })
    }

    fn read(&self, bufs: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        self.receiving.try_io(Interest::READABLE, || self.state.recv((&self.receiving).into(), bufs, meta))
    }
}

impl AsyncUdpSocket for Gauged {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.sending).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.sending.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let came = loop {
            if let Err(error) = ready!(self.receiving.poll_recv_ready(cx)) {
                break Err(error);
            }
            match self.read(bufs, meta) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                came => break came,
            }
        };
        let outcome = came.and_then(|count| {
            let bytes = meta.iter().take(count).map(|one| one.len as u64).sum();
            self.gauge.take(bytes).map(|()| count)
        });
        if let Err(error) = &outcome {
            self.gauge.failed(error);
        }
        Poll::Ready(outcome)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.sending.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.sending.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.sending.may_fragment()
    }
}
