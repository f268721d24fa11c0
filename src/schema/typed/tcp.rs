//! The settings of `tcp`.

use std::num::NonZeroU16;

use serde::Deserialize;

/// A TCP connection, with TLS and a dialogue when wanted.
#[derive(Clone, Debug, Deserialize)]
pub struct TcpSettings<'a> {
    /// The host that is checked.
    pub hostname: &'a str,
    /// Port that is connected to.
    pub port: NonZeroU16,
    /// Whether and when TLS begins.
    pub tls: TcpTlsMode,
    /// What is sent and has to come, in order.
    #[serde(borrow)]
    pub dialogue: Vec<DialogueStepSettings<'a>>,
}

/// Whether and when TLS begins on a connection.
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

/// A step of a dialogue.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct DialogueStepSettings<'a> {
    /// Text that is sent.
    pub send: Option<&'a str>,
    /// Regular expression that has to fit what comes.
    pub expect: Option<&'a str>,
}
