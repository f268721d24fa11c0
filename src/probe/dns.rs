//! `name-server`: one question to one name server (behaviour.md 4).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{Name, RecordType};
use serde_json::Value;
use tokio::net::UdpSocket;
use tokio::time::Instant;

use super::target::{endpoint, observed};
use super::{Attempting, Context, Probe, ProbeSettings};
use crate::model::{DnsFacts, Document, Failure, FailureKind, Observation, Phase, WarningKind};
use crate::net::{Deadline, Endpoint, Trace, close_at_once, decisive, read_to, write_all};
use crate::wire::dns::{Answer, Heard, Question, UDP_PAYLOAD, rcode_name};

/// Records that are kept of an answer.
const ANSWERS: usize = 100;
/// Shortest wait before the question is sent again.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the question travels (fields.md 2, name-server `transport`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Udp,
    Tcp,
}

/// What is asked, and how.
#[derive(Debug)]
struct Inquiry {
    name: Name,
    kind: RecordType,
    transport: Transport,
}

#[derive(Debug)]
struct DnsProbe {
    server: Endpoint,
    /// Or why this build cannot ask it.
    inquiry: Result<Inquiry, Failure>,
    /// Values that must be among those of the answer; further ones do not matter.
    expected: Vec<String>,
}

/// The probe of a checked `name-server` monitor.
pub(super) fn build(document: &Document, settings: &ProbeSettings) -> Arc<dyn Probe> {
    let expected = document.list("expected_answers").iter().filter_map(Value::as_str).map(plain).collect();
    let inquiry = inquiry(document, settings);
    Arc::new(DnsProbe { server: endpoint(document, 53), inquiry, expected })
}

fn inquiry(document: &Document, settings: &ProbeSettings) -> Result<Inquiry, Failure> {
    let fail = |kind, detail: String| Err(Failure::new(Phase::Prepare, kind, detail));
    let transport = match document.text("transport").unwrap_or("udp") {
        "udp" => Transport::Udp,
        "tcp" => Transport::Tcp,
        other => {
            return fail(
                FailureKind::Unsupported,
                format!("`transport` `{other}` cannot be asked by this build"),
            );
        }
    };
    if document.flag("require_dnssec") {
        return fail(FailureKind::Unsupported, "`require_dnssec` cannot be checked by this build".to_owned());
    }
    let id = document.number("name_to_resolve_id");
    let listed = || usize::try_from(id).ok().and_then(|id| settings.dns_names.get(id)).map(String::as_str);
    let Some(name) = document.text("name_to_resolve").filter(|name| !name.is_empty()).or_else(listed) else {
        return fail(
            FailureKind::NotConfigured,
            format!("`name_to_resolve_id` {id} is not in the setting `dns.names`"),
        );
    };
    let mut parsed = match Name::from_utf8(name) {
        Ok(parsed) => parsed,
        Err(error) => return fail(FailureKind::Unsupported, format!("`{name}` is no DNS name: {error}")),
    };
    parsed.set_fqdn(true);
    let record_type = document.text("record_type").unwrap_or("A");
    match RecordType::from_str(&record_type.to_ascii_uppercase()) {
        Ok(kind) => Ok(Inquiry { name: parsed, kind, transport }),
        Err(_) => {
            fail(FailureKind::Unsupported, format!("`record_type` `{record_type}` is unknown to this build"))
        }
    }
}

impl Probe for DnsProbe {
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a> {
        Box::pin(self.run(cx))
    }

    fn target(&self) -> Option<&str> {
        Some(&self.server.host)
    }
}

/// What an attempt has learned so far.
#[derive(Default)]
struct Seen {
    trace: Trace,
    facts: DnsFacts,
    notes: Vec<String>,
}

impl DnsProbe {
    async fn run(&self, cx: Context<'_>) -> Observation {
        let started = Instant::now();
        let mut seen = Seen::default();
        let outcome = match &self.inquiry {
            Ok(inquiry) => self.inquire(inquiry, cx, &mut seen).await,
            Err(failure) => Err(failure.clone()),
        };
        let mut observation = observed(started, seen.trace, outcome);
        if !seen.facts.question.is_empty() {
            observation.facts.dns = Some(Box::new(seen.facts));
        }
        for note in seen.notes {
            observation.warn(WarningKind::Note, note);
        }
        observation
    }

