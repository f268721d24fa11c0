//! A line-based session over one connection, and the driver of protocols that are written without sockets.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::transcript::Transcript;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{
    ConnectionTrace, Deadline, Endpoint, MaybeTlsStream, Net, TlsClient, TlsOptions,
    connection_closed_failure, read_line, read_more, write_all,
};
use crate::syntax::MASK;

/// Longest line in bytes (RFC 5321 4.5.3.1.5 allows 512, RFC 9051 4 sets no limit; real servers send more).
const MAX_LINE_BYTES: usize = 8 * 1024;
/// Limit of all lines together in bytes, unless [`LineSession::set_max_received_bytes`] changes it.
const MAX_SESSION_BYTES: usize = 256 * 1024;
/// Maximum time to wait for the reply to the final command.
pub(super) const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The client side of a protocol, without sockets: it receives lines and returns actions.
pub trait LineProtocol {
    /// Returns the phase that the time until the next line counts for.
    fn phase(&self) -> Phase;

    /// Handles `line`, without its CR LF, and returns the next action; fails when the session has failed.
    fn on_line(&mut self, line: &str) -> Result<ProtocolAction, Failure>;

    /// Returns the next action after the TLS handshake of [`ProtocolAction::StartTls`].
    fn on_tls_established(&mut self) -> ProtocolAction;
}

/// The next action of a session.
#[derive(Debug, PartialEq, Eq)]
pub enum ProtocolAction {
    /// Wait for a line.
    ReadLine,
    /// Send this line, then wait for one.
    SendLine(OutgoingLine),
    /// Start TLS: the server has agreed to it.
    StartTls,
    /// End: the session is complete.
    Done,
}

/// A line to send, without its CR LF, with its form in the transcript.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingLine {
    text: String,
    redacted: Option<String>,
    /// Where the secret starts.
    secret_start: Option<usize>,
    /// Whether line breaks are allowed, as in a message.
    is_multiline: bool,
}

impl OutgoingLine {
    /// Creates a line without secrets.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), redacted: None, secret_start: None, is_multiline: false }
    }

    /// Creates a line with a secret; the transcript shows `visible_prefix` and a mask.
    #[must_use]
    pub fn masked_after(visible_prefix: &str, text: impl Into<String>) -> Self {
        let redacted_text =
            if visible_prefix.is_empty() { MASK.to_owned() } else { format!("{visible_prefix} {MASK}") };
        let text = text.into();
        let secret_len = text.strip_prefix(visible_prefix).unwrap_or(&text).trim_start_matches(' ').len();
        Self {
            redacted: Some(redacted_text),
            secret_start: Some(text.len() - secret_len),
            is_multiline: false,
            text,
        }
    }

    /// Creates several lines at once, such as a message; the transcript shows `redacted_text` instead.
    #[must_use]
    pub fn multiline(redacted_text: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            redacted: Some(redacted_text.into()),
            secret_start: None,
            is_multiline: true,
        }
    }

    /// Returns the secret as sent, since a server may repeat it.
    fn secret_part(&self) -> Option<&str> {
        self.secret_start.and_then(|at| self.text.get(at..))
    }

    /// Whether it contains a line break, which would inject another command (CWE-93).
    fn has_line_break(&self) -> bool {
        !self.is_multiline && self.text.contains(['\r', '\n', '\0'])
    }

    /// Returns the text to send.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text for the transcript.
    #[must_use]
    pub fn redacted(&self) -> &str {
        self.redacted.as_deref().unwrap_or(&self.text)
    }
}

/// Hides the secret.
impl std::fmt::Debug for OutgoingLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line({:?})", self.redacted())
    }
}

/// One connection to a line-based server, with everything observed on it. It survives its failure, so that
/// everything up to the failure can be reported.
pub struct LineSession<'a> {
    net: &'a Net,
    deadline: Deadline,
    stream: Option<MaybeTlsStream>,
    tls_client: Option<TlsClient>,
    read_buffer: Vec<u8>,
    received_bytes: usize,
    max_received_bytes: usize,
    /// Start of the time that is not yet added to a phase.
    phase_started: Instant,
    /// What was observed of the connection, and the durations of all phases.
    pub connect_trace: ConnectionTrace,
    /// The dialogue.
    pub transcript: Transcript,
}

impl<'a> LineSession<'a> {
    /// Creates a session that is not connected yet.
    #[must_use]
    pub fn new(net: &'a Net, deadline: Deadline) -> Self {
        Self {
            net,
            deadline,
            stream: None,
            tls_client: None,
            read_buffer: Vec::new(),
            received_bytes: 0,
            max_received_bytes: MAX_SESSION_BYTES,
            phase_started: Instant::now(),
            connect_trace: ConnectionTrace::default(),
            transcript: Transcript::default(),
        }
    }

