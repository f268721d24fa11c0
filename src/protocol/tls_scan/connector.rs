//! The connections of a scan: paced, bounded, and what they could not find out.

use std::net::IpAddr;
use std::time::Duration;

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use tokio::net::TcpStream;

use super::answer_parser::{AnswerExtent, AnswerParser, MAX_ANSWER_BYTES, ServerAnswer};
use super::client_hello::ClientHello;
use super::open_questions::OpenQuestions;
use super::options::TlsScanOptions;
use super::server_flight::ServerFlight;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{
    ConnectionPacer, ConnectionTrace, Deadline, Endpoint, Net, read_more, set_reset_on_close, write_all,
};

/// Most connections of one scan: enough for a server that accepts a hundred suites in each of three versions.
const MAX_CONNECTIONS: usize = 600;
/// Connections in a row without an answer after which the rest of a scan is left out.
const MAX_LOST_CONNECTIONS: usize = 3;

/// What came of a hello.
#[derive(Debug)]
pub(super) enum Exchange {
    /// The server chose something.
    Accepted(Box<ServerFlight>),
    /// It refused with the alert of this number.
    Alert(u8),
    /// It closed or reset the connection without a word, twice.
    Closed,
    /// It cannot be found out; the open questions have the reason.
    Unknown,
}

/// Opens the connections of one scan, all to the same address.
pub(super) struct Connector<'a> {
    pub(super) net: &'a Net,
    endpoint: &'a Endpoint,
    /// The name for SNI; `None` for an address.
    pub(super) server_name: Option<&'a str>,
    pacer: &'a ConnectionPacer,
    options: TlsScanOptions,
    deadline: Deadline,
    address: Option<IpAddr>,
    /// The connection that was opened to find out whether there is anything at all.
    first_stream: Option<TcpStream>,
    connections: usize,
    lost_connections: usize,
    /// Whether no more connections are opened.
    pub(super) is_stopped: bool,
    pub(super) questions: OpenQuestions,
}

impl<'a> Connector<'a> {
    /// Opens the first connection.
    pub(super) async fn open(
        net: &'a Net,
        endpoint: &'a Endpoint,
        server_name: &'a str,
        pacer: &'a ConnectionPacer,
        options: TlsScanOptions,
        deadline: Deadline,
        trace: &mut ConnectionTrace,
    ) -> Result<Self, Failure> {
        pacer.wait(deadline).await?;
        let stream = net.connect(endpoint, deadline, trace).await?;
        let name = server_name.trim_end_matches('.');
        let is_name = !name.is_empty() && name.parse::<IpAddr>().is_err();
        Ok(Self {
            net,
            endpoint,
            server_name: is_name.then_some(name),
            pacer,
            options,
            deadline,
            address: trace.peer_address.map(|peer| peer.ip()),
            first_stream: Some(stream),
            connections: 0,
            lost_connections: 0,
            is_stopped: false,
            questions: OpenQuestions::default(),
        })
    }

    /// Sends `hello` over a new connection and returns the answer. A connection that ends without one is tried once
    /// more. `subject` is what is asked, for the open questions.
    pub(super) async fn exchange(
        &mut self,
        hello: &ClientHello<'_>,
        extent: AnswerExtent,
        subject: &str,
    ) -> Exchange {
        for is_last in [false, true] {
            if self.must_stop() {
                break;
            }
            match self.exchange_once(hello, extent).await {
                Ok(ServerAnswer::Closed) if !is_last => {}
                Ok(answer) => return self.on_answer(answer, subject),
                Err(failure) => {
                    if self.on_failure(&failure, subject) || is_last {
                        break;
                    }
                }
            }
        }
        Exchange::Unknown
    }

    /// Opens a connection for a handshake of the TLS library; returns it with its deadline. `None` when that fails; the
    /// open questions have the reason.
    pub(super) async fn open_stream(&mut self, subject: &str) -> Option<(TcpStream, Deadline)> {
        if self.must_stop() {
            return None;
        }
        let opened = self.next_stream().await;
        opened.map_err(|failure| self.on_failure(&failure, subject)).ok()
    }

