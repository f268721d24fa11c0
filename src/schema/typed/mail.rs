//! The settings of `email-imap`, `email-pop`, `email-smtp` and `email-round-trip`.

use serde::Deserialize;

/// Security of a session: for every mail type.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct MailSessionSettings {
    /// Whether it is an error when the server offers no TLS.
    pub require_tls: bool,
    /// How to log in.
    pub auth_method: AuthMethod,
}

/// How to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthMethod {
    /// The best mechanism that the server offers.
    Auto,
    /// PLAIN.
    Plain,
    /// LOGIN.
    Login,
    /// CRAM-MD5.
    #[serde(rename = "cram-md5")]
    CramMd5,
    /// XOAUTH2.
    Xoauth2,
}

/// An IMAP session.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ImapSettings<'a> {
    /// The server.
    pub hostname: &'a str,
    /// User name; without it the check does not log in.
    pub imap_username: Option<&'a str>,
    /// Password.
    pub imap_password: Option<&'a str>,
}

/// A POP3 session.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PopSettings<'a> {
    /// The server.
    pub hostname: &'a str,
    /// User name; without it the check does not log in.
    pub pop_username: Option<&'a str>,
    /// Password.
    pub pop_password: Option<&'a str>,
}

/// An SMTP session.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct SmtpSettings<'a> {
    /// The server.
    pub hostname: &'a str,
    /// User name; without it the check does not log in.
    pub smtp_username: Option<&'a str>,
    /// Password.
    pub smtp_password: Option<&'a str>,
}

/// A message sent by SMTP and fetched by POP3.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RoundTripSettings<'a> {
    /// Server that accepts the message.
    pub smtp_hostname: &'a str,
    /// Server of the mailbox.
    pub pop3_hostname: &'a str,
    /// Address that the message is sent to and read from.
    pub email: &'a str,
    /// User name of the mailbox; defaults to the address.
    pub email_username: Option<&'a str>,
    /// Password of the mailbox.
    pub email_password: Option<&'a str>,
}
