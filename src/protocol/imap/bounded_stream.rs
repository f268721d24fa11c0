//! A stream that keeps a library within bounds: it hands out whole lines of a bounded length, and tells
//! what was said.

use crate::sync::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{MaybeTlsStream, closed_failure};
use crate::syntax::MASK;

/// Bytes of one line.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// Bytes of all lines together.
const MAX_TOTAL_BYTES: usize = 256 * 1024;
/// Lines in all. Nothing that is asked for has a hundred.
const MAX_LINES: usize = 1000;
/// Bytes of a literal. Nothing that is asked for is told in one, and the library sets aside at once what a
/// literal announces.
const MAX_LITERAL_BYTES: usize = 4 * 1024;
/// Lists within lists. The library reads them by calling itself, and a deep one would end the process.
const MAX_LIST_DEPTH: usize = 16;

/// What a session said and heard.
#[derive(Debug)]
pub(super) struct DialogueLog {
    /// The phase that it is in.
    pub(super) phase: Phase,
    /// The last line that came.
    pub(super) last: String,
    /// Lines since they were taken: whether they were sent, and what was said.
    pub(super) lines: Vec<(bool, String)>,
    /// What went out in the phase of the login, word by word.
    pub(super) secrets: Vec<String>,
}

/// [`DialogueLog`] as the stream and those who read it share it.
#[derive(Clone, Debug)]
pub(super) struct SharedLog(Arc<Mutex<DialogueLog>>);

impl SharedLog {
    pub(super) fn new(phase: Phase) -> Self {
        let log = DialogueLog { phase, last: String::new(), lines: Vec::new(), secrets: Vec::new() };
        Self(Arc::new(Mutex::new(log)))
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut DialogueLog) -> T) -> T {
        work(&mut self.0.lock())
    }
}

/// The stream itself.
#[derive(Debug)]
pub(super) struct BoundedStream {
    stream: MaybeTlsStream,
    talk: SharedLog,
    /// What came and was not handed out.
    incoming: Vec<u8>,
    /// Bytes at the start of `came` that may be handed out: whole lines.
    ready: usize,
    heard: usize,
    lines: usize,
    /// What goes out with the next flush. The library writes a line in four pieces, each of which would be
    /// a packet of its own.
    outgoing: Vec<u8>,
    /// Whether that was told already.
    outgoing_logged: bool,
}

impl BoundedStream {
    /// Goes on with `stream`, of which `came` was read already.
    pub(super) fn new(stream: MaybeTlsStream, came: Vec<u8>, talk: SharedLog) -> Self {
        Self {
            stream,
            talk,
            incoming: came,
            ready: 0,
            heard: 0,
            lines: 0,
            outgoing: Vec::new(),
            outgoing_logged: true,
        }
    }

    /// Makes the next line ready, if it is whole.
    fn next_line(&mut self) -> io::Result<()> {
        let phase = self.talk.with(|log| log.phase);
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
        self.ready = end + 1;
        self.heard += self.ready;
        self.lines += 1;
        let text = String::from_utf8_lossy(&self.incoming[..end]);
        let text = text.strip_suffix('\r').unwrap_or(&text).to_owned();
        self.talk.with(|log| {
            text.clone_into(&mut log.last);
            log.lines.push((false, text.clone()));
        });
        if self.ready > MAX_LINE_BYTES {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("a line has more than {MAX_LINE_BYTES} bytes"),
            );
        }
        if self.heard > MAX_TOTAL_BYTES {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("its answers have more than {MAX_TOTAL_BYTES} bytes"),
            );
        }
        if self.lines > MAX_LINES {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("its answers have more than {MAX_LINES} lines"),
            );
        }
        if announced_literal(&text).is_some_and(|bytes| bytes > MAX_LITERAL_BYTES) {
            return fail(
                FailureKind::ResponseTooLarge,
                format!("it announces a text that is too long: `{text}`"),
            );
        }
        if list_depth(&text) > MAX_LIST_DEPTH {
            return fail(FailureKind::ResponseInvalid, "lists in it are nested too deep".to_owned());
        }
        Ok(())
    }

    /// Notes what goes out now. In the phase of the login only the first words are shown.
    fn log_outgoing(&self) {
        for line in String::from_utf8_lossy(&self.outgoing).lines() {
            self.talk.with(|log| {
                let is_login = log.phase == Phase::Auth;
                let text = if is_login { mask_login(line, &mut log.secrets) } else { line.to_owned() };
                log.lines.push((true, text));
            });
        }
    }
}

/// A line of the login: tag, command, and the name of a mechanism, which is no secret.
fn mask_login(line: &str, secrets: &mut Vec<String>) -> String {
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

/// Bytes of the literal that `line` announces at its end (RFC 9051 4.3).
fn announced_literal(line: &str) -> Option<usize> {
    let (_, count) = line.strip_suffix('}')?.rsplit_once('{')?;
    let digits = count.trim_end_matches('+');
    // One that no number can hold is too long as well.
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(usize::MAX))
}

fn list_depth(line: &str) -> usize {
    let step = |(now, max): (usize, usize), byte: u8| match byte {
        b'(' => (now + 1, max.max(now + 1)),
        b')' => (now.saturating_sub(1), max),
        _ => (now, max),
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
            if this.ready > 0 {
                let count = this.ready.min(buffer.remaining());
                buffer.put_slice(&this.incoming[..count]);
                this.incoming.drain(..count);
                this.ready -= count;
                return Poll::Ready(Ok(()));
            }
            this.next_line()?;
            if this.ready > 0 {
                continue;
            }
            let mut space = [0; 4096];
            let mut part = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut part))?;
            if part.filled().is_empty() {
                if this.incoming.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let phase = this.talk.with(|log| log.phase);
                return Poll::Ready(Err(io::Error::other(closed_failure(phase, this.incoming.len()))));
            }
            this.incoming.extend_from_slice(part.filled());
        }
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // Lines of ours alone go out, and none is longer than a name and a password.
        this.outgoing.extend_from_slice(bytes);
        this.outgoing_logged = false;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.outgoing_logged {
            this.log_outgoing();
            this.outgoing_logged = true;
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
    fn literals_and_nesting_are_known_by_their_line() {
        for (line, bytes) in [
            ("* 1 FETCH (BODY[] {12}", Some(12)),
            ("* x {3+}", Some(3)),
            ("* x {99999999999999999999999}", Some(usize::MAX)),
            ("* x {}", Some(usize::MAX)),
            ("* x {a}", None),
            ("* x }", None),
            ("* OK done", None),
        ] {
            assert_eq!(announced_literal(line), bytes, "{line}");
        }
        assert_eq!(list_depth("((a)(b(c)))"), 3);
        assert_eq!(list_depth(")))(("), 2);
    }

    #[test]
    fn a_login_shows_its_command_alone() {
        let mut secrets = Vec::new();
        let mut shown = |line: &str| mask_login(line, &mut secrets);
        assert_eq!(shown("A1 LOGIN \"tim\" \"s3cret\""), "A1 LOGIN ********");
        assert_eq!(shown("A1 AUTHENTICATE CRAM-MD5"), "A1 AUTHENTICATE CRAM-MD5");
        assert_eq!(shown("AHRpbQBzM2NyZXQ="), "********");
        assert_eq!(shown("a b c"), "********");
        assert_eq!(shown(""), "");
        assert_eq!(secrets, ["\"tim\" \"s3cret\"", "AHRpbQBzM2NyZXQ=", "a b c"]);
    }
}
