//! What a session with a mail or FTP server told. Every name here is unique over all protocols: facts are
//! flattened into one object, and a required field says whose they are.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Of a session by SMTP, POP3 or IMAP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailFacts {
    /// First line of the greeting, as the server said it; cut to 200 characters.
    pub mail_banner: String,
    /// What the server offers (EHLO, CAPA, CAPABILITY), as it stood at the end of the session: after TLS
    /// when there was TLS. At most 50 words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mail_offers: Vec<String>,
    /// How the login was done: `plain`, `login`, `cram-md5`, `xoauth2`, `apop`, `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_auth: Option<String>,
    /// Whether a password, or what it can be read from, went out without TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub password_in_clear: bool,
    /// Messages in the mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mailbox_messages: Option<u64>,
    /// Bytes in the mailbox (POP3 STAT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mailbox_bytes: Option<u64>,
}

/// Of one message's way out by SMTP and back by POP3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTripFacts {
    /// Message-ID of the message that was sent.
    pub message_id: String,
    /// Times that the mailbox was looked at.
    pub mailbox_polls: u32,
    /// Times that the mailbox was locked by somebody else.
    #[serde(default)]
    pub mailbox_locked: u32,
    /// Own messages of earlier checks, older than a day, that were deleted.
    #[serde(default)]
    pub swept: u32,
    /// From the connection to the SMTP server until it took the message, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trip_send_us: Option<u64>,
    /// From then until the message was seen in the mailbox, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trip_transit_us: Option<u64>,
    /// Reading and deleting it, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trip_fetch_us: Option<u64>,
}

/// Of a session by FTP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FtpFacts {
    /// First line of the greeting, as the server said it; cut to 200 characters.
    pub ftp_banner: String,
    /// `EPSV` or `PASV`, whichever opened the data connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_passive: Option<String>,
    /// Peer of the last data connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_data_address: Option<SocketAddr>,
    /// Entries of the list, as far as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_listed: Option<u64>,
    /// Bytes of the file that went there and came back the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_uploaded_bytes: Option<u64>,
    /// Whether the TLS session of the control connection was taken up again for data; none without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_session_reused: Option<bool>,
    /// Whether a password went out without TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ftp_password_in_clear: bool,
}
