//! Asking a plain-text server to go on with TLS.

use tokio::io::{AsyncRead, AsyncWrite};

use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{Deadline, read_line, read_to_len, write_all};

/// Bytes of one reply line (RFC 5321 4.5.3.1.5 says 512; some servers are more talkative).
const LINE: usize = 4096;
/// Lines of one reply.
const LINES: usize = 100;

/// Why a server did not go on with TLS.
#[derive(Clone, Debug, PartialEq)]
pub enum NoTls {
    /// Its list of extensions has no STARTTLS.
    NotOffered,
    /// The exchange failed, or the server refused.
    Failed(Failure),
}

impl From<Failure> for NoTls {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NoTls> for Failure {
    fn from(reason: NoTls) -> Self {
        match reason {
            NoTls::NotOffered => unexpected("it offers no STARTTLS"),
            NoTls::Failed(failure) => failure,
        }
    }
}

/// The protocols whose servers can be asked (fields.md 2, tcp `tls`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
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

impl Upgrade {
    /// The protocol that a value such as `starttls-smtp` names.
    #[must_use]
    pub fn of_field(value: &str) -> Option<Self> {
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

/// Waits for the greeting, where the protocol has one, and asks for TLS. On success the next byte on
/// `stream` is the client's hello. Bytes that came too early are refused: they would be taken for
/// encrypted ones (CVE-2011-0411).
pub async fn request<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    upgrade: Upgrade,
    deadline: Deadline,
) -> Result<(), NoTls> {
    let mut talk = Talk { stream, deadline, buffer: Vec::new() };
    match upgrade {
        Upgrade::Smtp => {
            talk.reply("220").await?;
            talk.say(b"EHLO localhost\r\n").await?;
            let offers = talk.reply("250").await?;
            let offered =
                |line: &String| line.get(4..).is_some_and(|word| word.eq_ignore_ascii_case("STARTTLS"));
            if !offers.iter().any(offered) {
                return Err(NoTls::NotOffered);
            }
            talk.say(b"STARTTLS\r\n").await?;
            talk.reply("220").await?;
        }
        Upgrade::Imap => {
            talk.line("* OK").await?;
            talk.say(b"a STARTTLS\r\n").await?;
            talk.tagged("a ", "a OK").await?;
        }
        Upgrade::Pop3 => {
            talk.line("+OK").await?;
            talk.say(b"STLS\r\n").await?;
            talk.line("+OK").await?;
        }
        Upgrade::Ftp => {
            talk.reply("220").await?;
            talk.say(b"AUTH TLS\r\n").await?;
            talk.reply("234").await?;
        }
        Upgrade::Postgres => {
            talk.say(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]).await?;
            read_to_len(talk.stream, &mut talk.buffer, 1, deadline, Phase::FirstByte).await?;
            if talk.buffer.pop() != Some(b'S') {
                return Err(unexpected("it does not take SSLRequest").into());
            }
        }
    }
    if !talk.buffer.is_empty() {
        return Err(unexpected("it sent more before the TLS handshake").into());
    }
    Ok(())
}

struct Talk<'a, S> {
    stream: &'a mut S,
    deadline: Deadline,
    buffer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Talk<'_, S> {
    async fn say(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        write_all(self.stream, bytes, self.deadline).await
    }

    async fn next(&mut self) -> Result<String, Failure> {
        let line = read_line(self.stream, &mut self.buffer, LINE, self.deadline, Phase::FirstByte).await?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    async fn line(&mut self, start: &str) -> Result<(), Failure> {
        let line = self.next().await?;
        if starts(&line, start) { Ok(()) } else { Err(said(&line, start)) }
    }

    /// The line with our tag, after any number of untagged ones.
    async fn tagged(&mut self, tag: &str, good: &str) -> Result<(), Failure> {
        for _ in 0..LINES {
            let line = self.next().await?;
            if starts(&line, tag) {
                return if starts(&line, good) { Ok(()) } else { Err(said(&line, good)) };
            }
        }
        Err(unexpected("its answer does not end"))
    }

    /// A reply of one or more lines that begin with `code` (RFC 5321 4.2.1, RFC 959 4.2).
    async fn reply(&mut self, code: &str) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        while lines.len() < LINES {
            let line = self.next().await?;
            let last = line.starts_with(code) && line.as_bytes().get(3) != Some(&b'-');
            if lines.is_empty() && !line.starts_with(code) {
                return Err(said(&line, code));
            }
            lines.push(line);
            if last {
                return Ok(lines);
            }
        }
        Err(unexpected("its answer does not end"))
    }
}

fn starts(line: &str, with: &str) -> bool {
    line.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

fn said(line: &str, wanted: &str) -> Failure {
    let start: String = line.chars().take(80).collect();
    unexpected(&format!("expected `{wanted}`, it said `{}`", start.escape_debug()))
}

fn unexpected(detail: &str) -> Failure {
    Failure::new(Phase::FirstByte, FailureKind::DialogueUnexpected, detail)
}
