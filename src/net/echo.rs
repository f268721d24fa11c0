//! ICMP echo over one socket a family and location (RFC 792, RFC 4443 4).
//!
//! One socket serves all checks: a raw socket gets a copy of every ICMP packet of the host, so one for
//! each check would make n² copies of n checks. What is sent is told apart by a sequence number that is
//! never used twice while somebody waits for it.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use surge_ping::{Icmpv4Packet, Icmpv6Packet};
use tokio::net::UdpSocket;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{Net, Source};
use crate::model::{Failure, FailureKind, Phase};

/// Room for the replies of several thousand requests that come while this task is not running; with the
/// kernel's default of 208 KiB a burst of 128 loses replies, which would look like the target's loss.
const RECEIVE_BUFFER: usize = 8 * 1024 * 1024;
/// Bytes of a packet that are looked at: the longest IPv4 header, the ICMP header, and of an error the
/// same of the packet that it is about.
const LOOKED_AT: usize = 256;

/// The sockets of a location, each opened when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    v4: OnceCell<EchoSocket>,
    v6: OnceCell<EchoSocket>,
}

/// A socket for echo requests of one family.
#[derive(Debug)]
pub struct EchoSocket {
    shared: Arc<Shared>,
    receiver: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    socket: UdpSocket,
    raw: bool,
    v6: bool,
    identifier: u16,
    next: AtomicU16,
    waiting: Mutex<HashMap<(IpAddr, u16), Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    sent_at: Instant,
    tell: oneshot::Sender<EchoReply>,
}

/// What came back for an echo request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EchoReply {
    /// The reply, and the time from the request to it.
    After(Duration),
    /// An ICMP error of a router or the target, by type and code. Only a raw socket hears them.
    Error {
        /// ICMP type.
        kind: u8,
        /// ICMP code.
        code: u8,
    },
}

impl Net {
    /// The socket for echo requests to `address`: the unprivileged kind where the host permits it, else a
    /// raw one. Neither is permitted: [`FailureKind::NoPermission`] (95).
    pub async fn echo(&self, address: IpAddr) -> Result<&EchoSocket, Failure> {
        let cell = if address.is_ipv4() { &self.echo.v4 } else { &self.echo.v6 };
        cell.get_or_try_init(async || EchoSocket::open(&self.source, address))
            .await
            .map_err(|error| self.echo_failure(address, &error))
    }

    /// What a failed `socket` or `sendto` of an echo request means.
    #[must_use]
    pub fn echo_failure(&self, address: IpAddr, error: &io::Error) -> Failure {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return self.dial_failure(SocketAddr::new(address, 0), error);
        }
        let detail = format!(
            "echo requests to {address}: {error}\nhint: put a group of this process into the range of the sysctl \
             `net.ipv4.ping_group_range`, or give the process the capability `CAP_NET_RAW`"
        );
        Failure::new(Phase::Prepare, FailureKind::NoPermission, detail)
    }
}

impl EchoSocket {
    fn open(source: &Source, towards: IpAddr) -> io::Result<Self> {
        let (domain, protocol) = match towards {
            IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4),
            IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6),
        };
        let (socket, raw) = match Socket::new(domain, Type::DGRAM, Some(protocol)) {
            Ok(socket) => (socket, false),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                (Socket::new(domain, Type::RAW, Some(protocol))?, true)
            }
            Err(error) => return Err(error),
        };
        if let Some(from) = source.towards(towards) {
            socket.bind(&from.into())?;
        }
        if let Some(interface) = &source.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
            // Without the privilege the kernel gives as much as it is allowed to give to anybody.
            let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
        }
        socket.set_nonblocking(true)?;
        let mut random = [0; 4];
        aws_lc_rs::rand::fill(&mut random).map_err(|_| io::Error::other("no random numbers"))?;
        let shared = Arc::new(Shared {
            socket: UdpSocket::from_std(socket.into())?,
            raw,
            v6: towards.is_ipv6(),
            identifier: u16::from_be_bytes([random[0], random[1]]),
            next: AtomicU16::new(u16::from_be_bytes([random[2], random[3]])),
            waiting: Mutex::default(),
        });
        let receiver = tokio::spawn(receive(shared.clone()));
        Ok(Self { shared, receiver })
    }

    /// `dgram` for the unprivileged socket, `raw` for the privileged one.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.shared.raw { "raw" } else { "dgram" }
    }

    /// Sends one echo request with `size` bytes of payload. The reply is waited for apart.
    pub async fn send(&self, to: IpAddr, size: usize) -> io::Result<EchoWait> {
        let (tell, reply) = oneshot::channel();
        let sequence = self.shared.enlist(to, tell).ok_or(io::ErrorKind::ResourceBusy)?;
        let wait = EchoWait { shared: self.shared.clone(), key: Some((to, sequence)), reply };
        let packet = self.shared.request(sequence, size);
        self.shared.socket.send_to(&packet, SocketAddr::new(to, 0)).await?;
        Ok(wait)
    }
}

impl Drop for EchoSocket {
    fn drop(&mut self) {
        self.receiver.abort();
    }
}

