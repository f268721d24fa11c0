//! Asks a plain-text server to start TLS; the caller then runs the handshake.

use tokio::io::{AsyncRead, AsyncWrite};

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{Deadline, read_line, read_to_len, write_all};

/// Longest reply line in bytes (RFC 5321 4.5.3.1.5 allows 512; some servers send more).
const MAX_LINE_BYTES: usize = 4096;
/// Maximum number of lines of one reply.
const MAX_REPLY_LINES: usize = 100;

/// Why TLS was not started.
#[derive(Clone, Debug, PartialEq)]
pub enum StartTlsError {
    /// STARTTLS is not among the server's extensions.
    NotOffered,
    /// The exchange failed, or the server refused.
    Failed(Failure),
}

impl From<Failure> for StartTlsError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StartTlsError> for Failure {
    fn from(error: StartTlsError) -> Self {
        match error {
            StartTlsError::NotOffered => unexpected_reply_failure("it offers no STARTTLS"),
            StartTlsError::Failed(failure) => failure,
        }
    }
}

/// The supported protocols (fields.md 2, tcp `tls`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTlsProtocol {
    /// `STARTTLS` of RFC 3207.
    Smtp,
    /// `STARTTLS` of RFC 9051 6.2.1.
    Imap,
    /// `STLS` of RFC 2595 4.
    Pop3,
    /// `AUTH TLS` of RFC 4217 4.
    Ftp,
    /// `SSLRequest` of the PostgreSQL protocol, version 3.
    Postgres,
}

impl StartTlsProtocol {
    /// Returns the protocol of a value such as `starttls-smtp`.
    #[must_use]
    pub fn from_field(value: &str) -> Option<Self> {
        Some(match value {
            "starttls-smtp" => Self::Smtp,
            "starttls-imap" => Self::Imap,
            "starttls-pop3" => Self::Pop3,
            "starttls-ftp" => Self::Ftp,
            "starttls-postgres" => Self::Postgres,
            _ => return None,
        })
    }
}

/// Waits for the greeting, if the protocol has one, and requests TLS. On success, the client hello must be sent next on
/// `stream`. Fails when bytes were received too early, since they would be mistaken for encrypted ones (CVE-2011-0411).
pub async fn request_tls<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    protocol: StartTlsProtocol,
    deadline: Deadline,
) -> Result<(), StartTlsError> {
    let mut session = StartTlsSession { stream, deadline, buffer: Vec::new() };
    match protocol {
        StartTlsProtocol::Smtp => {
            session.expect_reply("220").await?;
            session.send(b"EHLO localhost\r\n").await?;
            let ehlo_lines = session.expect_reply("250").await?;
            let is_starttls =
                |line: &String| line.get(4..).is_some_and(|word| word.eq_ignore_ascii_case("STARTTLS"));
            if !ehlo_lines.iter().any(is_starttls) {
                return Err(StartTlsError::NotOffered);
            }
            session.send(b"STARTTLS\r\n").await?;
            session.expect_reply("220").await?;
        }
        StartTlsProtocol::Imap => {
            session.expect_line("* OK").await?;
            session.send(b"a STARTTLS\r\n").await?;
            session.expect_tagged_reply("a ", "a OK").await?;
        }
        StartTlsProtocol::Pop3 => {
            session.expect_line("+OK").await?;
            session.send(b"STLS\r\n").await?;
            session.expect_line("+OK").await?;
        }
        StartTlsProtocol::Ftp => {
            session.expect_reply("220").await?;
            session.send(b"AUTH TLS\r\n").await?;
            session.expect_reply("234").await?;
        }
        StartTlsProtocol::Postgres => {
            // SSLRequest: its length, 8, and its code, 80877103.
            session.send(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]).await?;
            read_to_len(session.stream, &mut session.buffer, 1, deadline, Phase::FirstByte).await?;
            if session.buffer.pop() != Some(b'S') {
                return Err(unexpected_reply_failure("it refused SSLRequest").into());
            }
        }
    }
    if !session.buffer.is_empty() {
        return Err(unexpected_reply_failure("it sent more before the TLS handshake").into());
    }
    Ok(())
}

struct StartTlsSession<'a, S> {
    stream: &'a mut S,
    deadline: Deadline,
    /// Bytes that were received but not read as a line yet.
    buffer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> StartTlsSession<'_, S> {
    async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        write_all(self.stream, bytes, self.deadline).await
    }

    async fn read_line(&mut self) -> Result<String, Failure> {
        let line =
            read_line(self.stream, &mut self.buffer, MAX_LINE_BYTES, self.deadline, Phase::FirstByte).await?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    async fn expect_line(&mut self, expected_prefix: &str) -> Result<(), Failure> {
        let line = self.read_line().await?;
        if starts_with_ignore_case(&line, expected_prefix) {
            Ok(())
        } else {
            Err(unexpected_line_failure(&line, expected_prefix))
        }
    }

    /// Reads the line with our tag, after any number of untagged ones.
    async fn expect_tagged_reply(&mut self, tag: &str, expected_prefix: &str) -> Result<(), Failure> {
        for _ in 0..MAX_REPLY_LINES {
            let line = self.read_line().await?;
            if starts_with_ignore_case(&line, tag) {
                return if starts_with_ignore_case(&line, expected_prefix) {
                    Ok(())
                } else {
                    Err(unexpected_line_failure(&line, expected_prefix))
                };
            }
        }
        Err(unexpected_reply_failure("its reply does not end"))
    }

    /// Reads a reply of one or more lines that start with `code` (RFC 5321 4.2.1, RFC 959 4.2).
    async fn expect_reply(&mut self, code: &str) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        while lines.len() < MAX_REPLY_LINES {
            let line = self.read_line().await?;
            let is_last = line.starts_with(code) && line.as_bytes().get(3) != Some(&b'-');
            if lines.is_empty() && !line.starts_with(code) {
                return Err(unexpected_line_failure(&line, code));
            }
            lines.push(line);
            if is_last {
                return Ok(lines);
            }
        }
        Err(unexpected_reply_failure("its reply does not end"))
    }
}

fn starts_with_ignore_case(line: &str, prefix: &str) -> bool {
    line.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn unexpected_line_failure(line: &str, expected: &str) -> Failure {
    let quoted_start: String = line.chars().take(80).collect();
    unexpected_reply_failure(&format!("expected `{expected}`, got `{}`", quoted_start.escape_debug()))
}

fn unexpected_reply_failure(detail: &str) -> Failure {
    Failure::new(Phase::FirstByte, FailureKind::UnexpectedReply, detail)
}
