//! Runs what suppaftp does, and the errands that it has meanwhile, within the deadline.

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
use crate::net::{ConnectTrace, Deadline, MaybeTlsStream, Net, TlsSession, io_failure, was_resumed};

/// Why a data connection under an old TLS version may be refused.
const TLS_SESSION_HINT: &str = "; this may be because its TLS session is a new one: under TLS 1.1 and older, Vigie \
    cannot take up that of the control connection again, which some servers require";

/// The way to data connections, and what was seen on it.
pub(super) struct FtpDriver<'a> {
    pub(super) net: &'a Net,
    pub(super) deadline: Deadline,
    pub(super) recorder: SessionRecorder,
    pub(super) requests: mpsc::UnboundedReceiver<DataRequest>,
    /// The peer of the control connection, which is that of data connections too.
    pub(super) host: SocketAddr,
    /// That of the control connection, when it has one.
    pub(super) tls: Option<TlsSession>,
    /// Peer of the last data connection.
    pub(super) data_address: Option<SocketAddr>,
    /// Whether every data connection so far took up the TLS session again.
    pub(super) tls_resumed: Option<bool>,
}

impl FtpDriver<'_> {
    /// The outcome of `work` of suppaftp; errands are run as they come.
    pub(super) async fn drive<T>(&mut self, work: impl Future<Output = FtpResult<T>>) -> Result<T, Failure> {
        let mut work = pin!(work);
        loop {
            let request = tokio::select! {
                biased;
                done = &mut work => return done.map_err(|error| self.to_failure(&error)),
                Some(request) = self.requests.recv() => request,
                () = tokio::time::sleep_until(self.deadline.at) => {
                    return Err(self.deadline.timed_out(self.recorder.phase()));
                }
            };
            match request {
                DataRequest::Connect(at, answer) => drop(answer.send(self.connect_data(at.port()).await)),
                DataRequest::StartTls(stream, answer) => drop(answer.send(self.start_data_tls(stream).await)),
            }
        }
    }

    /// The outcome of `work` on a data connection.
    pub(super) async fn enforce<T>(
        &self,
        work: impl Future<Output = std::io::Result<T>>,
    ) -> Result<T, Failure> {
        let phase = self.recorder.phase();
        self.deadline.enforce(phase, work).await?.map_err(|error| io_failure(phase, &error))
    }

    async fn connect_data(&mut self, port: u16) -> Option<TcpStream> {
        let mut trace = ConnectTrace::default();
        let to = SocketAddr::new(self.host.ip(), port);
        self.recorder.add_note(&format!("data connection to {to}"));
        let dialled = self.net.connect_addresses(&[to.ip()], port, self.deadline, &mut trace).await;
        self.data_address = trace.address.or(self.data_address);
        self.record_data_failure(dialled)
    }

    /// TLS is on both connections or on none.
    async fn start_data_tls(&mut self, stream: TcpStream) -> Option<FtpStream> {
        let Some(tls) = self.tls.clone() else { return Some(FtpStream::data(MaybeTlsStream::Plain(stream))) };
        let before = self.recorder.set_phase(Phase::Passive);
        let mut trace = ConnectTrace::default();
        let shaken = tls.handshake(stream, self.deadline, &mut trace).await;
        self.recorder.set_phase(before);
        let mut stream = self.record_data_failure(shaken)?;
        let reused = was_resumed(&stream);
        self.tls_resumed = Some(self.tls_resumed.unwrap_or(true) && reused);
        self.recorder.add_note(if reused {
            "TLS on it, session taken up again"
        } else {
            "TLS on it, new session"
        });
        // The last message of a handshake would else wait for the first byte of an upload.
        let _ = self.deadline.enforce(Phase::Passive, stream.flush()).await;
        Some(FtpStream::data(MaybeTlsStream::Tls(Box::new(stream))))
    }

    fn record_data_failure<T>(&self, outcome: Result<T, Failure>) -> Option<T> {
        outcome
            .map_err(|failure| {
                let detail = format!("on the data connection: {}", failure.detail);
                self.recorder.record_failure(Failure { phase: Phase::Passive, detail, ..failure });
            })
            .ok()
    }

    /// Whether `code` is what servers say that require the session of the control connection (vsftpd 522,
    /// others 425), on a data connection that could not have it.
    fn lacks_tls_session(&self, code: u16) -> bool {
        let is_old = self.tls.as_ref().is_some_and(|tls| !tls.can_resume());
        is_old && self.tls_resumed == Some(false) && matches!(code, 425 | 522)
    }

    /// What `error` means: what the watch saw going wrong, else the reply that suppaftp did not expect.
    fn to_failure(&self, error: &FtpError) -> Failure {
        if let Some(failure) = self.recorder.take_failure() {
            return failure;
        }
        let phase = self.recorder.phase();
        match (error, self.recorder.last_reply()) {
            (FtpError::UnexpectedResponse(_), Some(reply)) => {
                let refused = phase == Phase::Auth && matches!(reply.code, 332 | 430 | 500..600);
                let kind = if refused { FailureKind::LoginRefused } else { FailureKind::DialogueUnexpected };
                let asked = self.recorder.last_command();
                let hint = if self.lacks_tls_session(reply.code) { TLS_SESSION_HINT } else { "" };
                Failure::new(phase, kind, format!("it answers `{asked}` with `{}`{hint}", reply.to_quoted()))
            }
            (FtpError::ConnectionError(error), _) => io_failure(phase, error),
            _ => Failure::new(phase, FailureKind::ResponseInvalid, error.to_string()),
        }
    }
}
