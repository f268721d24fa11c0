//! A stream below the IMAP library that enforces limits: it returns whole lines of limited length, and logs the
//! dialogue.

use crate::sync::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{MaybeTlsStream, connection_closed_failure};
use crate::syntax::MASK;

/// Longest line, in bytes.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// Longest input in total, in bytes.
const MAX_SESSION_BYTES: usize = 256 * 1024;
/// Maximum number of lines. No requested response has a hundred.
const MAX_LINES: usize = 1000;
/// Longest literal, in bytes. No requested response needs literals, and the library allocates the announced length at
/// once.
const MAX_LITERAL_BYTES: usize = 4 * 1024;
/// Maximum nesting of lists. The library parses them recursively, and deep nesting would crash the process.
const MAX_LIST_DEPTH: usize = 16;

/// The dialogue of a session.
#[derive(Debug)]
pub(super) struct DialogueLog {
    /// The current phase.
    pub(super) phase: Phase,
    /// The last received line.
    pub(super) last_received_line: String,
    /// Lines not yet moved to the transcript: whether each was sent, and its text.
    pub(super) pending_lines: Vec<(bool, String)>,
    /// The texts sent in the login phase.
    pub(super) secrets: Vec<String>,
}

/// A [`DialogueLog`] shared by the stream and its readers.
#[derive(Clone, Debug)]
pub(super) struct SharedLog(Arc<Mutex<DialogueLog>>);

impl SharedLog {
    pub(super) fn new(phase: Phase) -> Self {
        let log = DialogueLog {
            phase,
            last_received_line: String::new(),
            pending_lines: Vec::new(),
            secrets: Vec::new(),
        };
        Self(Arc::new(Mutex::new(log)))
    }

    pub(super) fn lock_with<T>(&self, access: impl FnOnce(&mut DialogueLog) -> T) -> T {
        access(&mut self.0.lock())
    }
}

/// The stream that the IMAP library reads from and writes to.
#[derive(Debug)]
pub(super) struct BoundedStream {
    stream: MaybeTlsStream,
    log: SharedLog,
    /// Received bytes that were not returned yet.
    incoming: Vec<u8>,
    /// Length of the prefix of `incoming` that may be returned: whole lines.
    ready_bytes: usize,
    received_bytes: usize,
    line_count: usize,
    /// Whether the server has said `BYE` before the logout. It says nothing more (RFC 9051 7.1.5), and some leave the
    /// connection open.
    has_received_bye: bool,
    /// Bytes of the next flush. The library writes a line in four parts, each of which would be a packet.
    outgoing: Vec<u8>,
    /// Whether the outgoing bytes were logged already.
    is_outgoing_logged: bool,
}

impl BoundedStream {
    /// Wraps `stream`, from which `read_ahead` was already read.
    pub(super) fn new(stream: MaybeTlsStream, read_ahead: Vec<u8>, log: SharedLog) -> Self {
        Self {
            stream,
            log,
            incoming: read_ahead,
            ready_bytes: 0,
            received_bytes: 0,
            line_count: 0,
            has_received_bye: false,
            outgoing: Vec::new(),
            is_outgoing_logged: true,
        }
    }

    /// Lets the library read the next line, if it is complete and within the limits.
    fn release_next_line(&mut self) -> io::Result<()> {
        let phase = self.log.lock_with(|log| log.phase);
        let fail = |kind, detail: String| Err(io::Error::other(Failure::new(phase, kind, detail)));
        let Some(end) = self.incoming.iter().position(|&byte| byte == b'\n') else {
            if self.incoming.len() >= MAX_LINE_BYTES {
                return fail(
                    FailureKind::ResponseTooLarge,
                    format!("a line has more than {MAX_LINE_BYTES} bytes"),
                );
            }
            return Ok(());
        };
        self.ready_bytes = end + 1;
        self.received_bytes += self.ready_bytes;
        self.line_count += 1;
        let is_bye = self.incoming.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"* BYE"));
        self.has_received_bye |= is_bye && phase != Phase::Quit;
        let text = String::from_utf8_lossy(&self.incoming[..end]);
        let text = text.strip_suffix('\r').unwrap_or(&text).to_owned();
        self.log.lock_with(|log| {
            text.clone_into(&mut log.last_received_line);
            log.pending_lines.push((false, text.clone()));
        });
        if self.ready_bytes > MAX_LINE_BYTES {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("a line has more than {MAX_LINE_BYTES} bytes"),
            );
        }
        if self.received_bytes > MAX_SESSION_BYTES {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("its responses have more than {MAX_SESSION_BYTES} bytes"),
            );
        }
        if self.line_count > MAX_LINES {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("its answers have more than {MAX_LINES} lines"),
            );
        }
        if announced_literal_bytes(&text).is_some_and(|bytes| bytes > MAX_LITERAL_BYTES) {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("it announces a text that is too long: `{text}`"),
            );
        }
        if max_list_depth(&text) > MAX_LIST_DEPTH {
            return fail(FailureKind::ResponseInvalid, "lists in it are nested too deep".to_owned());
        }
        Ok(())
    }

    /// Logs the outgoing lines. In the login phase only the command is shown.
    fn log_outgoing(&self) {
        for line in String::from_utf8_lossy(&self.outgoing).lines() {
            self.log.lock_with(|log| {
                let is_login = log.phase == Phase::Auth;
                let text = if is_login { redact_login_line(line, &mut log.secrets) } else { line.to_owned() };
                log.pending_lines.push((true, text));
            });
        }
    }
}