    async fn exchange_once(
        &mut self,
        hello: &ClientHello<'_>,
        extent: AnswerExtent,
    ) -> Result<ServerAnswer, Failure> {
        let (mut stream, deadline) = self.next_stream().await?;
        let mut random = [0; 32];
        SystemRandom::new().fill(&mut random).map_err(|_| {
            Failure::new(Phase::Tls, FailureKind::Internal, "the system gave no random numbers")
        })?;
        let mut parser = AnswerParser::new(extent);
        let sent = write_all(&mut stream, &hello.encode(&random), deadline).await;
        let mut buffer = Vec::new();
        let mut received = sent.map(|()| 1);
        loop {
            match received {
                Ok(0) => return Ok(parser.on_closed()),
                Ok(_) => {}
                Err(failure) if failure.kind == FailureKind::TimedOut => return Err(failure),
                Err(_) => return Ok(parser.on_closed()),
            }
            if let Some(answer) = parser.push(&buffer) {
                return Ok(answer);
            }
            buffer.clear();
            received = read_more(&mut stream, &mut buffer, MAX_ANSWER_BYTES, deadline, Phase::Tls).await;
        }
    }

    /// Waits for a permit and connects, or takes the first connection, which had one.
    async fn next_stream(&mut self) -> Result<(TcpStream, Deadline), Failure> {
        self.connections += 1;
        if let Some(stream) = self.first_stream.take() {
            set_reset_on_close(&stream);
            return Ok((stream, self.connection_deadline()));
        }
        self.pacer.wait(self.deadline).await?;
        let deadline = self.connection_deadline();
        let mut trace = ConnectionTrace::default();
        let stream = match self.address {
            Some(address) => {
                self.net.connect_resolved(self.endpoint, &[address], deadline, &mut trace).await?
            }
            None => self.net.connect(self.endpoint, deadline, &mut trace).await?,
        };
        // Hundreds of connections to one port would leave as many in `TIME_WAIT`.
        set_reset_on_close(&stream);
        Ok((stream, deadline))
    }

    fn connection_deadline(&self) -> Deadline {
        let timeout: Duration = self.options.connection_timeout.min(self.deadline.remaining());
        Deadline::within(timeout)
    }

    fn on_answer(&mut self, answer: ServerAnswer, subject: &str) -> Exchange {
        if !matches!(answer, ServerAnswer::Endless(_)) {
            self.lost_connections = 0;
        }
        match answer {
            ServerAnswer::Accepted(flight) => return Exchange::Accepted(flight),
            ServerAnswer::Alert(alert) => return Exchange::Alert(alert),
            ServerAnswer::Closed => return Exchange::Closed,
            ServerAnswer::NotTls(start) => {
                self.stop(&format!("the port does not speak TLS: it answered with `{start}`"));
            }
            ServerAnswer::Malformed(malformed) => self.questions.add(subject, &malformed.to_string()),
            ServerAnswer::Endless(reason) => {
                self.lost_connections += 1;
                self.questions.add(subject, &format!("the answer had no end: {reason}"));
            }
        }
        Exchange::Unknown
    }

    /// Notes why a connection was lost; returns whether another try makes no sense.
    fn on_failure(&mut self, failure: &Failure, subject: &str) -> bool {
        if self.deadline.is_expired() || failure.phase == Phase::Prepare {
            self.stop("the time of the scan was over; what is not listed was not asked");
            return true;
        }
        self.lost_connections += 1;
        self.questions.add(subject, &failure.to_string());
        false
    }

    /// Whether no more connections may be opened. Says so once.
    fn must_stop(&mut self) -> bool {
        if !self.is_stopped && self.lost_connections >= MAX_LOST_CONNECTIONS {
            let reason = format!("{MAX_LOST_CONNECTIONS} connections in a row had no answer");
            self.stop(&format!("{reason}; what is not listed was not asked"));
        }
        if !self.is_stopped && self.connections >= MAX_CONNECTIONS {
            self.stop(&format!("after {MAX_CONNECTIONS} connections the rest was not asked"));
        }
        self.is_stopped
    }

    /// Opens no more connections, for this reason.
    fn stop(&mut self, reason: &str) {
        if !self.is_stopped {
            self.is_stopped = true;
            self.questions.add("the scan", reason);
        }
    }
}
