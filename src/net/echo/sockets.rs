//! ICMP echo sockets shared by all checks.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::icmp_error::IcmpError;
use super::icmp_message::{IcmpMessage, SNAP_LEN};
use super::rate_limit::RateLimiter;
use super::{icmp_message, packet_filter};
use crate::net::icmp_socket;
use crate::net::socket::SourceBinding;
use crate::sync::Mutex;

/// Receive buffer for the replies of several thousand requests that arrive while this task does not run. With the
/// kernel's default of 208 KiB a burst of 128 loses replies, which would look like loss of the target.
const RECEIVE_BUFFER_BYTES: usize = 8 * 1024 * 1024;

/// Maximum number of packets that are read before other tasks get to run.
const MAX_PACKETS_PER_POLL: u32 = 128;

/// Maximum number of errors of earlier requests that are skipped: a later `sendto` of the same socket returns each of
/// them once. Any further error is about the current request.
const MAX_SKIPPED_ERRORS: u32 = 16;

/// The sockets of a location, each opened when it is first needed.
#[derive(Debug, Default)]
pub(in crate::net) struct EchoSockets {
    pub(super) v4: OnceCell<EchoSocket>,
    pub(super) v6: OnceCell<EchoSocket>,
}

/// A socket for echo requests of one address family.
#[derive(Debug)]
pub struct EchoSocket {
    inner: Arc<EchoSocketInner>,
    receive_task: JoinHandle<()>,
}

#[derive(Debug)]
struct EchoSocketInner {
    socket: UdpSocket,
    is_raw: bool,
    is_ipv6: bool,
    /// Identifier of all its requests; on a datagram socket the kernel replaces it.
    identifier: u16,
    /// The sequence number to try for the next request.
    next_sequence: AtomicU16,
    rate_limiter: RateLimiter,
    /// By target address and sequence number.
    waiters: Mutex<HashMap<(IpAddr, u16), EchoWaiter>>,
}

#[derive(Debug)]
struct EchoWaiter {
    /// When it was registered, just before the request was sent.
    sent_at: Instant,
    result_sender: oneshot::Sender<EchoResult>,
}

/// The result of an echo request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EchoResult {
    /// The reply arrived after this round trip time.
    Reply(Duration),
    /// A router, the target or this host sent an error instead.
    Error(IcmpError),
}

