//! The mail channel.

use std::sync::Arc;
use std::time::Duration;

use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::extension::ClientId;
use tokio::net::TcpStream;

use super::email;
use super::read_limit_stream::ReadLimitStream;
use crate::domain::Failure;
use crate::net::{ConnectionTrace, Deadline, Endpoint, Net, TlsOptions};
use crate::notify::outgoing_message::{OutgoingMessage, Secret};
use crate::notify::send_error::SendError;
use crate::protocol::starttls;
use crate::protocol::starttls::{StartTlsError, StartTlsProtocol};

/// Encryption of the connection to the mail server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MailEncryption {
    /// TLS from the first byte on port 465; otherwise STARTTLS if the server offers it, else unencrypted, but never
    /// with a login.
    #[default]
    Auto,
    /// STARTTLS; nothing is sent to a server that does not offer it.
    StartTls,
    /// TLS from the first byte.
    ImplicitTls,
    /// No encryption.
    Unencrypted,
}

/// The mail server and the sender.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// Host of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Encryption of the connection.
    pub encryption: MailEncryption,
    /// Whether the server's certificate must be valid.
    pub verify_certificate: bool,
    /// User name; empty for no login.
    pub username: String,
    /// Password.
    pub password: Secret,
    /// Sender address.
    pub sender: String,
    /// The host name sent in EHLO.
    pub ehlo_name: String,
    /// Longest duration of one attempt; servers may take long to accept a message (RFC 5321 4.5.3.2).
    pub attempt_timeout: Duration,
}

/// Sends mail.
pub(in crate::notify) struct MailChannel {
    net: Arc<Net>,
    settings: MailSettings,
}

impl MailChannel {
    pub(in crate::notify) fn new(net: Arc<Net>, settings: MailSettings) -> Self {
        Self { net, settings }
    }

    pub(in crate::notify) const fn attempt_timeout(&self) -> Duration {
        self.settings.attempt_timeout
    }

    pub(in crate::notify) async fn send(&self, message: &OutgoingMessage) -> Result<(), SendError> {
        let email = email::build_email(message, &self.settings.sender)?;
        let deadline = Deadline::within(self.settings.attempt_timeout);
        let stream = self.connect_encrypted(deadline).await?;
        let timed_out = |_| {
            SendError::transient(format!("timed out after {} s", self.settings.attempt_timeout.as_secs()))
        };
        tokio::time::timeout_at(deadline.at, self.submit(stream, &email)).await.map_err(timed_out)?
    }

    async fn submit(
        &self,
        stream: Box<dyn AsyncTokioStream>,
        email: &lettre::Message,
    ) -> Result<(), SendError> {
        let ehlo_name = ClientId::Domain(self.settings.ehlo_name.clone());
        // Errors before the message is sent are those of the server, so it can be retried.
        let server_error = |error: SmtpError| SendError::transient(describe_error(&error));
        let mut smtp =
            AsyncSmtpConnection::connect_with_transport(stream, &ehlo_name).await.map_err(server_error)?;
        if !self.settings.username.is_empty() {
            let credentials =
                Credentials::new(self.settings.username.clone(), self.settings.password.0.clone());
            smtp.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await.map_err(server_error)?;
        }
        let sent = smtp.send(email.envelope(), &email.formatted()).await;
        sent.map_err(|error| SendError { is_retryable: !error.is_permanent(), ..server_error(error) })?;
        // The message was accepted: an error while closing the session does not matter.
        let _ = tokio::time::timeout(Duration::from_secs(1), smtp.quit()).await;
        Ok(())
    }

    async fn connect_encrypted(&self, deadline: Deadline) -> Result<Box<dyn AsyncTokioStream>, SendError> {
        let MailSettings { encryption: mail_encryption, port, .. } = self.settings;
        let is_implicit_tls = mail_encryption == MailEncryption::ImplicitTls
            || mail_encryption == MailEncryption::Auto && port == 465;
        let mut tcp = self.connect_tcp(deadline).await?;
        if mail_encryption == MailEncryption::Unencrypted {
            return Ok(Box::new(ReadLimitStream::from_tcp(tcp)?));
        }
        if !is_implicit_tls {
            match starttls::request_tls(&mut tcp, StartTlsProtocol::Smtp, deadline).await {
                Ok(()) => {}
                Err(StartTlsError::NotOffered) if mail_encryption == MailEncryption::Auto => {
                    if !self.settings.username.is_empty() {
                        let text = "the server offers no STARTTLS, and the password is not sent unencrypted";
                        return Err(SendError::transient(text));
                    }
                    // The connection is in the state after EHLO, so open another one.
                    return Ok(Box::new(ReadLimitStream::from_tcp(self.connect_tcp(deadline).await?)?));
                }
                Err(reason) => return Err(Failure::from(reason).into()),
            }
        }
        let address = tcp.peer_addr().map_err(|error| SendError::transient(error.to_string()))?;
        let options =
            TlsOptions { verify_certificate: self.settings.verify_certificate, ..TlsOptions::default() };
        let mut trace = ConnectionTrace::default();
        let stream = self.net.tls_handshake(tcp, &self.settings.host, &options, deadline, &mut trace).await?;
        // After STARTTLS the server does not greet again, but lettre expects a greeting.
        Ok(Box::new(ReadLimitStream::new(stream, address, !is_implicit_tls)))
    }

    async fn connect_tcp(&self, deadline: Deadline) -> Result<TcpStream, SendError> {
        let endpoint = Endpoint::new(&self.settings.host, self.settings.port);
        Ok(self.net.connect(&endpoint, deadline, &mut ConnectionTrace::default()).await?)
    }
}

fn describe_error(error: &SmtpError) -> String {
    crate::domain::replace_control_chars(&format!("mail server: {error}"))
}
