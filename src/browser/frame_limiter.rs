//! A filter for a `WebSocket` connection (RFC 6455 5.2) that removes the payload of messages that are too long: pages
//! control how much their browser reports, for instance of an address or a line of the console, and the connection must
//! survive that.
//!
//! Such a message becomes a short one that is invalid in every protocol. Texts are passed on as bytes, since one that
//! is cut may end within a character.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Size of each read, in bytes.
const READ_BYTES: usize = 16 * 1024;
/// The end of the HTTP head that starts a connection.
const HTTP_HEADER_END: &[u8] = b"\r\n\r\n";
/// Set in the first byte of the last frame of a message.
const FIN_BIT: u8 = 0x80;
/// Set in the opcodes of control frames: close, ping and pong.
const CONTROL_OPCODE_BIT: u8 = 0x08;
const TEXT_OPCODE: u8 = 0x01;
const BINARY_OPCODE: u8 = 0x02;

/// The part of the stream that comes next.
#[derive(Debug)]
enum FrameState {
    /// The HTTP head, with the number of bytes of its end that were read.
    Handshake(usize),
    /// The head of a frame, as far as it was read.
    FrameHeader(Vec<u8>),
    /// The remaining bytes of payload, and whether they are passed on.
    Payload(u64, bool),
}

/// Filters the incoming bytes.
#[derive(Debug)]
struct FrameFilter {
    state: FrameState,
    /// Bytes of the current message so far.
    message_bytes: u64,
    max_message_bytes: u64,
    /// Filtered bytes, cleared by the limiter when all of them were passed on.
    output: Vec<u8>,
}

impl FrameFilter {
    /// Filters `bytes`, the next ones of the stream, into `output`.
    fn push(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            match &mut self.state {
                FrameState::Handshake(matched) => {
                    *matched = if first == HTTP_HEADER_END[*matched] {
                        *matched + 1
                    } else {
                        usize::from(first == HTTP_HEADER_END[0])
                    };
                    self.output.push(first);
                    bytes = rest;
                    if *matched == HTTP_HEADER_END.len() {
                        self.state = FrameState::FrameHeader(Vec::new());
                    }
                }
                FrameState::FrameHeader(head) => {
                    head.push(first);
                    bytes = rest;
                    if let Some(length) = payload_len(head) {
                        let head = std::mem::take(head);
                        self.begin_frame(&head, length);
                    }
                }
                FrameState::Payload(remaining, is_passed_on) => {
                    let count = usize::try_from(*remaining).unwrap_or(usize::MAX).min(bytes.len());
                    let (part, rest) = bytes.split_at(count);
                    if *is_passed_on {
                        self.output.extend_from_slice(part);
                    }
                    *remaining -= count as u64;
                    bytes = rest;
                    if *remaining == 0 {
                        self.state = FrameState::FrameHeader(Vec::new());
                    }
                }
            }
        }
    }

    /// Starts the frame with this `header`.
    fn begin_frame(&mut self, header: &[u8], length: u64) {
        let (opcode, is_final) = (header[0] & 0x0f, header[0] & FIN_BIT != 0);
        let is_control = opcode & CONTROL_OPCODE_BIT != 0;
        if !is_control {
            let earlier_bytes = if opcode == 0 { self.message_bytes } else { 0 };
            self.message_bytes = earlier_bytes.saturating_add(length);
        }
        let is_passed_on = is_control || self.message_bytes <= self.max_message_bytes;
        self.output.push(if opcode == TEXT_OPCODE {
            header[0] ^ TEXT_OPCODE | BINARY_OPCODE
        } else {
            header[0]
        });
        if is_passed_on {
            self.output.extend_from_slice(&header[1..]);
        } else {
            self.output.push(0);
        }
        if is_final && !is_control {
            self.message_bytes = 0;
        }
        self.state = if length == 0 {
            FrameState::FrameHeader(Vec::new())
        } else {
            FrameState::Payload(length, is_passed_on)
        };
    }
}

/// Returns the payload length of the frame with `head`, once the head is complete. Frames of a server are not masked
/// (RFC 6455 5.1).
fn payload_len(head: &[u8]) -> Option<u64> {
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    match (*head.get(1)? & 0x7f, head.len()) {
        (126, 4) | (127, 10) => Some(number(&head[2..])),
        (126 | 127, _) => None,
        (length, _) => Some(length.into()),
    }
}

/// Limits the messages read from `stream`.
#[derive(Debug)]
pub(super) struct FrameLimiter<S> {
    stream: S,
    filter: FrameFilter,
    /// Bytes of the filter's output that were passed on.
    output_position: usize,
}

impl<S> FrameLimiter<S> {
    /// Creates a limiter that passes messages of up to `max_message_bytes` bytes.
    pub(super) fn new(stream: S, max_message_bytes: usize) -> Self {
        let filter = FrameFilter {
            state: FrameState::Handshake(0),
            message_bytes: 0,
            max_message_bytes: max_message_bytes as u64,
            output: Vec::new(),
        };
        Self { stream, filter, output_position: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameLimiter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        output: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.output_position == this.filter.output.len() {
            this.filter.output.clear();
            this.output_position = 0;
            let mut chunk = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.filter.push(read.filled());
        }
        let remaining = &this.filter.output[this.output_position..];
        let count = remaining.len().min(output.remaining());
        output.put_slice(&remaining[..count]);
        this.output_position += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn frame(first_byte: u8, payload: &[u8]) -> Vec<u8> {
        let length = payload.len();
        let mut bytes = vec![first_byte];
        match length {
            0..=125 => bytes.push(u8::try_from(length).unwrap()),
            126..=0xffff => {
                bytes.push(126);
                bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend(payload);
        bytes
    }

    #[tokio::test]
    async fn long_messages_lose_their_payload_and_others_pass() {
        const HEAD: &[u8] = b"HTTP/1.1 101 S\r\nA: \r\r\n\r\n";
        let (long, short) = (vec![b'x'; 100_000], vec![b'y'; 1000]);
        let input = [
            HEAD.to_vec(),
            frame(0x81, b"{}"),
            frame(0x81, &long),
            frame(0x82, &short),
            // A message in parts, with a ping in between; together they are too long.
            frame(0x01, &short[..600]),
            frame(0x89, &short[..100]),
            frame(0x00, &short[..600]),
            frame(0x80, b"end"),
            frame(0x81, b""),
            frame(0x81, b"[]"),
        ];
        let expected = [
            HEAD.to_vec(),
            frame(0x82, b"{}"),
            frame(0x82, b""),
            frame(0x82, &short),
            frame(0x02, &short[..600]),
            frame(0x89, &short[..100]),
            frame(0x00, b""),
            frame(0x80, b""),
            frame(0x82, b""),
            frame(0x82, b"[]"),
        ];
        let input = input.concat();
        for chunk_size in [1, 7, 4096, input.len()] {
            let (mut remote, local) = tokio::io::duplex(chunk_size);
            let mut limiter = FrameLimiter::new(local, 1000);
            let mut output = Vec::new();
            let sent = async {
                remote.write_all(&input).await.unwrap();
                drop(remote);
            };
            let (read, ()) = tokio::join!(limiter.read_to_end(&mut output), sent);
            read.unwrap();
            assert_eq!(output, expected.concat(), "in pieces of {chunk_size}");
            assert!(limiter.filter.output.capacity() <= 4 * READ_BYTES);
        }
    }
}
