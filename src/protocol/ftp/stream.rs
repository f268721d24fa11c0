//! The stream below suppaftp. The control connection works by lines; data connections pass bytes through.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use suppaftp::tokio::TokioTlsStream;
use suppaftp::{FtpError, FtpResult};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::passive::{parse_epsv_reply, parse_pasv_reply};
use super::recorder::SessionRecorder;
use super::reply::{FtpReply, FtpReplyParser};
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{MaybeTlsStream, connection_closed_failure, io_failure};

/// Longest line of a reply, in bytes.
const MAX_LINE_BYTES: usize = 8 * 1024;

/// The stream that suppaftp uses as its TLS stream, with or without TLS.
#[derive(Debug)]
pub struct FtpStream {
    stream: MaybeTlsStream,
    /// Set on the control connection; `None` on a data connection.
    control: Option<Box<ControlChannel>>,
}

#[derive(Debug)]
struct ControlChannel {
    recorder: SessionRecorder,
    reply_parser: FtpReplyParser,
    /// Received bytes that are not a complete line yet.
    received_bytes: Vec<u8>,
    /// Replies for suppaftp.
    ready_replies: Vec<u8>,
    /// Commands for the server.
    outgoing: Vec<u8>,
    /// Number of commands that are answered here and not sent.
    suppressed_commands: u8,
    /// Whether the session failed; nothing more is parsed then.
    has_failed: bool,
}

impl FtpStream {
    /// Creates a data connection.
    #[must_use]
    pub fn from_data_connection(stream: MaybeTlsStream) -> Self {
        Self { stream, control: None }
    }

    /// Creates the control connection after its opening, with the bytes already `read_ahead`. suppaftp will send PBSZ
    /// and PROT, since it assumes that TLS just started; without TLS they are answered here.
    #[must_use]
    pub fn from_control_connection(
        stream: MaybeTlsStream,
        read_ahead: Vec<u8>,
        recorder: SessionRecorder,
    ) -> Self {
        let suppressed_commands = if stream.is_tls() { 0 } else { 2 };
        let (ready, outgoing) = (Vec::new(), Vec::new());
        let control = ControlChannel {
            recorder,
            reply_parser: FtpReplyParser::default(),
            received_bytes: read_ahead,
            ready_replies: ready,
            outgoing,
            suppressed_commands,
            has_failed: false,
        };
        Self { stream, control: Some(Box::new(control)) }
    }
}

impl ControlChannel {
    /// Parses the lines of one reply from the received bytes; `ready_replies` contains it once it is complete.
    fn parse_reply(&mut self) -> io::Result<()> {
        while self.ready_replies.is_empty()
            && let Some(end) = self.received_bytes.iter().position(|&byte| byte == b'\n')
        {
            let line = String::from_utf8_lossy(self.received_bytes[..end].trim_ascii_end()).into_owned();
            self.recorder.record_line(&line);
            let parsed =
                self.reply_parser.push_line(&line).map_err(|error| error.into_failure(self.recorder.phase()));
            if let Some(reply) = parsed.map_err(|failure| self.record_failure(failure))? {
                let command = self.recorder.last_command();
                let phase = self.recorder.phase();
                self.recorder.record_reply(reply.clone());
                let line = normalize_reply(&command, &reply, phase)
                    .map_err(|failure| self.record_failure(failure))?;
                self.ready_replies.extend(line.as_bytes());
            }
            self.received_bytes.drain(..=end);
        }
        if self.ready_replies.is_empty() && self.received_bytes.len() > MAX_LINE_BYTES {
            let detail = format!("one line of its reply has more than {MAX_LINE_BYTES} bytes");
            return Err(self.record_failure(Failure::new(
                self.recorder.phase(),
                FailureKind::ResponseTooLarge,
                detail,
            )));
        }
        Ok(())
    }

    /// Records `failure` for the client; suppaftp gets a generic error instead.
    fn record_failure(&mut self, failure: Failure) -> io::Error {
        self.has_failed = true;
        self.recorder.record_failure(failure);
        io::Error::other("the session has failed")
    }