    async fn inquire(&self, inquiry: &Inquiry, cx: Context<'_>, seen: &mut Seen) -> Result<(), Failure> {
        let addresses = cx.net.resolve(&self.server, cx.deadline, &mut seen.trace).await?;
        let addresses = cx.net.permitted(&addresses, &mut seen.trace)?;
        let servers = routed_first(cx, &addresses, self.server.port);
        let mut kind = inquiry.kind;
        let (server, mut answer) = ask_any(inquiry, &servers, cx, seen).await?;
        if kind == RecordType::A && is_empty(&answer, kind) {
            kind = RecordType::AAAA;
            answer = ask(inquiry, kind, server, cx, seen).await?;
        }
        let asked =
            if kind == inquiry.kind { kind.to_string() } else { format!("{}` or `{kind}", inquiry.kind) };
        self.judge(&answer, kind, &asked)
    }

    fn judge(&self, answer: &Answer, kind: RecordType, asked: &str) -> Result<(), Failure> {
        let fail = |phase, kind, detail: String| Err(Failure::new(phase, kind, detail));
        if answer.rcode != ResponseCode::NoError {
            return fail(Phase::Validate, FailureKind::DnsRcode, rcode_name(answer.rcode));
        }
        if !answer.answers(kind) {
            let detail = format!("no record of type `{asked}` was in the answer");
            return fail(Phase::Validate, FailureKind::DnsNoRecords, detail);
        }
        let given: Vec<String> = answer.values(kind).iter().map(|value| plain(value)).collect();
        let missing: Vec<&str> =
            self.expected.iter().filter(|value| !given.contains(value)).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let detail = format!("`{}` is not among `{}`", missing.join(", "), given.join(", "));
        fail(Phase::Validate, FailureKind::DnsAnswerWrong, detail)
    }
}

/// Two spellings of one value are the same: letters of either case, with or without the final dot.
fn plain(value: &str) -> String {
    value.trim().trim_end_matches('.').to_ascii_lowercase()
}

fn is_empty(answer: &Answer, kind: RecordType) -> bool {
    answer.rcode == ResponseCode::NoError && !answer.answers(kind)
}

/// The addresses of the server: those that this host has a route to before the others, since a datagram has
/// no handshake to race.
fn routed_first(cx: Context<'_>, addresses: &[IpAddr], port: u16) -> Vec<SocketAddr> {
    let mut servers: Vec<SocketAddr> = addresses.iter().map(|&ip| SocketAddr::new(ip, port)).collect();
    if servers.len() > 1 {
        servers.sort_by_cached_key(|&server| cx.net.udp(server).is_err());
    }
    servers
}

/// Asks one address after the other until one answers, whatever it says. Each gets its share of the time
/// that is left.
async fn ask_any(
    inquiry: &Inquiry,
    servers: &[SocketAddr],
    cx: Context<'_>,
    seen: &mut Seen,
) -> Result<(SocketAddr, Answer), Failure> {
    let (mut failures, mut others) = (Vec::new(), Vec::new());
    for (index, &server) in servers.iter().enumerate() {
        seen.trace.address = Some(server);
        let deadline = match u32::try_from(servers.len() - index) {
            Ok(left) if left > 1 => Deadline::within(cx.deadline.left() / left),
            _ => cx.deadline,
        };
        match ask(inquiry, inquiry.kind, server, Context { deadline, ..cx }, seen).await {
            Ok(answer) => {
                seen.notes.append(&mut others);
                return Ok((server, answer));
            }
            Err(failure) if says_nothing(failure.kind) => {
                others.push(format!("`{server}` was asked before: {failure}"));
                failures.push(failure);
            }
            Err(failure) => return Err(failure),
        }
    }
    Err(if failures.len() == 1 { failures.remove(0) } else { decisive(failures) })
}

/// Whether another address of the server may do better.
fn says_nothing(kind: FailureKind) -> bool {
    use FailureKind as Kind;
    matches!(
        kind,
        Kind::TimedOut
            | Kind::ConnectRefused
            | Kind::ConnectReset
            | Kind::Unreachable
            | Kind::NoRoute
            | Kind::NoSourceAddress
    )
}

