//! Facts of sessions with mail and FTP servers. Every field name here is unique over all protocols: facts are flattened
//! into one object, and a required field identifies the protocol.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Facts of a session by SMTP, POP3 or IMAP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailFacts {
    /// First line of the server's greeting; truncated to 200 characters.
    pub mail_banner: String,
    /// Capabilities of the server (EHLO, CAPA, CAPABILITY) at the end of the session: after TLS when there was TLS. At
    /// most 50 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "mail_offers")]
    pub mail_capabilities: Vec<String>,
    /// Login method: `plain`, `login`, `cram-md5`, `xoauth2`, `apop`, `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "mail_auth")]
    pub mail_auth_method: Option<String>,
    /// Whether a password, or something that reveals it, was sent without TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "password_in_clear")]
    pub sent_password_in_cleartext: bool,
    /// Messages in the mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mailbox_messages: Option<u64>,
    /// Bytes in the mailbox (POP3 STAT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mailbox_bytes: Option<u64>,
}

/// Facts of the round trip of one message, out by SMTP and back by POP3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTripFacts {
    /// Message-ID of the message that was sent.
    pub message_id: String,
    /// Number of times the mailbox was polled.
    pub mailbox_polls: u32,
    /// Number of times the mailbox was locked by another session.
    #[serde(default)]
    #[serde(rename = "mailbox_locked")]
    pub mailbox_locked_count: u32,
    /// Number of Vigie's messages of earlier checks, older than a day, that were deleted.
    #[serde(default)]
    #[serde(rename = "swept")]
    pub deleted_stale_messages: u32,
    /// From the connection to the SMTP server until it accepted the message, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "trip_send_us")]
    pub round_trip_send_us: Option<u64>,
    /// From then until the message appeared in the mailbox, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "trip_transit_us")]
    pub round_trip_transit_us: Option<u64>,
    /// Reading and deleting the message, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "trip_fetch_us")]
    pub round_trip_fetch_us: Option<u64>,
}

/// Facts of a session by FTP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FtpFacts {
    /// First line of the server's greeting; truncated to 200 characters.
    pub ftp_banner: String,
    /// `EPSV` or `PASV`, whichever opened the data connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ftp_passive")]
    pub ftp_passive_command: Option<String>,
    /// Address of the peer of the last data connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_data_address: Option<SocketAddr>,
    /// Number of entries in the listing, as far as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ftp_listed")]
    pub ftp_listed_entries: Option<u64>,
    /// Size of the file that was uploaded and came back identical, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_uploaded_bytes: Option<u64>,
    /// Whether the TLS session of the control connection was resumed for data; `None` without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ftp_session_reused")]
    pub ftp_tls_session_resumed: Option<bool>,
    /// Whether a password was sent without TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "ftp_password_in_clear")]
    pub ftp_sent_password_in_cleartext: bool,
}
