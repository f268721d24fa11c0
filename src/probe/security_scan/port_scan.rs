//! Which ports of the target accept connections, and how they greet.

use std::time::Duration;

use futures::stream::{self, StreamExt};
use tokio::net::TcpStream;

use super::scan::Scan;
use crate::domain::{Failure, FailureKind, Fault, Phase, from_utf8_lossy};
use crate::evaluate::security::{PortScan, ScanArea, judge_greeting, judge_ports, ports_to_scan};
use crate::net::{ConnectionTrace, Deadline, read_more, set_reset_on_close};

/// Connections that may wait for a response at once.
const MAX_WAITING: usize = 32;
/// Longest time that a port gets to accept a connection; `timeout` may be shorter.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(5);
/// Ports whose services speak first: FTP, SSH, SMTP, POP3, IMAP.
const GREETING_PORTS: [u16; 7] = [21, 22, 25, 110, 143, 587, 2222];
/// Longest greeting, in bytes, and how long it is waited for.
const MAX_GREETING_BYTES: usize = 1024;
const GREETING_TIME: Duration = Duration::from_secs(1);

/// What became of one port.
enum PortState {
    /// It accepted; with its greeting, if it has one.
    Open(Option<String>),
    Closed(Failure),
    /// Nobody knows: the scan ended, or this host could not try.
    Unknown(Failure),
}

impl Scan<'_> {
    /// Tries the usual and the expected ports.
    ///
    /// # Errors
    /// When no port accepts a connection: why the first of the expected ports does not.
    pub(super) async fn scan_ports(&mut self) -> Result<(), Failure> {
        let own_ports = self.options.own_ports();
        // Those of the monitor first, so that they are known even if the time is short.
        let others = ports_to_scan(&own_ports).into_iter().filter(|port| !own_ports.contains(port));
        let ports: Vec<u16> = own_ports.iter().copied().chain(others).collect();
        let this = &*self;
        let states: Vec<(u16, PortState, ConnectionTrace)> =
            stream::iter(ports).map(|port| this.try_port(port)).buffered(MAX_WAITING).collect().await;
        let (mut scan, mut first_failure, mut unknown) = (PortScan::default(), None, Vec::new());
        for (port, state, trace) in states {
            match state {
                PortState::Open(greeting) => {
                    if scan.open.is_empty() {
                        self.trace.phases.merge(&trace.phases);
                        self.trace.peer_address = trace.peer_address;
                    }
                    scan.open.insert(port);
                    if let Some(greeting) = greeting {
                        judge_greeting(port, &greeting, &mut self.findings);
                    }
                }
                PortState::Closed(failure) => {
                    scan.closed.insert(port);
                    first_failure.get_or_insert((failure, trace));
                }
                PortState::Unknown(failure) => {
                    unknown.push((port, failure.to_string()));
                    first_failure.get_or_insert((failure, trace));
                }
            }
        }
        if let Some((_, reason)) = unknown.first() {
            self.add_question(ScanArea::Ports, &format!("{} ports were not tried: {reason}", unknown.len()));
        }
        if scan.open.is_empty()
            && let Some((failure, trace)) = first_failure
        {
            self.trace.phases.merge(&trace.phases);
            self.trace.peer_address = trace.peer_address;
            return Err(failure);
        }
        let (expected, is_default) = (&self.options.expected_ports, self.options.has_default_ports);
        judge_ports(&scan, expected, is_default, &mut self.findings);
        self.facts.open_ports = scan.open.into_iter().collect();
        Ok(())
    }

    async fn try_port(&self, port: u16) -> (u16, PortState, ConnectionTrace) {
        let mut trace = ConnectionTrace::default();
        let state = match self.connect_to_port(port, &mut trace).await {
            Ok(stream) if GREETING_PORTS.contains(&port) => PortState::Open(read_greeting(stream).await),
            Ok(_) => PortState::Open(None),
            Err(failure) if is_closed(&failure) && !self.deadline.is_expired() => PortState::Closed(failure),
            Err(failure) => PortState::Unknown(failure),
        };
        (port, state, trace)
    }

    async fn connect_to_port(&self, port: u16, trace: &mut ConnectionTrace) -> Result<TcpStream, Failure> {
        self.pacer.wait(self.deadline).await?;
        let own_deadline = self.connection_deadline();
        let short = Deadline::within(MAX_CONNECT_TIME);
        let deadline = if own_deadline.at < short.at { own_deadline } else { short };
        let stream = self.cx.net.connect(&self.endpoint(port), deadline, trace).await?;
        // Nothing was sent: a reset frees the port at both ends at once.
        set_reset_on_close(&stream);
        Ok(stream)
    }
}

/// Whether the failure says that the port is closed, or filtered.
fn is_closed(failure: &Failure) -> bool {
    failure.fault != Fault::Vigie
        && matches!(
            failure.kind,
            FailureKind::ConnectRefused
                | FailureKind::ConnectReset
                | FailureKind::TimedOut
                | FailureKind::Unreachable
        )
}

/// Reads the first line that the service sends by itself.
async fn read_greeting(mut stream: TcpStream) -> Option<String> {
    let (mut received, deadline) = (Vec::new(), Deadline::within(GREETING_TIME));
    while !received.contains(&b'\n') {
        match read_more(&mut stream, &mut received, MAX_GREETING_BYTES, deadline, Phase::FirstByte).await {
            Ok(1..) => {}
            _ => break,
        }
    }
    let line = received.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = from_utf8_lossy(line).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
