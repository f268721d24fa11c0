//! Runs suppaftp and the requests of its callbacks, within the deadline.

use std::net::SocketAddr;
use std::pin::pin;

use suppaftp::{FtpError, FtpResult};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::connector::DataRequest;
use super::recorder::SessionRecorder;
use super::stream::FtpStream;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{
    ConnectionTrace, Deadline, MaybeTlsStream, Net, TlsClient, io_failure, was_tls_session_resumed,
};

/// Explains why a data connection with an old TLS version may be refused.
const TLS_SESSION_HINT: &str = "; this may be because its TLS session is new: with TLS 1.1 and older, Vigie \
    cannot resume that of the control connection, which some servers require";

/// Runs operations of suppaftp, opens the data connections that they request, and records facts about those.
pub(super) struct FtpDriver<'a> {
    pub(super) net: &'a Net,
    pub(super) deadline: Deadline,
    /// The deadline for opening data connections, when another way is tried afterwards.
    pub(super) data_connect_deadline: Option<Deadline>,
    pub(super) recorder: SessionRecorder,
    pub(super) data_requests: mpsc::UnboundedReceiver<DataRequest>,
    /// The peer of the control connection, also used for data connections.
    pub(super) control_peer: SocketAddr,
    /// The TLS session of the control connection, if it has one.
    pub(super) tls_client: Option<TlsClient>,
    /// Peer of the last data connection.
    pub(super) data_address: Option<SocketAddr>,
    /// Whether every data connection so far resumed the TLS session.
    pub(super) tls_resumed: Option<bool>,
}

impl FtpDriver<'_> {
    /// Runs `operation` of suppaftp, and its requests as they come.
    pub(super) async fn drive<T>(
        &mut self,
        operation: impl Future<Output = FtpResult<T>>,
    ) -> Result<T, Failure> {
        let mut operation = pin!(operation);
        loop {
            let request = tokio::select! {
                biased;
                done = &mut operation => return done.map_err(|error| self.to_failure(&error)),
                Some(request) = self.data_requests.recv() => request,
                () = tokio::time::sleep_until(self.deadline.at) => {
                    return Err(self.deadline.timeout_failure(self.recorder.phase()));
                }
            };
            match request {
                DataRequest::Connect(address, response_sender) => {
                    drop(response_sender.send(self.connect_data(address.port()).await));
                }
                DataRequest::StartTls(stream, response_sender) => {
                    drop(response_sender.send(self.start_data_tls(stream).await));
                }
            }
        }
    }

    /// Runs `work` on a data connection, within the deadline.
    pub(super) async fn run_within_deadline<T>(
        &self,
        work: impl Future<Output = std::io::Result<T>>,
    ) -> Result<T, Failure> {
        let phase = self.recorder.phase();
        self.deadline.enforce(phase, work).await?.map_err(|error| io_failure(phase, &error))
    }

    async fn connect_data(&mut self, port: u16) -> Option<TcpStream> {
        let mut trace = ConnectionTrace::default();
        let data_address = SocketAddr::new(self.control_peer.ip(), port);
        self.recorder.add_note(&format!("data connection to {data_address}"));
        let deadline = self.data_connect_deadline.unwrap_or(self.deadline);
        let result =
            self.net.connect_without_named_proxy(&[data_address.ip()], port, deadline, &mut trace).await;
        self.data_address = trace.peer_address.or(self.data_address);
        self.record_if_failed(result)
    }

    /// Starts TLS if the control connection uses it.
    async fn start_data_tls(&mut self, stream: TcpStream) -> Option<FtpStream> {
        let Some(tls) = self.tls_client.clone() else {
            return Some(FtpStream::from_data_connection(MaybeTlsStream::Plain(stream)));
        };
        let previous = self.recorder.set_phase(Phase::OpenDataConnection);
        let mut trace = ConnectionTrace::default();
        let result = tls.handshake(stream, self.deadline, &mut trace).await;
        self.recorder.set_phase(previous);
        let mut stream = self.record_if_failed(result)?;
        let resumed = was_tls_session_resumed(&stream);
        self.tls_resumed = Some(self.tls_resumed.unwrap_or(true) && resumed);
        self.recorder.add_note(if resumed { "TLS on it, session resumed" } else { "TLS on it, new session" });
        // Otherwise the last handshake message would wait for the first byte of an upload.
        let _ = self.deadline.enforce(Phase::OpenDataConnection, stream.flush()).await;
        Some(FtpStream::from_data_connection(MaybeTlsStream::Tls(Box::new(stream))))
    }

    fn record_if_failed<T>(&self, result: Result<T, Failure>) -> Option<T> {
        result
            .map_err(|failure| {
                let detail = format!("on the data connection: {}", failure.detail);
                self.recorder.record_failure(Failure { phase: Phase::OpenDataConnection, detail, ..failure });
            })
            .ok()
    }

    /// Whether `code` is sent by servers that require the session of the control connection (vsftpd 522, others 425),
    /// on a data connection that could not resume it.
    fn may_require_resumption(&self, code: u16) -> bool {
        let cannot_resume = self.tls_client.as_ref().is_some_and(|tls| !tls.can_resume());
        cannot_resume && self.tls_resumed == Some(false) && matches!(code, 425 | 522)
    }

    /// Returns the recorded failure, otherwise that of the reply which suppaftp did not expect.
    fn to_failure(&self, error: &FtpError) -> Failure {
        if let Some(failure) = self.recorder.take_failure() {
            return failure;
        }
        let phase = self.recorder.phase();
        match (error, self.recorder.last_reply()) {
            (FtpError::UnexpectedResponse(_), Some(reply)) => {
                let is_login_refused = phase == Phase::Auth && matches!(reply.code, 332 | 430 | 500..600);
                let kind =
                    if is_login_refused { FailureKind::LoginRejected } else { FailureKind::UnexpectedReply };
                let command = self.recorder.last_command();
                let hint = if self.may_require_resumption(reply.code) { TLS_SESSION_HINT } else { "" };
                Failure::new(
                    phase,
                    kind,
                    format!("it replies to `{command}` with `{}`{hint}", reply.to_quoted()),
                )
            }
            (FtpError::ConnectionError(error), _) => io_failure(phase, error),
            _ => Failure::new(phase, FailureKind::ResponseInvalid, error.to_string()),
        }
    }
}