    /// Sends the outgoing commands. Write errors are ignored: if the server closed, its last reply has the reason, and
    /// is read next.
    fn poll_flush_commands(
        &mut self,
        stream: &mut MaybeTlsStream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            match ready!(Pin::new(&mut *stream).poll_write(cx, &self.outgoing)) {
                Ok(written) if written > 0 => drop(self.outgoing.drain(..written)),
                _ => self.outgoing.clear(),
            }
        }
        let _ = ready!(Pin::new(stream).poll_flush(cx));
        Poll::Ready(Ok(()))
    }

    fn poll_read_reply(
        &mut self,
        stream: &mut MaybeTlsStream,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.ready_replies.is_empty() {
            if self.has_failed {
                return Poll::Ready(Err(io::Error::other("the session had failed before")));
            }
            self.parse_reply()?;
            if !self.ready_replies.is_empty() {
                break;
            }
            ready!(self.poll_flush_commands(stream, cx))?;
            let mut chunk = [0; 2048];
            let mut chunk = ReadBuf::new(&mut chunk);
            if let Err(error) = ready!(Pin::new(&mut *stream).poll_read(cx, &mut chunk)) {
                // A missing TLS shutdown counts as an end.
                if error.kind() != io::ErrorKind::UnexpectedEof {
                    return Poll::Ready(Err(self.record_failure(io_failure(self.recorder.phase(), &error))));
                }
            }
            if chunk.filled().is_empty() {
                let bytes = self.received_bytes.len() + self.reply_parser.pending_bytes();
                return Poll::Ready(Err(
                    self.record_failure(connection_closed_failure(self.recorder.phase(), bytes))
                ));
            }
            self.received_bytes.extend(chunk.filled());
        }
        let count = self.ready_replies.len().min(buffer.remaining());
        buffer.put_slice(&self.ready_replies[..count]);
        self.ready_replies.drain(..count);
        Poll::Ready(Ok(()))
    }
}

/// Converts `reply` to the single line that suppaftp parses. It requires a space after the code, `230` for any
/// successful login, and the exact RFC forms of the replies to EPSV and PASV.
fn normalize_reply(command: &str, reply: &FtpReply, phase: Phase) -> Result<String, Failure> {
    let text = &reply.text;
    Ok(match (command, reply.code) {
        ("EPSV", 229) => {
            let port = parse_epsv_reply(text).ok_or_else(|| missing_port_failure(command, reply, phase))?;
            format!("229 (|||{port}|)\r\n")
        }
        ("PASV", 227) => {
            let (address, port) =
                parse_pasv_reply(text).ok_or_else(|| missing_port_failure(command, reply, phase))?;
            let [a, b, c, d] = address.octets();
            format!("227 ({a},{b},{c},{d},{},{})\r\n", port >> 8, port & 255)
        }
        // 232: the certificate was enough (RFC 4217 10.1); 202: no password is needed; 200: some servers mean 230.
        ("USER" | "PASS", 200 | 202 | 232) => format!("230 {text}\r\n"),
        (_, code) => format!("{code} {text}\r\n"),
    })
}

fn missing_port_failure(command: &str, reply: &FtpReply, phase: Phase) -> Failure {
    let detail = format!("its reply to `{command}` contains no port: `{}`", reply.to_quoted());
    Failure::new(phase, FailureKind::ResponseInvalid, detail)
}

impl AsyncRead for FtpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, control } = self.get_mut();
        match control {
            Some(control) => control.poll_read_reply(stream, cx, buffer),
            None => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for FtpStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { stream, control } = self.get_mut();
        let Some(control) = control else { return Pin::new(stream).poll_write(cx, bytes) };
        if control.suppressed_commands > 0 {
            control.suppressed_commands -= 1;
            control.ready_replies.extend(b"200 \r\n");
            return Poll::Ready(Ok(bytes.len()));
        }
        // suppaftp writes a command in one piece, and reads the reply before the next one.
        let command = control
            .recorder
            .record_and_unmask_command(String::from_utf8_lossy(bytes).trim_end_matches(['\r', '\n']));
        control.outgoing.extend(command.as_bytes());
        control.outgoing.extend(b"\r\n");
        let _ = control.poll_flush_commands(stream, cx);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, control } = self.get_mut();
        match control {
            Some(control) => control.poll_flush_commands(stream, cx),
            None => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl TokioTlsStream for FtpStream {
    type InnerStream = MaybeTlsStream;

    /// Used to return to plain text (CCC), which no check does.
    fn tcp_stream(self) -> FtpResult<TcpStream> {
        Err(FtpError::SecureError("the connection is not given out".to_owned()))
    }

    fn get_ref(&self) -> &TcpStream {
        self.stream.tcp_stream()
    }

    fn mut_ref(&mut self) -> &mut MaybeTlsStream {
        &mut self.stream
    }
}