    /// Sets the limit of all lines together, for long lists.
    pub fn set_max_received_bytes(&mut self, max_received_bytes: usize) {
        self.max_received_bytes = max_received_bytes;
    }

    /// Opens the connection, without TLS.
    pub async fn connect(&mut self, endpoint: &Endpoint) -> Result<(), Failure> {
        let stream = self.net.connect(endpoint, self.deadline, &mut self.connect_trace).await?;
        self.stream = Some(MaybeTlsStream::Plain(stream));
        self.phase_started = Instant::now();
        Ok(())
    }

    /// Starts TLS with the server `host`. Fails when bytes were received too early; they are discarded, since they
    /// would be mistaken for encrypted ones (CVE-2011-0411).
    pub async fn upgrade_to_tls(&mut self, host: &str, options: &TlsOptions) -> Result<(), Failure> {
        let Some(MaybeTlsStream::Plain(stream)) = self.stream.take() else {
            return Err(Failure::new(Phase::Tls, FailureKind::Internal, "TLS twice on one connection"));
        };
        if !self.read_buffer.is_empty() {
            let count = self.read_buffer.len();
            self.read_buffer.clear();
            self.transcript.add_note("data received before the TLS handshake was discarded");
            let detail =
                format!("it sent {count} bytes in plain text before the TLS handshake; they were discarded");
            return Err(Failure::new(Phase::Tls, FailureKind::UnexpectedReply, detail));
        }
        // With resumption, for the data connections of FTP.
        let tls_client = self.net.tls_client(host, options, true)?;
        let stream = tls_client.handshake(stream, self.deadline, &mut self.connect_trace).await?;
        self.tls_client = Some(tls_client);
        self.transcript.add_note("TLS");
        self.stream = Some(MaybeTlsStream::Tls(Box::new(stream)));
        self.phase_started = Instant::now();
        Ok(())
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.stream.as_ref().is_some_and(MaybeTlsStream::is_tls)
    }

    /// Returns the TLS session for other connections to resume, such as data connections of FTP.
    #[must_use]
    pub fn tls_client(&self) -> Option<TlsClient> {
        self.tls_client.clone()
    }

