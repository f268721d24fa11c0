//! The table of misbehaving name servers: what each does, and how the check classifies it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hickory_proto::op::{Message, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::TXT;
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};
use rustls::version::{TLS12, TLS13};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase};
use vigie::net::{Net, Pem};

use crate::probe_net::{TIMEOUT, attempt, net_with};
use crate::support::name_server::{alias, answer, v4};
use crate::support::tls_server::{Authority, Identity, config, self_signed};

/// One act of a server after it has read a question.
enum Act {
    /// Sends these bytes, as one datagram or into the stream.
    Send(Vec<u8>),
    /// Sends these bytes after their length, as DNS over TCP frames a message.
    Frame(Vec<u8>),
    Reset,
    Stall,
}
use Act::{Frame, Reset, Send, Stall};

/// Acts of a server for a question; the second argument is whether it came over a stream.
type Script = Arc<dyn Fn(&Message, bool) -> Vec<Act> + Sync + std::marker::Send>;

/// Expected result: a passing check, or kind, phase and a part of the text of the failure.
type Expected = Option<(Kind, Phase, &'static str)>;

struct Case {
    name: String,
    script: Script,
    fields: Value,
    /// Certificate of the server, for TLS.
    identity: Option<Identity>,
    /// ALPN protocols of the server.
    alpn: Vec<&'static [u8]>,
    timeout: Duration,
    expected: Expected,
}

fn case<F>(name: &str, script: F, expected: Expected) -> Case
where
    F: Fn(&Message, bool) -> Vec<Act> + Sync + std::marker::Send + 'static,
{
    let stalls = matches!(expected, Some((Kind::TimedOut, _, _)));
    Case {
        name: name.to_owned(),
        script: Arc::new(script),
        fields: json!({}),
        identity: None,
        alpn: Vec::new(),
        timeout: if stalls { Duration::from_millis(700) } else { 3 * TIMEOUT },
        expected,
    }
}

impl Case {
    fn over(mut self, transport: &str) -> Self {
        self.name = format!("{transport}: {}", self.name);
        self.fields["transport"] = json!(transport);
        self
    }

    fn with(mut self, field: &str, value: Value) -> Self {
        self.fields[field] = value;
        self
    }

    fn with_identity(mut self, identity: &Identity, alpn: &[&'static [u8]]) -> Self {
        self.identity = Some(identity.clone());
        self.alpn = alpn.to_vec();
        self
    }

    async fn run(self, net: &Net) -> Result<(), String> {
        let acceptor = self.identity.as_ref().map(|identity| {
            let mut config = config(identity, &[&TLS13, &TLS12], None);
            config.alpn_protocols = self.alpn.iter().map(|name| name.to_vec()).collect();
            TlsAcceptor::from(Arc::new(config))
        });
        let address = serve(self.script, acceptor, self.fields["transport"] == "https").await;
        let mut fields =
            json!({"hostname": "127.0.0.1", "port": address.port(), "name_to_resolve": "www.test"});
        fields.as_object_mut().unwrap().extend(self.fields.as_object().unwrap().clone());
        let observation = attempt(net, MonitorType::NameServer, fields, self.timeout).await;
        compare(&observation, self.expected).map_err(|difference| format!("{}: {difference}", self.name))
    }
}

fn compare(observation: &Observation, expected: Expected) -> Result<(), String> {
    let (failure, (kind, phase, expected_text)) = match (&observation.failure, expected) {
        (None, None) => return Ok(()),
        (Some(failure), Some(expected)) => (failure, expected),
        (failure, expected) => return Err(format!("expected {expected:?}, seen {failure:?}")),
    };
    let text = failure.to_string();
    if (failure.kind, failure.phase) != (kind, phase) || !text.contains(expected_text) {
        return Err(format!(
            "expected {kind:?} in {phase:?} with `{expected_text}`, seen {failure:?}: {text}"
        ));
    }
    if text.chars().any(char::is_control) || text.len() > 1500 {
        return Err(format!("not fit to be shown: {text:?}"));
    }
    Ok(())
}

/// Starts a server for datagrams and streams that plays `script` for every question.
async fn serve(script: Script, acceptor: Option<TlsAcceptor>, is_http: bool) -> SocketAddr {
    let (tcp, udp) = loop {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
            break (tcp, udp);
        }
    };
    let address = tcp.local_addr().unwrap();
    let udp_script = script.clone();
    tokio::spawn(async move {
        let mut buffer = [0; 4096];
        while let Ok((length, from)) = udp.recv_from(&mut buffer).await {
            for next in udp_script(&Message::from_vec(&buffer[..length]).unwrap(), false) {
                if let Send(bytes) = next {
                    udp.send_to(&bytes, from).await.unwrap();
                }
            }
        }
    });
    tokio::spawn(async move {
        while let Ok((stream, _)) = tcp.accept().await {
            let (script, acceptor) = (script.clone(), acceptor.clone());
            tokio::spawn(async move {
                match acceptor {
                    None => play(stream, script, is_http).await,
                    Some(acceptor) => match acceptor.accept(stream).await {
                        Ok(stream) => play(stream, script, is_http).await,
                        Err(_) => None,
                    },
                }
            });
        }
    });
    address
}

async fn play<S: AsyncRead + AsyncWrite + Unpin + Raw>(
    mut stream: S,
    script: Script,
    is_http: bool,
) -> Option<()> {
    let mut question = vec![0; 4096];
    if is_http {
        // Head and body of the request; both are short.
        let mut filled = 0;
        while !String::from_utf8_lossy(&question[..filled]).contains("www") {
            filled += stream.read(&mut question[filled..]).await.ok().filter(|&more| more > 0)?;
        }
        question = query_without_id();
    } else {
        let length = stream.read_u16().await.ok()?;
        question.truncate(usize::from(length));
        stream.read_exact(&mut question).await.ok()?;
    }
    for next in script(&Message::from_vec(&question).unwrap(), true) {
        match next {
            Send(bytes) => stream.write_all(&bytes).await.ok()?,
            Frame(bytes) => {
                stream.write_u16(u16::try_from(bytes.len()).unwrap()).await.ok()?;
                stream.write_all(&bytes).await.ok()?;
            }
            Reset => {
                stream.tcp().set_zero_linger().unwrap();
                return None;
            }
            Stall => std::future::pending().await,
        }
        stream.flush().await.ok()?;
    }
    stream.shutdown().await.ok()
}

/// Access to the TCP connection below a stream.
trait Raw {
    fn tcp(&self) -> &TcpStream;
}

impl Raw for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Raw for tokio_rustls::server::TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Returns the question as it comes over HTTPS.
fn query_without_id() -> Vec<u8> {
    let mut message = Message::query();
    message.metadata.id = 0;
    message.add_query(Query::query(name("www.test."), RecordType::A));
    message.to_vec().unwrap()
}

fn name(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn bytes(message: &Message) -> Vec<u8> {
    message.to_vec().unwrap()
}

/// Returns a valid reply.
fn good(query: &Message) -> Message {
    answer(query, &[v4("192.0.2.1")], ResponseCode::NoError)
}

fn changed(query: &Message, change: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut message = good(query);
    change(&mut message);
    bytes(&message)
}

/// Returns a reply with `count` aliases, starting at the queried name, and an address at their end.
fn aliases(query: &Message, count: usize) -> Vec<u8> {
    let mut data: Vec<RData> = (0..count).map(|n| alias(&format!("a{n}.test."))).collect();
    data.push(v4("192.0.2.1"));
    bytes(&answer(query, &data, ResponseCode::NoError))
}

/// Returns acts that send `message` as a datagram or as a message over TCP.
fn both(message: Vec<u8>, is_stream: bool) -> Vec<Act> {
    vec![if is_stream { Frame(message) } else { Send(message) }]
}

/// Name of a case, the message that it makes of a question, and the expected result.
type BadMessage = (&'static str, fn(&Message) -> Vec<u8>, Expected);

/// Returns bad messages that arrive whole over a stream, so that each is detected at once.
fn messages() -> Vec<BadMessage> {
    use Kind::{DnsAliasLoop, DnsErrorRcode, DnsLameServer, DnsNoRecords, DnsTruncated, ResponseInvalid};
    let bad = |kind, text| Some((kind, Phase::Validate, text));
    let broken = |text| Some((ResponseInvalid, Phase::Transfer, text));
    vec![
        ("a good answer", |q| bytes(&good(q)), None),
        ("another id", |q| changed(q, |m| m.metadata.id ^= 1), broken("another id")),
        (
            "another name",
            |q| {
                changed(q, |m| {
                    m.queries[0].set_name(name("other.test."));
                })
            },
            broken("`other.test. A`"),
        ),
        (
            "another type",
            |q| {
                changed(q, |m| {
                    m.queries[0].set_query_type(RecordType::TXT);
                })
            },
            broken("`www.test. TXT`"),
        ),
        (
            "another class",
            |q| {
                changed(q, |m| {
                    m.queries[0].set_query_class(DNSClass::CH);
                })
            },
            broken("CH"),
        ),
        ("no question", |q| changed(q, |m| m.queries.clear()), broken("does not repeat the question")),
        (
            "the question twice",
            |q| changed(q, |m| m.queries.push(m.queries[0].clone())),
            broken("2 questions"),
        ),
        (
            "65,535 questions",
            |q| {
                let mut bytes = bytes(&good(q));
                bytes[4..6].fill(0xff);
                bytes
            },
            broken("65535 questions"),
        ),
        (
            "65,535 answers",
            |q| {
                let mut bytes = bytes(&good(q));
                bytes[6..8].fill(0xff);
                bytes
            },
            broken("cannot be read"),
        ),
        ("the question itself", bytes, broken("marked as a query")),
        ("another opcode", |q| changed(q, |m| m.metadata.op_code = OpCode::Notify), broken("NOTIFY")),
        ("nothing", |_| Vec::new(), broken("shorter than a header")),
        ("two bytes", |q| bytes(&good(q))[..2].to_vec(), broken("shorter than a header")),
        (
            "three bytes",
            |q| bytes(&good(q))[..3].to_vec(),
            broken("3 bytes, which is less than the header of a DNS message (12)"),
        ),
        ("garbage", |_| vec![0xa5; 300], broken("another id")),
        (
            "garbage behind the header",
            |q| [&bytes(&good(q))[..12], &[0xa5; 300]].concat(),
            broken("cannot be read"),
        ),
        (
            "a name that points to itself",
            |q| {
                // The owner name of the record is a pointer to its own position (RFC 1035 4.1.4).
                let mut bytes = bytes(q);
                bytes.truncate(12 + 10 + 4);
                bytes[2] |= 0x80;
                bytes[6..8].copy_from_slice(&[0, 1]);
                bytes[8..12].fill(0);
                let here = u8::try_from(bytes.len()).unwrap();
                bytes.extend([0xc0, here, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
                bytes
            },
            broken("cannot be read"),
        ),
        (
            "a name that points past the end",
            |q| {
                let mut bytes = bytes(q);
                bytes.truncate(12 + 10 + 4);
                bytes[2] |= 0x80;
                bytes[6..8].copy_from_slice(&[0, 1]);
                bytes[8..12].fill(0);
                bytes.extend([0xff, 0xff, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
                bytes
            },
            broken("cannot be read"),
        ),
        (
            "an address of 3 bytes",
            |q| {
                let mut bytes = bytes(&good(q));
                let length = bytes.len() - 5;
                bytes[length] = 3;
                bytes.pop();
                bytes
            },
            broken("cannot be read"),
        ),
        (
            "cut where there is room",
            |q| changed(q, |m| m.metadata.truncation = true),
            Some((DnsTruncated, Phase::Transfer, "bytes over ")),
        ),
        (
            "SERVFAIL",
            |q| changed(q, |m| m.metadata.response_code = ResponseCode::ServFail),
            bad(DnsErrorRcode, "SERVFAIL; its zone"),
        ),
        (
            "REFUSED",
            |q| changed(q, |m| m.metadata.response_code = ResponseCode::Refused),
            bad(DnsErrorRcode, "REFUSED; it does not serve the name"),
        ),
        (
            "NXDOMAIN",
            |q| changed(q, |m| m.metadata.response_code = ResponseCode::NXDomain),
            bad(DnsErrorRcode, "NXDOMAIN"),
        ),
        (
            "FORMERR without the question",
            |q| {
                let mut message = Message::response(q.metadata.id, OpCode::Query);
                message.metadata.response_code = ResponseCode::FormErr;
                bytes(&message)
            },
            bad(DnsErrorRcode, "FORMERR"),
        ),
        (
            "a lame server",
            |q| {
                let mut message = answer(q, &[], ResponseCode::NoError);
                message.metadata.authoritative = false;
                bytes(&message)
            },
            bad(DnsLameServer, "its answer is empty"),
        ),
        (
            "a referral to the root",
            |q| {
                let mut message = answer(q, &[], ResponseCode::NoError);
                message.metadata.authoritative = false;
                let server = RData::NS(hickory_proto::rr::rdata::NS(name("a.root-servers.net.")));
                message.add_authority(Record::from_rdata(Name::root(), 60, server));
                bytes(&message)
            },
            bad(DnsLameServer, "it refers to the name servers of `.` instead"),
        ),
        (
            "no records",
            |q| bytes(&answer(q, &[], ResponseCode::NoError)),
            bad(DnsNoRecords, "no record of type `A` or `AAAA`"),
        ),
        (
            "records of another type",
            |q| bytes(&answer(q, &[RData::TXT(TXT::new(vec!["x".to_owned()]))], ResponseCode::NoError)),
            bad(DnsNoRecords, "no record of type"),
        ),
        (
            "records of another name",
            |q| changed(q, |m| m.answers[0].name = name("other.test.")),
            bad(DnsNoRecords, "no record of type"),
        ),
        (
            "an alias for itself",
            |q| bytes(&answer(q, &[alias("www.test.")], ResponseCode::NoError)),
            bad(DnsAliasLoop, "`www.test.` → `www.test.`"),
        ),
        (
            "aliases that go round",
            |q| {
                bytes(&answer(
                    q,
                    &[alias("b.test."), alias("c.test."), alias("b.test.")],
                    ResponseCode::NoError,
                ))
            },
            bad(DnsAliasLoop, "the aliases form a loop: `www.test.` → `b.test.` → `c.test.` → `b.test.`"),
        ),
        ("16 aliases", |q| aliases(q, 16), None),
        ("17 aliases", |q| aliases(q, 17), bad(DnsAliasLoop, "more than 16")),
        ("1,500 aliases", |q| aliases(q, 1500), bad(DnsAliasLoop, "more than 16")),
        (
            "a value that a terminal would obey",
            |q| {
                bytes(&answer(
                    q,
                    &[RData::TXT(TXT::new(vec!["\u{1b}[2J".to_owned()])), v4("192.0.2.1")],
                    ResponseCode::NoError,
                ))
            },
            None,
        ),
    ]
}

fn tcp_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, message, expected) in messages() {
        cases.push(case(name, move |q, is_stream| both(message(q), is_stream), expected).over("tcp"));
    }
    let cut = |came: &'static str| Some((Kind::ResponseTruncated, Phase::Transfer, came));
    let slow = |phase, text| Some((Kind::TimedOut, phase, text));
    cases.extend([
        case("closes", |_, _| vec![], Some((Kind::NoResponse, Phase::FirstByte, ""))).over("tcp"),
        case("resets", |_, _| vec![Reset], Some((Kind::ResponseReset, Phase::FirstByte, ""))).over("tcp"),
        case("stalls", |_, _| vec![Stall], slow(Phase::FirstByte, "")).over("tcp"),
        case(
            "half a length",
            |_, _| vec![Send(vec![0])],
            Some((Kind::ResponseTruncated, Phase::FirstByte, "closed after 1 bytes")),
        )
        .over("tcp"),
        case(
            "a length and no more",
            |_, _| vec![Send(vec![1, 0])],
            cut("closed after 0 of 256 announced bytes"),
        )
        .over("tcp"),
        case(
            "a length that is too long",
            |q, _| {
                let message = bytes(&good(q));
                let length = u16::try_from(message.len() + 5).unwrap();
                vec![Send(length.to_be_bytes().to_vec()), Send(message)]
            },
            cut("of 47 announced bytes"),
        )
        .over("tcp"),
        case(
            "a length that is too short",
            |q, _| {
                let message = bytes(&good(q));
                let length = u16::try_from(message.len() - 5).unwrap();
                vec![Send(length.to_be_bytes().to_vec()), Send(message)]
            },
            Some((Kind::ResponseInvalid, Phase::Transfer, "cannot be read")),
        )
        .over("tcp"),
        case(
            "a stall inside of the message",
            |q, _| vec![Send(vec![0xff, 0xff]), Send(bytes(&good(q))), Stall],
            slow(Phase::Transfer, "of 65535 bytes were received"),
        )
        .over("tcp"),
        case("more behind the message", |q, _| vec![Frame(bytes(&good(q))), Send(vec![7; 9000])], None)
            .over("tcp"),
        case(
            "HTTP",
            |_, _| vec![Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())],
            cut("of 18516 announced bytes"),
        )
        .over("tcp"),
    ]);
    // Cut at every byte: never a valid reply, whatever the length prefix says.
    let whole = bytes(&good(&Message::from_vec(&query_without_id()).unwrap())).len();
    for length in 0..whole {
        let expected = Some((Kind::ResponseInvalid, Phase::Transfer, ""));
        let script = move |q: &Message, _: bool| vec![Frame(bytes(&good(q))[..length].to_vec())];
        cases.push(case(&format!("the first {length} bytes"), script, expected).over("tcp"));
    }
    cases
}

fn udp_cases() -> Vec<Case> {
    let unanswered = |text| Some((Kind::TimedOut, Phase::FirstByte, text));
    let one = |change: fn(&Message) -> Vec<u8>| move |q: &Message, _: bool| vec![Send(change(q))];
    let mut cases = vec![
        case("says nothing", |_, _| vec![], unanswered("the question was sent")),
        case("another id", one(|q| changed(q, |m| m.metadata.id ^= 1)), unanswered("it has another id")),
        case("the question itself", one(bytes), unanswered("marked as a query")),
        case(
            "another name",
            one(|q| {
                changed(q, |m| {
                    m.queries[0].set_name(name("other.test."));
                })
            }),
            unanswered("another question, `other.test. A`"),
        ),
        case("an empty datagram", one(|_| Vec::new()), unanswered("shorter than a header")),
        case("a datagram of 9,000 bytes", one(|_| vec![0; 9000]), unanswered("it has another id")),
        case(
            "a good answer after a thousand others",
            |q, _| {
                let mut acts: Vec<Act> =
                    (0..1000).map(|_| Send(changed(q, |m| m.metadata.id ^= 1))).collect();
                acts.insert(50, Send(bytes(&good(q))));
                acts
            },
            None,
        ),
        case(
            "cut inside of a record, then whole over TCP",
            |q, is_stream| {
                let mut message = bytes(&good(q));
                if !is_stream {
                    message[2] |= 0x02;
                    message.truncate(message.len() - 3);
                }
                both(message, is_stream)
            },
            None,
        ),
        case(
            "cut, and then nothing over TCP",
            |q, is_stream| {
                if is_stream { vec![] } else { vec![Send(changed(q, |m| m.metadata.truncation = true))] }
            },
            Some((Kind::NoResponse, Phase::FirstByte, "since the answer over UDP was cut")),
        ),
        case(
            "cut inside of a record without a word of it",
            one(|q| bytes(&good(q))[..30].to_vec()),
            Some((Kind::ResponseInvalid, Phase::FirstByte, "30 bytes that cannot be read")),
        ),
    ];
    let unproven = |text| Some((Kind::DnsNotAuthenticated, Phase::Validate, text));
    cases.extend(
        [
            case("not proven", |q, s| both(bytes(&good(q)), s), unproven("the zone is not signed")),
            case("proven", |q, s| both(changed(q, |m| m.metadata.authentic_data = true), s), None),
            case(
                "not proven, by a server that recursive",
                |q, s| {
                    both(
                        changed(q, |m| {
                            (m.metadata.authoritative, m.metadata.recursion_available) = (false, true);
                        }),
                        s,
                    )
                },
                unproven("the answer carries no signatures"),
            ),
        ]
        .map(|case| case.with("require_dnssec", json!(true))),
    );
    cases.push(
        case(
            "other values",
            |q, s| both(bytes(&good(q)), s),
            Some((Kind::DnsRecordsDiffer, Phase::Validate, "`192.0.2.7` is not among `192.0.2.1`")),
        )
        .with("expected_answers", json!(["192.0.2.7"])),
    );
    cases
}

fn tls_cases(authority: &Authority) -> Vec<Case> {
    let valid = authority.issue(&["127.0.0.1"], (2020, 2090));
    let whole = |q: &Message, s: bool| both(bytes(&good(q)), s);
    let refused = |kind, text| Some((kind, Phase::Tls, text));
    let mut cases: Vec<Case> = vec![
        case("a good answer", whole, None).with_identity(&valid, &[]),
        case("knows other protocols", whole, None).with_identity(&valid, &[b"dot", b"h2"]),
        case("expired", whole, refused(Kind::CertificateExpired, "expired at 2020"))
            .with_identity(&authority.issue(&["127.0.0.1"], (2010, 2020)), &[]),
        case("not valid yet", whole, refused(Kind::CertificateNotYetValid, "valid from 2089"))
            .with_identity(&authority.issue(&["127.0.0.1"], (2089, 2090)), &[]),
        case("of another name", whole, refused(Kind::CertificateNameMismatch, "asked for `127.0.0.1`"))
            .with_identity(&authority.issue(&["ns.test"], (2020, 2090)), &[]),
        case("self-signed", whole, refused(Kind::CertificateIssuerUnknown, "self-signed"))
            .with_identity(&self_signed(&["127.0.0.1"], false), &[]),
        case("of a stranger", whole, refused(Kind::CertificateIssuerUnknown, "not trusted here"))
            .with_identity(&Authority::new("a stranger").issue(&["127.0.0.1"], (2020, 2090)), &[]),
        case("self-signed, and not to be verified", whole, None)
            .with_identity(&self_signed(&["127.0.0.1"], false), &[])
            .with("verify_certificate", json!(false)),
        // The ClientHello, read as a question, has an impossible length: the server waits for more.
        case("without TLS", whole, Some((Kind::TimedOut, Phase::Tls, ""))),
        case("closes", |_, _| vec![], Some((Kind::NoResponse, Phase::FirstByte, "")))
            .with_identity(&valid, &[]),
        case("stalls", |_, _| vec![Stall], Some((Kind::TimedOut, Phase::FirstByte, "")))
            .with_identity(&valid, &[]),
        case(
            "half a message",
            |_, _| vec![Send(vec![1, 0, 7])],
            Some((Kind::ResponseTruncated, Phase::Transfer, "1 of 256")),
        )
        .with_identity(&valid, &[]),
        case(
            "another id",
            |q, s| both(changed(q, |m| m.metadata.id ^= 1), s),
            Some((Kind::ResponseInvalid, Phase::Transfer, "another id")),
        )
        .with_identity(&valid, &[]),
        case(
            "cut where there is room",
            |q, s| both(changed(q, |m| m.metadata.truncation = true), s),
            Some((Kind::DnsTruncated, Phase::Transfer, "over tls")),
        )
        .with_identity(&valid, &[]),
    ];
    cases = cases.into_iter().map(|case| case.over("tls")).collect();
    cases
}

/// Returns an HTTP/1.1 response whose body ends with the connection.
fn http(head: &str, body: &[u8]) -> Vec<Act> {
    vec![Send([format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes(), body].concat())]
}

const TYPED: &str = "200 OK\r\nContent-Type: application/dns-message";

fn https_cases(authority: &Authority) -> Vec<Case> {
    let valid = authority.issue(&["127.0.0.1"], (2020, 2090));
    let broken = |phase, text| Some((Kind::ResponseInvalid, phase, text));
    let status = |text| Some((Kind::HttpErrorStatus, Phase::FirstByte, text));
    let cases = vec![
        case("a good answer in HTTP/1.1", |q, _| http(TYPED, &bytes(&good(q))), None),
        case(
            "with a parameter",
            |q, _| http("200 OK\r\nContent-Type: Application/DNS-Message; a=b", &bytes(&good(q))),
            None,
        ),
        case("404", |_, _| http("404 Not Found", b"no"), status("`/dns-query` answered 404 Not Found")),
        case("405", |_, _| http("405 Method Not Allowed", b""), status("405")),
        case("500", |_, _| http("500 Internal Server Error", b""), status("500")),
        case("a redirect", |_, _| http("302 Found\r\nLocation: https://elsewhere.test/", b""), status("302")),
        case("no content", |_, _| http("204 No Content", b""), status("204")),
        case(
            "a page",
            |_, _| http("200 OK\r\nContent-Type: text/html", b"<p>hi"),
            broken(Phase::FirstByte, "`text/html`"),
        ),
        case(
            "no media type",
            |q, _| http("200 OK", &bytes(&good(q))),
            broken(Phase::FirstByte, "of no media type"),
        ),
        case(
            "JSON",
            |_, _| http("200 OK\r\nContent-Type: application/dns-json", b"{}"),
            broken(Phase::FirstByte, "dns-json"),
        ),
        case("an empty body", |_, _| http(TYPED, b""), broken(Phase::Transfer, "shorter than a header")),
        case("garbage", |_, _| http(TYPED, &[0; 40]), broken(Phase::Transfer, "marked as a query")),
        case(
            "another id",
            |q, _| http(TYPED, &changed(q, |m| m.metadata.id = 7)),
            broken(Phase::Transfer, "another id, 7"),
        ),
        case(
            "half a message",
            |q, _| http(TYPED, &bytes(&good(q))[..30]),
            broken(Phase::Transfer, "cannot be read"),
        ),
        case(
            "a huge body",
            |_, _| http(TYPED, &vec![0; 1024 * 1024]),
            Some((Kind::ResponseTooLarge, Phase::Transfer, "65535")),
        ),
        case(
            "a body that ends too early",
            |q, _| http(&format!("{TYPED}\r\nContent-Length: 500"), &bytes(&good(q))),
            Some((Kind::ResponseTruncated, Phase::Transfer, "")),
        ),
        case(
            "no HTTP",
            |q, _| vec![Frame(bytes(&good(q)))],
            Some((Kind::ResponseInvalid, Phase::Transfer, "")),
        ),
        case("closes", |_, _| vec![], Some((Kind::NoResponse, Phase::FirstByte, ""))),
        case("stalls", |_, _| vec![Stall], Some((Kind::TimedOut, Phase::FirstByte, ""))),
        case(
            "stalls in the body",
            |_, _| {
                let mut acts = http(&format!("{TYPED}\r\nContent-Length: 500"), b"x");
                acts.push(Stall);
                acts
            },
            Some((Kind::TimedOut, Phase::Transfer, "")),
        ),
        case(
            "NXDOMAIN",
            |q, _| http(TYPED, &changed(q, |m| m.metadata.response_code = ResponseCode::NXDomain)),
            Some((Kind::DnsErrorRcode, Phase::Validate, "NXDOMAIN")),
        ),
        case(
            "says HTTP/2 and speaks HTTP/1.1",
            |q, _| http(TYPED, &bytes(&good(q))),
            Some((Kind::ResponseInvalid, Phase::FirstByte, "http2 error")),
        )
        .with_identity(&valid, &[b"h2"]),
        case(
            "expired",
            |q, _| http(TYPED, &bytes(&good(q))),
            Some((Kind::CertificateExpired, Phase::Tls, "")),
        )
        .with_identity(&authority.issue(&["127.0.0.1"], (2010, 2020)), &[b"http/1.1"]),
        case(
            "speaks neither HTTP/2 nor HTTP/1.1",
            |q, _| http(TYPED, &bytes(&good(q))),
            Some((Kind::TlsHandshakeFailed, Phase::Tls, "")),
        )
        .with_identity(&valid, &[b"h3"]),
    ];
    let with_default_identity =
        |case: Case| if case.identity.is_some() { case } else { case.with_identity(&valid, &[b"http/1.1"]) };
    cases.into_iter().map(|case| with_default_identity(case).over("https")).collect()
}

async fn run_cases(cases: Vec<Case>, min: usize, authority: Option<&Authority>) {
    assert!(cases.len() >= min, "{}", cases.len());
    let net = net_with(|config| {
        let pem = authority.map(|ca| Pem { label: "ca".to_owned(), text: ca.pem().into_bytes() });
        config.trust_config.additional_authorities = pem.into_iter().collect();
    });
    let running: FuturesUnordered<_> = cases.into_iter().map(|case| case.run(&net)).collect();
    let differences: Vec<String> = running.filter_map(|outcome| async move { outcome.err() }).collect().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn every_misbehaviour_over_tcp_has_its_failure_kind() {
    run_cases(tcp_cases(), 80, None).await;
}

#[tokio::test]
async fn every_misbehaviour_over_udp_has_its_failure_kind() {
    run_cases(udp_cases(), 14, None).await;
}

#[tokio::test]
async fn every_misbehaviour_over_tls_has_its_failure_kind() {
    let authority = Authority::new("test authority");
    run_cases(tls_cases(&authority), 14, Some(&authority)).await;
}

#[tokio::test]
async fn every_misbehaviour_over_https_has_its_failure_kind() {
    let authority = Authority::new("test authority");
    run_cases(https_cases(&authority), 24, Some(&authority)).await;
}

#[tokio::test]
async fn a_reply_from_another_address_is_ignored() {
    // The replying socket is bound to another address than the one that was asked.
    let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port();
    let other = UdpSocket::bind(("127.0.0.9", port)).await.unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 4096];
        while let Ok((length, from)) = target.recv_from(&mut buffer).await {
            let query = Message::from_vec(&buffer[..length]).unwrap();
            other.send_to(&bytes(&good(&query)), from).await.unwrap();
        }
    });
    let fields = json!({"hostname": "127.0.0.1", "port": port, "name_to_resolve": "www.test"});
    let observation =
        attempt(&net_with(|_| {}), MonitorType::NameServer, fields, Duration::from_millis(600)).await;
    compare(&observation, Some((Kind::TimedOut, Phase::FirstByte, "the question was sent once"))).unwrap();
}