impl EchoSocket {
    pub(super) fn open(source: &SourceBinding, destination: IpAddr) -> io::Result<Self> {
        let (socket, is_raw) = icmp_socket::open_icmp_socket(destination)?;
        if let Some(source_address) = source.bind_address_for(destination) {
            socket.bind(&source_address.into())?;
        }
        if let Some(interface) = &source.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
            // Without the privilege the kernel grants as much as it allows to every process.
            let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        }
        socket.set_nonblocking(true)?;
        let mut random = [0; 4];
        aws_lc_rs::rand::fill(&mut random).map_err(|_| io::Error::other("no random numbers"))?;
        let identifier = u16::from_be_bytes([random[0], random[1]]);
        if is_raw {
            // A failure only costs time: messages that are not about our requests are ignored.
            let _ = socket
                .attach_filter(&packet_filter::accept_replies_and_errors(destination.is_ipv6(), identifier));
        } else {
            // A datagram socket receives errors only through its error queue.
            icmp_socket::enable_error_queue(&socket, destination)?;
        }
        let shared = Arc::new(EchoSocketInner {
            socket: UdpSocket::from_std(socket.into())?,
            is_raw,
            is_ipv6: destination.is_ipv6(),
            identifier,
            next_sequence: AtomicU16::new(u16::from_be_bytes([random[2], random[3]])),
            rate_limiter: RateLimiter::default(),
            waiters: Mutex::default(),
        });
        let receiver = tokio::spawn(receive_messages(shared.clone()));
        Ok(Self { inner: shared, receive_task: receiver })
    }

    /// Returns `dgram` for the unprivileged socket, `raw` for the privileged one.
    #[must_use]
    pub fn socket_kind(&self) -> &'static str {
        if self.inner.is_raw { "raw" } else { "dgram" }
    }

    /// Whether `error` of `sendto` may be the pending ICMP error of an earlier request; raw sockets report none.
    fn may_concern_earlier_request(&self, error: &io::Error) -> bool {
        !self.inner.is_raw && icmp_socket::is_path_error(error)
    }

    /// Sends one echo request with `payload_bytes` bytes of payload, within the rate limit of all checks. The reply
    /// must be awaited separately.
    pub async fn send(&self, address: IpAddr, payload_bytes: usize) -> io::Result<PendingEcho> {
        self.inner.rate_limiter.wait_until_allowed().await;
        let (result_sender, result_receiver) = oneshot::channel();
        let sequence =
            self.inner.register_waiter(address, result_sender).ok_or(io::ErrorKind::ResourceBusy)?;
        let pending_echo = PendingEcho {
            socket: self.inner.clone(),
            waiter_key: Some((address, sequence)),
            result_receiver,
        };
        let packet = self.inner.build_request(sequence, payload_bytes);
        let mut skipped_errors = 0;
        loop {
            match self.inner.socket.send_to(&packet, SocketAddr::new(address, 0)).await {
                Ok(_) => return Ok(pending_echo),
                Err(error)
                    if skipped_errors < MAX_SKIPPED_ERRORS && self.may_concern_earlier_request(&error) =>
                {
                    skipped_errors += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for EchoSocket {
    fn drop(&mut self) {
        self.receive_task.abort();
    }
}

/// A request that waits for its reply. Dropping it cancels the wait.
#[derive(Debug)]
pub struct PendingEcho {
    socket: Arc<EchoSocketInner>,
    /// Key of its waiter; `None` after the reply, when another request may reuse the sequence number.
    waiter_key: Option<(IpAddr, u16)>,
    result_receiver: oneshot::Receiver<EchoResult>,
}

impl PendingEcho {
    /// Returns the result; `None` when the socket was closed. Waits forever.
    pub async fn echo_result(mut self) -> Option<EchoResult> {
        let echo_result = (&mut self.result_receiver).await.ok();
        self.waiter_key = None;
        echo_result
    }
}

impl Drop for PendingEcho {
    fn drop(&mut self) {
        if let Some(key) = self.waiter_key {
            self.socket.waiters().remove(&key);
        }
    }
}

impl EchoSocketInner {
    fn waiters(&self) -> crate::sync::MutexGuard<'_, HashMap<(IpAddr, u16), EchoWaiter>> {
        self.waiters.lock()
    }

    /// Registers a waiter under a sequence number that is not in use for `address`; `None` if all are.
    fn register_waiter(&self, address: IpAddr, result_sender: oneshot::Sender<EchoResult>) -> Option<u16> {
        let mut waiters = self.waiters();
        for _ in 0..=u16::MAX {
            let sequence = self.next_sequence.fetch_add(1, Ordering::Relaxed);
            if let std::collections::hash_map::Entry::Vacant(vacant_entry) =
                waiters.entry((address, sequence))
            {
                vacant_entry.insert(EchoWaiter { sent_at: Instant::now(), result_sender });
                return Some(sequence);
            }
        }
        None
    }

    /// Builds an echo request. The kernel sets the checksum (except for IPv4 over a raw socket), and on a datagram
    /// socket the identifier.
    fn build_request(&self, sequence: u16, payload_bytes: usize) -> Vec<u8> {
        let mut packet = vec![0; 8 + payload_bytes];
        packet[0] = if self.is_ipv6 { 128 } else { 8 };
        packet[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        packet[6..8].copy_from_slice(&sequence.to_be_bytes());
        for (byte, value) in packet[8..].iter_mut().zip((0..=u8::MAX).cycle()) {
            *byte = value;
        }
        if self.is_raw && !self.is_ipv6 {
            let checksum_value = internet_checksum(&packet);
            packet[2..4].copy_from_slice(&checksum_value.to_be_bytes());
        }
        packet
    }

    /// Passes `message` to the waiter of its request, if that still waits.
    fn on_message(&self, message: &IcmpMessage, received_at: Instant) {
        if self.is_raw && message.identifier != self.identifier {
            return;
        }
        let Some(waiter) = self.waiters().remove(&(message.target, message.sequence)) else { return };
        let echo_result = match message.error {
            None => EchoResult::Reply(received_at.saturating_duration_since(waiter.sent_at)),
            Some(error) => EchoResult::Error(error),
        };
        // The receiver may have been dropped just now.
        let _ = waiter.result_sender.send(echo_result);
    }

    /// Receives packets until no more are available or other tasks must run.
    fn drain_packets(&self) {
        let mut buffer = [0; SNAP_LEN];
        for _ in 0..MAX_PACKETS_PER_POLL {
            match self.socket.try_recv_from(&mut buffer) {
                Ok((length, sender)) => {
                    let received_at = Instant::now();
                    if let Some(message) =
                        icmp_message::parse_icmp_packet(&buffer[..length], sender.ip(), self.is_raw)
                    {
                        self.on_message(&message, received_at);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // This is a pending error about one packet, and reading it cleared it.
                Err(_) => {}
            }
        }
    }

    /// Reads ICMP errors until no more are queued or other tasks must run.
    fn drain_error_queue(&self) {
        for _ in 0..MAX_PACKETS_PER_POLL {
            match self
                .socket
                .try_io(Interest::ERROR, || icmp_message::read_error_queue(&self.socket, self.is_ipv6))
            {
                Ok(Some(message)) => self.on_message(&message, Instant::now()),
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }
}

async fn receive_messages(socket: Arc<EchoSocketInner>) {
    let interest = if socket.is_raw { Interest::READABLE } else { Interest::READABLE | Interest::ERROR };
    loop {
        // Fails only when the runtime shuts down.
        let Ok(ready) = socket.socket.ready(interest).await else { return };
        if ready.is_error() {
            socket.drain_error_queue();
        }
        socket.drain_packets();
        tokio::task::consume_budget().await;
    }
}

/// Returns the Internet checksum (RFC 1071).
pub(in crate::net) fn internet_checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let mut sum: u32 = bytes.chunks(2).map(word).fold(0, u32::wrapping_add);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_with_its_checksum_has_checksum_zero() {
        for size in [0, 1, 56, 57, 1400] {
            let mut packet: Vec<u8> = (0..=u8::MAX).cycle().take(8 + size).collect();
            packet[2..4].fill(0);
            let sum = internet_checksum(&packet);
            packet[2..4].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(internet_checksum(&packet), 0, "{size}");
        }
    }
}