/// Redacts a line of the login, except for tag, command and mechanism. Adds what it masks to `secrets`.
fn redact_login_line(line: &str, secrets: &mut Vec<String>) -> String {
    let words: Vec<&str> = line.splitn(3, ' ').collect();
    match words.as_slice() {
        [_, "AUTHENTICATE", _] | [] | [""] => line.to_owned(),
        [tag, "LOGIN", rest] => {
            secrets.push((*rest).to_owned());
            format!("{tag} LOGIN {MASK}")
        }
        _ => {
            secrets.push(line.to_owned());
            MASK.to_owned()
        }
    }
}

/// Returns the length of the literal that `line` announces at its end (RFC 9051 4.3).
fn announced_literal_bytes(line: &str) -> Option<usize> {
    let (_, count) = line.strip_suffix('}')?.rsplit_once('{')?;
    let digits = count.trim_end_matches('+');
    // A number that overflows is too long in any case.
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(usize::MAX))
}

fn max_list_depth(line: &str) -> usize {
    let step = |(depth, max): (usize, usize), byte: u8| match byte {
        b'(' => (depth + 1, max.max(depth + 1)),
        b')' => (depth.saturating_sub(1), max),
        _ => (depth, max),
    };
    line.bytes().fold((0, 0), step).1
}

impl AsyncRead for BoundedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.ready_bytes > 0 {
                let count = this.ready_bytes.min(buffer.remaining());
                buffer.put_slice(&this.incoming[..count]);
                this.incoming.drain(..count);
                this.ready_bytes -= count;
                return Poll::Ready(Ok(()));
            }
            this.release_next_line()?;
            if this.ready_bytes > 0 {
                continue;
            }
            if this.has_received_bye {
                return Poll::Ready(Ok(()));
            }
            let mut buf = [0; 4096];
            let mut chunk = ReadBuf::new(&mut buf);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut chunk))?;
            if chunk.filled().is_empty() {
                if this.incoming.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let phase = this.log.lock_with(|log| log.phase);
                return Poll::Ready(Err(io::Error::other(connection_closed_failure(
                    phase,
                    this.incoming.len(),
                ))));
            }
            this.incoming.extend_from_slice(chunk.filled());
        }
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // Only our own lines are sent, and none is longer than a name and a password.
        this.outgoing.extend_from_slice(bytes);
        this.is_outgoing_logged = false;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.is_outgoing_logged {
            this.log_outgoing();
            this.is_outgoing_logged = true;
        }
        while !this.outgoing.is_empty() {
            let count = ready!(Pin::new(&mut this.stream).poll_write(cx, &this.outgoing))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            this.outgoing.drain(..count);
        }
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_nesting_are_detected_by_line() {
        for (line, bytes) in [
            ("* 1 FETCH (BODY[] {12}", Some(12)),
            ("* x {3+}", Some(3)),
            ("* x {99999999999999999999999}", Some(usize::MAX)),
            ("* x {}", Some(usize::MAX)),
            ("* x {a}", None),
            ("* x }", None),
            ("* OK done", None),
        ] {
            assert_eq!(announced_literal_bytes(line), bytes, "{line}");
        }
        assert_eq!(max_list_depth("((a)(b(c)))"), 3);
        assert_eq!(max_list_depth(")))(("), 2);
    }

    #[test]
    fn a_login_is_redacted_except_for_its_command() {
        let mut secrets = Vec::new();
        let mut masked = |line: &str| redact_login_line(line, &mut secrets);
        assert_eq!(masked("A1 LOGIN \"tim\" \"s3cret\""), "A1 LOGIN ********");
        assert_eq!(masked("A1 AUTHENTICATE CRAM-MD5"), "A1 AUTHENTICATE CRAM-MD5");
        assert_eq!(masked("AHRpbQBzM2NyZXQ="), "********");
        assert_eq!(masked("a b c"), "********");
        assert_eq!(masked(""), "");
        assert_eq!(secrets, ["\"tim\" \"s3cret\"", "AHRpbQBzM2NyZXQ=", "a b c"]);
    }
}