    /// Returns the local address of the connection.
    #[must_use]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.stream.as_ref().and_then(MaybeTlsStream::local_address)
    }

    /// Sends `line` and CR LF. The time counts for the phase of the reply.
    pub async fn send(&mut self, line: &OutgoingLine) -> Result<(), Failure> {
        if line.has_line_break() {
            let detail = "a user name or password contains a line break, which this protocol does not allow";
            return Err(Failure::new(Phase::Send, FailureKind::ProbeUnsupported, detail));
        }
        line.secret_part().into_iter().for_each(|part| self.transcript.add_secret(part));
        self.transcript.record_sent(line.redacted());
        let stream = self.stream.as_mut().ok_or_else(not_connected_failure)?;
        let bytes = format!("{}\r\n", line.text());
        write_all(stream, bytes.as_bytes(), self.deadline).await
    }

    /// Reads the next line, without its CR LF; the time since the last one counts for `phase`.
    pub async fn read_line(&mut self, phase: Phase) -> Result<String, Failure> {
        let line = self.read_transcript_line(phase).await;
        self.add_phase_time(phase);
        line
    }

    /// Adds the time since the last line to `phase`.
    fn add_phase_time(&mut self, phase: Phase) {
        let now = Instant::now();
        self.connect_trace.phases.add(phase, now - self.phase_started);
        self.phase_started = now;
    }

    async fn read_transcript_line(&mut self, phase: Phase) -> Result<String, Failure> {
        let stream = self.stream.as_mut().ok_or_else(not_connected_failure)?;
        let line = read_line(stream, &mut self.read_buffer, MAX_LINE_BYTES, self.deadline, phase).await?;
        self.count_received(line.len() + 2, phase)?;
        let line = String::from_utf8_lossy(&line).into_owned();
        self.transcript.record_received(&line);
        Ok(line)
    }

    /// Reads the next line of a list or message, which is not added to the transcript. Content beyond the longest line
    /// is discarded, since mail may have longer lines. The time counts as in [`LineSession::read_line`].
    pub async fn read_data_line(&mut self, phase: Phase) -> Result<Vec<u8>, Failure> {
        let line = self.read_line_truncated(phase).await;
        self.add_phase_time(phase);
        line
    }

    async fn read_line_truncated(&mut self, phase: Phase) -> Result<Vec<u8>, Failure> {
        let mut truncated_line: Option<Vec<u8>> = None;
        let mut searched_bytes = 0;
        loop {
            let end = self.read_buffer[searched_bytes..]
                .iter()
                .position(|&byte| byte == b'\n')
                .map(|offset| searched_bytes + offset);
            if let Some(end) = end {
                self.count_received(end + 1, phase)?;
                let mut rest_of_line: Vec<u8> = self.read_buffer.drain(..=end).collect();
                rest_of_line.pop();
                rest_of_line.pop_if(|last| *last == b'\r');
                return Ok(truncated_line.unwrap_or(rest_of_line));
            }
            searched_bytes = self.read_buffer.len();
            if searched_bytes >= MAX_LINE_BYTES {
                self.count_received(searched_bytes, phase)?;
                let line_start = std::mem::take(&mut self.read_buffer);
                truncated_line.get_or_insert(line_start);
                searched_bytes = 0;
            }
            let stream = self.stream.as_mut().ok_or_else(not_connected_failure)?;
            if read_more(stream, &mut self.read_buffer, MAX_LINE_BYTES, self.deadline, phase).await? == 0 {
                return Err(connection_closed_failure(phase, self.read_buffer.len()));
            }
        }
    }

    /// Counts received bytes, and fails at the limit.
    fn count_received(&mut self, bytes: usize, phase: Phase) -> Result<(), Failure> {
        self.received_bytes += bytes;
        if self.received_bytes > self.max_received_bytes {
            let detail = format!("its answers have more than {} bytes", self.max_received_bytes);
            return Err(Failure::new(phase, FailureKind::ResponseTooLarge, detail));
        }
        Ok(())
    }

    /// Runs `protocol` until it is done or has failed. `host` and `options` are for [`ProtocolAction::StartTls`].
    pub async fn run_protocol(
        &mut self,
        protocol: &mut impl LineProtocol,
        host: &str,
        options: &TlsOptions,
    ) -> Result<(), Failure> {
        loop {
            if protocol.phase() == Phase::Quit {
                self.read_quit_reply().await;
                return Ok(());
            }
            let (_, action) = self.process_next_line(protocol, host, options).await?;
            match action {
                ProtocolAction::ReadLine | ProtocolAction::StartTls => {}
                ProtocolAction::SendLine(line) => match self.send(&line).await {
                    Ok(()) => {}
                    // The check is complete, whether this was sent or not.
                    Err(_) if protocol.phase() == Phase::Quit => return Ok(()),
                    // A failed send is reported in the phase of the reply to this line.
                    Err(failure) => return Err(Failure { phase: protocol.phase(), ..failure }),
                },
                ProtocolAction::Done => return Ok(()),
            }
        }
    }

    /// Passes the next line to `protocol`, and starts TLS if requested; returns the line and the next action.
    pub async fn process_next_line(
        &mut self,
        protocol: &mut impl LineProtocol,
        host: &str,
        options: &TlsOptions,
    ) -> Result<(String, ProtocolAction), Failure> {
        let line = self.read_line(protocol.phase()).await?;
        let action = match protocol.on_line(&line)? {
            ProtocolAction::StartTls => {
                self.upgrade_to_tls(host, options).await?;
                protocol.on_tls_established()
            }
            action => action,
        };
        Ok((line, action))
    }

    /// Waits briefly for the reply to the final command. Its content does not matter.
    async fn read_quit_reply(&mut self) {
        let deadline = self.deadline;
        self.deadline.at = deadline.at.min(Instant::now() + QUIT_TIMEOUT);
        if let Err(failure) = self.read_line(Phase::Quit).await {
            self.transcript.add_note(&format!("no reply to the last command: {}", failure.kind.describe()));
        }
        self.deadline = deadline;
    }

    /// Takes the connection with the bytes read ahead, for a library that continues with it.
    #[must_use]
    pub fn take_stream(&mut self) -> Option<(MaybeTlsStream, Vec<u8>)> {
        self.stream.take().map(|stream| (stream, std::mem::take(&mut self.read_buffer)))
    }

    /// Closes the connection properly. The check is complete; a peer that is slow to close does not change it.
    pub async fn close(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            let _ = self.deadline.enforce(Phase::Quit, stream.shutdown()).await;
        }
    }
}

fn not_connected_failure() -> Failure {
    Failure::new(Phase::Connect, FailureKind::Internal, "the session has no connection")
}
