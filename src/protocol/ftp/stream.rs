//! The stream below suppaftp. On the control connection it goes by lines; on data connections it is as
//! TCP or TLS carries it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use suppaftp::tokio::TokioTlsStream;
use suppaftp::{FtpError, FtpResult};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::passive::{parse_epsv, parse_pasv};
use super::recorder::SessionRecorder;
use super::reply::{Reply, ReplyParser};
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{MaybeTlsStream, closed_failure, io_failure};

/// Bytes of one line of a reply.
const MAX_LINE_BYTES: usize = 8 * 1024;

/// What suppaftp takes for its TLS stream, whether there is TLS or not.
#[derive(Debug)]
pub struct FtpStream {
    stream: MaybeTlsStream,
    control: Option<Box<ControlChannel>>,
}

#[derive(Debug)]
struct ControlChannel {
    watch: SessionRecorder,
    replies: ReplyParser,
    /// Came and is no line yet.
    raw: Vec<u8>,
    /// Replies for suppaftp.
    ready: Vec<u8>,
    /// Commands for the server.
    outgoing: Vec<u8>,
    /// How many commands are answered here and go nowhere.
    suppressed_commands: u8,
    /// Whether nothing that comes is a reply any more.
    failed: bool,
}

impl FtpStream {
    /// A data connection.
    #[must_use]
    pub fn data(stream: MaybeTlsStream) -> Self {
        Self { stream, control: None }
    }

    /// The control connection after its opening, with what was `read_ahead`. suppaftp will say PBSZ and
    /// PROT, since it takes this for a stream that TLS was just begun on; without TLS they stay here.
    #[must_use]
    pub fn control(stream: MaybeTlsStream, read_ahead: Vec<u8>, watch: SessionRecorder) -> Self {
        let muted = if stream.is_tls() { 0 } else { 2 };
        let (ready, outgoing) = (Vec::new(), Vec::new());
        let control = ControlChannel {
            watch,
            replies: ReplyParser::default(),
            raw: read_ahead,
            ready,
            outgoing,
            suppressed_commands: muted,
            failed: false,
        };
        Self { stream, control: Some(Box::new(control)) }
    }
}

impl ControlChannel {
    /// Takes the lines of one reply out of what came; `ready` holds it once it is whole.
    fn parse_reply(&mut self) -> io::Result<()> {
        while self.ready.is_empty()
            && let Some(end) = self.raw.iter().position(|&byte| byte == b'\n')
        {
            let line = String::from_utf8_lossy(self.raw[..end].trim_ascii_end()).into_owned();
            self.watch.on_line(&line);
            let heard = self.replies.push_line(&line).map_err(|fault| fault.into_failure(self.watch.phase()));
            if let Some(reply) = heard.map_err(|failure| self.fail(failure))? {
                let asked = self.watch.last_command();
                let phase = self.watch.phase();
                self.watch.on_reply(reply.clone());
                let line = normalize_reply(&asked, &reply, phase).map_err(|failure| self.fail(failure))?;
                self.ready.extend(line.as_bytes());
            }
            self.raw.drain(..=end);
        }
        if self.ready.is_empty() && self.raw.len() > MAX_LINE_BYTES {
            let detail = format!("one line of its reply has more than {MAX_LINE_BYTES} bytes");
            return Err(self.fail(Failure::new(self.watch.phase(), FailureKind::ResponseTooLarge, detail)));
        }
        Ok(())
    }

    /// Keeps `failure`, which the client asks for; suppaftp gets an error in its place.
    fn fail(&mut self, failure: Failure) -> io::Error {
        self.failed = true;
        self.watch.record_failure(failure);
        io::Error::other("the session has failed")
    }

    /// Sends what is to be sent. A server that hung up is told by what it said last, which is yet to be
    /// read; so a write that fails is none here.
    fn flush_outgoing(&mut self, stream: &mut MaybeTlsStream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            match ready!(Pin::new(&mut *stream).poll_write(cx, &self.outgoing)) {
                Ok(taken) if taken > 0 => drop(self.outgoing.drain(..taken)),
                _ => self.outgoing.clear(),
            }
        }
        let _ = ready!(Pin::new(stream).poll_flush(cx));
        Poll::Ready(Ok(()))
    }

    fn read(
        &mut self,
        stream: &mut MaybeTlsStream,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.ready.is_empty() {
            if self.failed {
                return Poll::Ready(Err(io::Error::other("the session had failed before")));
            }
            self.parse_reply()?;
            if !self.ready.is_empty() {
                break;
            }
            ready!(self.flush_outgoing(stream, cx))?;
            let mut part = [0; 2048];
            let mut part = ReadBuf::new(&mut part);
            if let Err(error) = ready!(Pin::new(&mut *stream).poll_read(cx, &mut part)) {
                // A server that closes without a farewell of TLS has closed.
                if error.kind() != io::ErrorKind::UnexpectedEof {
                    return Poll::Ready(Err(self.fail(io_failure(self.watch.phase(), &error))));
                }
            }
            if part.filled().is_empty() {
                let bytes = self.raw.len() + self.replies.pending_bytes();
                return Poll::Ready(Err(self.fail(closed_failure(self.watch.phase(), bytes))));
            }
            self.raw.extend(part.filled());
        }
        let count = self.ready.len().min(buffer.remaining());
        buffer.put_slice(&self.ready[..count]);
        self.ready.drain(..count);
        Poll::Ready(Ok(()))
    }
}

/// `reply` to `asked` as the one line that suppaftp takes at its word. It wants a blank behind the code, `230`
/// for any login that worked, and the answers to EPSV and PASV in the very form of the RFCs.
fn normalize_reply(asked: &str, reply: &Reply, phase: Phase) -> Result<String, Failure> {
    let text = &reply.text;
    Ok(match (asked, reply.code) {
        ("EPSV", 229) => {
            let port = parse_epsv(text).ok_or_else(|| missing_port_failure(asked, reply, phase))?;
            format!("229 (|||{port}|)\r\n")
        }
        ("PASV", 227) => {
            let (address, port) =
                parse_pasv(text).ok_or_else(|| missing_port_failure(asked, reply, phase))?;
            let [a, b, c, d] = address.octets();
            format!("227 ({a},{b},{c},{d},{},{})\r\n", port >> 8, port & 255)
        }
        // 232: the certificate was enough (RFC 4217 10.1); 202: no password is needed.
        ("USER" | "PASS", 202 | 232) => format!("230 {text}\r\n"),
        (_, code) => format!("{code} {text}\r\n"),
    })
}

fn missing_port_failure(asked: &str, reply: &Reply, phase: Phase) -> Failure {
    let detail = format!("its answer to `{asked}` names no port: `{}`", reply.to_quoted());
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
            Some(control) => control.read(stream, cx, buffer),
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
            control.ready.extend(b"200 \r\n");
            return Poll::Ready(Ok(bytes.len()));
        }
        // suppaftp writes a command at once, and never a second one before it has read the reply.
        let reply = control.watch.on_command(String::from_utf8_lossy(bytes).trim_end_matches(['\r', '\n']));
        control.outgoing.extend(reply.as_bytes());
        control.outgoing.extend(b"\r\n");
        let _ = control.flush_outgoing(stream, cx);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, control } = self.get_mut();
        match control {
            Some(control) => control.flush_outgoing(stream, cx),
            None => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl TokioTlsStream for FtpStream {
    type InnerStream = MaybeTlsStream;

    /// Asked for to go back to plain text (CCC), which no check does.
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
