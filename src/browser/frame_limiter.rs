//! A connection of `WebSocket` (RFC 6455 5.2) from which the payload of messages that are too long is taken out: a page
//! decides how much its browser tells of an address or of a line of its console, and the connection outlives that.
//!
//! What is left of such a message is short, and no message of any protocol. Texts are handed on as bytes: one that is
//! cut may end within a character.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 * 1024;
/// The end of the head of HTTP with which a connection begins.
const HEAD_END: &[u8] = b"\r\n\r\n";
const FINAL: u8 = 0x80;
const CONTROL: u8 = 0x08;
const TEXT: u8 = 0x01;
const BINARY: u8 = 0x02;

/// What comes next.
#[derive(Debug)]
enum FrameState {
    /// The head of HTTP; so much of its end was there.
    Handshake(usize),
    /// The head of a frame, as far as it was there.
    Head(Vec<u8>),
    /// So many bytes of payload, and whether they are handed on.
    Payload(u64, bool),
}

/// What is handed on of the bytes that come.
#[derive(Debug)]
struct FrameFilter {
    state: FrameState,
    /// Bytes of the message so far.
    message: u64,
    max: u64,
    out: Vec<u8>,
}

impl FrameFilter {
    fn push(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            match &mut self.state {
                FrameState::Handshake(seen) => {
                    *seen =
                        if first == HEAD_END[*seen] { *seen + 1 } else { usize::from(first == HEAD_END[0]) };
                    self.out.push(first);
                    bytes = rest;
                    if *seen == HEAD_END.len() {
                        self.state = FrameState::Head(Vec::new());
                    }
                }
                FrameState::Head(head) => {
                    head.push(first);
                    bytes = rest;
                    if let Some(length) = payload_len(head) {
                        let head = std::mem::take(head);
                        self.begin_frame(&head, length);
                    }
                }
                FrameState::Payload(left, is_kept) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    let (part, rest) = bytes.split_at(here);
                    if *is_kept {
                        self.out.extend_from_slice(part);
                    }
                    *left -= here as u64;
                    bytes = rest;
                    if *left == 0 {
                        self.state = FrameState::Head(Vec::new());
                    }
                }
            }
        }
    }

    /// A frame with this `head` begins.
    fn begin_frame(&mut self, head: &[u8], length: u64) {
        let (kind, is_final) = (head[0] & 0x0f, head[0] & FINAL != 0);
        let is_control = kind & CONTROL != 0;
        if !is_control {
            let before = if kind == 0 { self.message } else { 0 };
            self.message = before.saturating_add(length);
        }
        let is_kept = is_control || self.message <= self.max;
        self.out.push(if kind == TEXT { head[0] ^ TEXT | BINARY } else { head[0] });
        if is_kept {
            self.out.extend_from_slice(&head[1..]);
        } else {
            self.out.push(0);
        }
        if is_final && !is_control {
            self.message = 0;
        }
        self.state =
            if length == 0 { FrameState::Head(Vec::new()) } else { FrameState::Payload(length, is_kept) };
    }
}

/// The bytes of payload behind `head`, once that is whole. Frames of a server are not masked (RFC 6455 5.1).
fn payload_len(head: &[u8]) -> Option<u64> {
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    match (*head.get(1)? & 0x7f, head.len()) {
        (126, 4) | (127, 10) => Some(number(&head[2..])),
        (126 | 127, _) => None,
        (length, _) => Some(length.into()),
    }
}

/// It, around `stream`.
#[derive(Debug)]
pub(super) struct FrameLimiter<S> {
    stream: S,
    filter: FrameFilter,
    /// Bytes of the filter's that were handed on.
    taken: usize,
}

impl<S> FrameLimiter<S> {
    /// Lets messages of up to `most` bytes pass.
    pub(super) fn new(stream: S, max: usize) -> Self {
        let filter =
            FrameFilter { state: FrameState::Handshake(0), message: 0, max: max as u64, out: Vec::new() };
        Self { stream, filter, taken: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameLimiter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.taken == this.filter.out.len() {
            this.filter.out.clear();
            this.taken = 0;
            let mut piece = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.filter.push(read.filled());
        }
        let left = &this.filter.out[this.taken..];
        let here = left.len().min(into.remaining());
        into.put_slice(&left[..here]);
        this.taken += here;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let length = payload.len();
        let mut all = vec![first];
        match length {
            0..=125 => all.push(u8::try_from(length).unwrap()),
            126..=0xffff => {
                all.push(126);
                all.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                all.push(127);
                all.extend((length as u64).to_be_bytes());
            }
        }
        all.extend(payload);
        all
    }

    #[tokio::test]
    async fn messages_that_are_too_long_lose_their_payload_and_others_pass() {
        const HEAD: &[u8] = b"HTTP/1.1 101 S\r\nA: \r\r\n\r\n";
        let (long, fits) = (vec![b'x'; 100_000], vec![b'y'; 1000]);
        let come = [
            HEAD.to_vec(),
            frame(0x81, b"{}"),
            frame(0x81, &long),
            frame(0x82, &fits),
            // In parts, with a ping between them; together they are too long.
            frame(0x01, &fits[..600]),
            frame(0x89, &fits[..100]),
            frame(0x00, &fits[..600]),
            frame(0x80, b"end"),
            frame(0x81, b""),
            frame(0x81, b"[]"),
        ];
        let wanted = [
            HEAD.to_vec(),
            frame(0x82, b"{}"),
            frame(0x82, b""),
            frame(0x82, &fits),
            frame(0x02, &fits[..600]),
            frame(0x89, &fits[..100]),
            frame(0x00, b""),
            frame(0x80, b""),
            frame(0x82, b""),
            frame(0x82, b"[]"),
        ];
        let come = come.concat();
        for piece in [1, 7, 4096, come.len()] {
            let (mut far, near) = tokio::io::duplex(piece);
            let mut limiter = FrameLimiter::new(near, 1000);
            let mut seen = Vec::new();
            let sent = async {
                far.write_all(&come).await.unwrap();
                drop(far);
            };
            let (read, ()) = tokio::join!(limiter.read_to_end(&mut seen), sent);
            read.unwrap();
            assert_eq!(seen, wanted.concat(), "in pieces of {piece}");
            assert!(limiter.filter.out.capacity() <= 4 * READ_BYTES);
        }
    }
}