/// A request that is under way. Dropping it gives it up.
#[derive(Debug)]
pub struct EchoWait {
    shared: Arc<Shared>,
    /// Under which it is waited for; `None` once it was answered, when another may use the number.
    key: Option<(IpAddr, u16)>,
    reply: oneshot::Receiver<EchoReply>,
}

impl EchoWait {
    /// What came back; `None` when the socket is gone. Waits without end.
    pub async fn reply(mut self) -> Option<EchoReply> {
        let reply = (&mut self.reply).await.ok();
        self.key = None;
        reply
    }
}

impl Drop for EchoWait {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.waiters().remove(&key);
        }
    }
}

impl Shared {
    fn waiters(&self) -> std::sync::MutexGuard<'_, HashMap<(IpAddr, u16), Waiter>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a sequence number on which nobody waits for `to`.
    fn enlist(&self, to: IpAddr, tell: oneshot::Sender<EchoReply>) -> Option<u16> {
        let mut waiting = self.waiters();
        for _ in 0..=u16::MAX {
            let sequence = self.next.fetch_add(1, Ordering::Relaxed);
            if let std::collections::hash_map::Entry::Vacant(free) = waiting.entry((to, sequence)) {
                free.insert(Waiter { sent_at: Instant::now(), tell });
                return Some(sequence);
            }
        }
        None
    }

    /// An echo request. The kernel fills in the checksum but for IPv4 over a raw socket, and the
    /// identifier of its own over a datagram socket.
    fn request(&self, sequence: u16, size: usize) -> Vec<u8> {
        let mut packet = vec![0; 8 + size];
        packet[0] = if self.v6 { 128 } else { 8 };
        packet[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        packet[6..8].copy_from_slice(&sequence.to_be_bytes());
        for (byte, value) in packet[8..].iter_mut().zip((0..=u8::MAX).cycle()) {
            *byte = value;
        }
        if self.raw && !self.v6 {
            let sum = checksum(&packet);
            packet[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        packet
    }

    fn take(&self, bytes: &[u8], from: IpAddr, at: Instant) {
        let Some(heard) = read(bytes, from, self.raw) else { return };
        if self.raw && heard.identifier != self.identifier {
            return;
        }
        let Some(waiter) = self.waiters().remove(&(heard.about, heard.sequence)) else { return };
        let reply = match heard.error {
            None => EchoReply::After(at.saturating_duration_since(waiter.sent_at)),
            Some((kind, code)) => EchoReply::Error { kind, code },
        };
        // Whoever waited may have given up just now.
        let _ = waiter.tell.send(reply);
    }
}

struct Heard {
    /// The address that the request went to.
    about: IpAddr,
    identifier: u16,
    sequence: u16,
    error: Option<(u8, u8)>,
}

fn read(bytes: &[u8], from: IpAddr, raw: bool) -> Option<Heard> {
    const REPLY_V4: u8 = 0;
    const REPLY_V6: u8 = 129;
    match from {
        IpAddr::V4(from) => {
            let socket = if raw { Type::RAW } else { Type::DGRAM };
            let packet = Icmpv4Packet::decode(bytes, socket, from, from).ok()?;
            let (kind, code) = (packet.get_icmp_type().0, packet.get_icmp_code().0);
            Some(Heard {
                about: packet.get_real_dest().into(),
                identifier: packet.get_identifier().into_u16(),
                sequence: packet.get_sequence().into_u16(),
                error: (kind != REPLY_V4).then_some((kind, code)),
            })
        }
        IpAddr::V6(from) => {
            let packet = Icmpv6Packet::decode(bytes, from).ok()?;
            let (kind, code) = (packet.get_icmpv6_type().0, packet.get_icmpv6_code().0);
            Some(Heard {
                about: packet.get_real_dest().into(),
                identifier: packet.get_identifier().into_u16(),
                sequence: packet.get_sequence().into_u16(),
                error: (kind != REPLY_V6).then_some((kind, code)),
            })
        }
    }
}

async fn receive(shared: Arc<Shared>) {
    let mut buffer = [0; LOOKED_AT];
    loop {
        match shared.socket.recv_from(&mut buffer).await {
            Ok((length, from)) => shared.take(&buffer[..length], from.ip(), Instant::now()),
            // An error that waits on the socket is of one packet; reading takes it away.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// The Internet checksum (RFC 1071).
pub(super) fn checksum(bytes: &[u8]) -> u16 {
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
    fn a_packet_with_its_checksum_sums_up_to_all_ones() {
        for size in [0, 1, 56, 57, 1400] {
            let mut packet: Vec<u8> = (0..=u8::MAX).cycle().take(8 + size).collect();
            packet[2..4].fill(0);
            let sum = checksum(&packet);
            packet[2..4].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(checksum(&packet), 0, "{size}");
        }
    }

    #[test]
    fn noise_is_never_taken_for_a_reply() {
        for from in ["127.0.0.1", "::1"] {
            let from: IpAddr = from.parse().unwrap();
            for raw in [true, false] {
                for length in 0..LOOKED_AT {
                    assert!(read(&vec![0xff; length], from, raw).is_none_or(|heard| heard.error.is_some()));
                }
            }
        }
    }
}