async fn ask(
    inquiry: &Inquiry,
    kind: RecordType,
    server: SocketAddr,
    cx: Context<'_>,
    seen: &mut Seen,
) -> Result<Answer, Failure> {
    let question = Question::new(inquiry.name.clone(), kind);
    seen.facts.question = inquiry.name.to_string();
    seen.facts.record_type = kind.to_string();
    let mut answer = None;
    if inquiry.transport == Transport::Udp {
        "udp".clone_into(&mut seen.facts.transport);
        let started = Instant::now();
        let socket = cx.net.udp(server).map_err(|failure| Failure { phase: Phase::Send, ..failure });
        seen.trace.phases.add(Phase::Send, started.elapsed());
        let started = Instant::now();
        let heard = over_udp(&socket?, &question, server, cx, &mut seen.notes).await;
        seen.trace.phases.add(Phase::FirstByte, started.elapsed());
        answer = Some(heard?).filter(|answer| !answer.truncated);
    }
    let answer = if let Some(answer) = answer {
        answer
    } else {
        "tcp".clone_into(&mut seen.facts.transport);
        over_tcp(&question, server, cx, &mut seen.trace).await?
    };
    seen.facts.rcode = rcode_name(answer.rcode);
    seen.facts.authoritative = answer.authoritative;
    seen.facts.answers = answer.texts(ANSWERS);
    Ok(answer)
}

/// Sends the question until it is answered. Whatever is no answer to it is passed over, as it may have
/// come from somebody who guesses; the socket itself takes datagrams of `server` only. All of it is the
/// wait for the answer.
async fn over_udp(
    socket: &UdpSocket,
    question: &Question,
    server: SocketAddr,
    cx: Context<'_>,
    notes: &mut Vec<String>,
) -> Result<Answer, Failure> {
    let query = encoded(question)?;
    let lost = |error: &io::Error| Failure { phase: Phase::FirstByte, ..cx.net.dial_failure(server, error) };
    let patience = PATIENCE.max(cx.deadline.left() / 3);
    let mut buffer = vec![0; usize::from(UDP_PAYLOAD).max(4096)];
    let (mut sent, mut strays) = (0_u32, 0_u32);
    while !cx.deadline.passed() {
        socket.send(&query).await.map_err(|error| lost(&error))?;
        sent += 1;
        let until = cx.deadline.at.min(Instant::now() + patience);
        while let Ok(received) = tokio::time::timeout_at(until, socket.recv(&mut buffer)).await {
            let length = received.map_err(|error| lost(&error))?;
            match question.hear(&buffer[..length]) {
                Heard::Stray => strays = strays.saturating_add(1),
                Heard::Malformed(what) => return Err(malformed(Phase::FirstByte, &what)),
                Heard::Answer(answer) => {
                    if sent > 1 {
                        notes.push(format!("the answer came after the question was sent {sent} times"));
                    }
                    return Ok(*answer);
                }
            }
        }
    }
    let mut failure = cx.deadline.missed(Phase::FirstByte);
    failure.detail = format!("{}; the question was sent {sent} times", failure.detail);
    if strays > 0 {
        failure.detail = format!("{}; {strays} datagrams did not answer it", failure.detail);
    }
    Err(failure)
}

/// Asks over a connection of its own (RFC 7766).
async fn over_tcp(
    question: &Question,
    server: SocketAddr,
    cx: Context<'_>,
    trace: &mut Trace,
) -> Result<Answer, Failure> {
    let query = encoded(question)?;
    let length =
        u16::try_from(query.len()).map_err(|_| malformed(Phase::Prepare, "the question is too long"))?;
    let mut stream = cx.net.connect_any(&[server.ip()], server.port(), cx.deadline, trace).await?;
    let started = Instant::now();
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend_from_slice(&query);
    let sent = write_all(&mut stream, &framed, cx.deadline).await;
    trace.phases.add(Phase::Send, started.elapsed());
    sent?;
    let started = Instant::now();
    let mut size = Vec::with_capacity(2);
    let begun = read_to(&mut stream, &mut size, 2, cx.deadline, Phase::FirstByte).await;
    trace.phases.add(Phase::FirstByte, started.elapsed());
    begun?;
    let length = usize::from(u16::from_be_bytes([size[0], size[1]]));
    let started = Instant::now();
    let mut message = Vec::with_capacity(length);
    let read = read_to(&mut stream, &mut message, length, cx.deadline, Phase::Transfer).await;
    trace.phases.add(Phase::Transfer, started.elapsed());
    read?;
    close_at_once(stream);
    match question.hear(&message) {
        Heard::Answer(answer) => Ok(*answer),
        Heard::Malformed(what) => Err(malformed(Phase::Transfer, &what)),
        Heard::Stray => Err(malformed(Phase::Transfer, "the message does not answer the question")),
    }
}

fn encoded(question: &Question) -> Result<Vec<u8>, Failure> {
    question.encode().map_err(|error| Failure::new(Phase::Prepare, FailureKind::Internal, error))
}

fn malformed(phase: Phase, what: &str) -> Failure {
    Failure::new(phase, FailureKind::ResponseInvalid, what)
}
