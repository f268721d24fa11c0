//! The settings of `tcp`.

use std::num::NonZeroU16;

use serde::Deserialize;

/// A TCP connection, optionally with TLS and a dialogue.
#[derive(Clone, Debug, Deserialize)]
pub struct TcpSettings<'a> {
    /// The host that is checked.
    pub hostname: &'a str,
    /// Port to connect to.
    pub port: NonZeroU16,
    /// Whether and when TLS starts.
    pub tls: TcpTlsMode,
    /// Dialogue lines, in order.
    #[serde(borrow)]
    pub dialogue: Vec<DialogueLineSettings<'a>>,
}

/// Whether and when TLS starts on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpTlsMode {
    /// Never.
    None,
    /// At once.
    Implicit,
    /// After STARTTLS of SMTP.
    StarttlsSmtp,
    /// After STARTTLS of IMAP.
    StarttlsImap,
    /// After STLS of POP3.
    StarttlsPop3,
    /// After AUTH TLS of FTP.
    StarttlsFtp,
    /// After the SSL request of PostgreSQL.
    StarttlsPostgres,
}

/// A line of a dialogue.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct DialogueLineSettings<'a> {
    /// Text to send.
    pub send: Option<&'a str>,
    /// Regular expression that the reply must match.
    pub expect: Option<&'a str>,
}
