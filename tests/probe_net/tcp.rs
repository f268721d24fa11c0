//! `tcp`: handshakes, encryption and dialogues.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::version::{TLS12, TLS13};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind, MonitorType, Observation, Phase, Status};
use vigie::net::{EgressPolicy, Net, Pem};

use crate::probe_net::{TIMEOUT, attempt, failure_kind, net, net_with};
use crate::support::tls_server::{Authority, config, serve};

/// One act of a scripted server.
#[derive(Clone, Copy, Debug)]
enum Act {
    Write(&'static str),
    Read(&'static str),
    /// Performs a TLS handshake, then waits until the peer closes.
    Tls,
    Reset,
    Stall,
}
use Act::{Read, Reset, Stall, Tls, Write};

/// Starts a server that plays `acts` to every client, then closes.
async fn start_server(acts: &'static [Act], tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let tls = tls.clone();
            tokio::spawn(async move {
                for act in acts {
                    match act {
                        Write(text) => stream.write_all(text.as_bytes()).await.unwrap(),
                        Read(text) => {
                            let mut received = vec![0; text.len()];
                            if stream.read_exact(&mut received).await.is_err() {
                                return;
                            }
                            assert_eq!(String::from_utf8_lossy(&received), *text);
                        }
                        Tls => {
                            let acceptor = tls.clone().unwrap();
                            if let Ok(mut stream) = acceptor.accept(stream).await {
                                let _ = stream.read_to_end(&mut Vec::new()).await;
                            }
                            return;
                        }
                        Reset => return stream.set_zero_linger().unwrap(),
                        Stall => std::future::pending().await,
                    }
                }
            });
        }
    });
    address
}

async fn check(net: &Net, at: SocketAddr, more: Value, timeout: Duration) -> Observation {
    let mut fields = json!({"hostname": at.ip().to_string(), "port": at.port()});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    attempt(net, MonitorType::Tcp, fields, timeout).await
}

#[tokio::test]
async fn a_listening_port_passes_over_both_families() {
    for ip in ["127.0.0.1", "::1"] {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let observation = check(&net(), at, json!({}), TIMEOUT).await;
        assert_eq!(observation.failure, None);
        assert_eq!(
            (observation.address, observation.facts.resolved_addresses.as_slice()),
            (Some(at), [at.ip()].as_slice())
        );
        let phases: Vec<Phase> = observation.phases.iter().map(|(phase, _)| phase).collect();
        assert_eq!(phases, [Phase::Resolve, Phase::Connect]);
        assert!(observation.duration >= observation.phases.duration(Phase::Connect).unwrap());
    }
}

#[tokio::test]
async fn the_pinned_address_is_used_only_without_resolving() {
    let listener = TcpListener::bind("127.0.0.5:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let fields = |resolve: bool| json!({"hostname": "localhost", "port": port, "ipv4": "127.0.0.5", "resolve_dns": resolve});
    let pinned = attempt(&net(), MonitorType::Tcp, fields(false), TIMEOUT).await;
    assert_eq!((pinned.failure, pinned.address), (None, Some(listener.local_addr().unwrap())));
    let named = attempt(&net(), MonitorType::Tcp, fields(true), TIMEOUT).await;
    assert_eq!(failure_kind(&named), Some(FailureKind::ConnectRefused), "the name wins");
}

#[tokio::test]
async fn a_closed_port_and_a_denied_address_have_their_failure_kinds() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let observation = check(&net(), closed, json!({}), TIMEOUT).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.phase, failure.kind), (Phase::Connect, FailureKind::ConnectRefused));
    assert_eq!((failure.status(), observation.address), (Status::CONNECT_FAILED, Some(closed)));
    assert!(observation.phases.micros(Phase::Connect).is_some());
    let strict = net_with(|config| config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.1"]).unwrap());
    let observation = check(&strict, closed, json!({}), TIMEOUT).await;
    assert_eq!(failure_kind(&observation), Some(FailureKind::EgressDenied));
}

#[tokio::test]
async fn many_checks_of_one_port_leave_no_connection_in_time_wait() {
    let listener = TcpListener::bind("127.0.0.77:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream);
        }
    });
    let net = net();
    for _ in 0..300 {
        assert_eq!(check(&net, at, json!({}), TIMEOUT).await.failure, None);
    }
    accepting.abort();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let here = format!("4D00007F:{:04X}", at.port());
    let waiting = |line: &&str| line.contains(&here) && line.split_whitespace().nth(3) == Some("06");
    assert_eq!(table.lines().filter(waiting).count(), 0, "no connection waits");
}

#[tokio::test]
async fn a_dialogue_runs_step_by_step() {
    let at = start_server(
        &[
            Write("220 ready\r\n"),
            Read("HELO\r\n"),
            Write("25"),
            Write("0 ok\r\n250 more\r\n"),
            Read("QUIT\r\n"),
            Write("221 bye\r\n"),
        ],
        None,
    )
    .await;
    let dialogue = json!([
        {"expect": "^220 "},
        {"send": "HELO\r\n", "expect": "250 [a-z]+\r\n"},
        {"expect": "^250 more"},
        {"send": "QUIT\r\n", "expect": "(?m)^221"},
    ]);
    let observation = check(&net(), at, json!({"dialogue": dialogue}), TIMEOUT).await;
    assert_eq!(observation.failure, None);
    for phase in [Phase::Connect, Phase::Send, Phase::FirstByte, Phase::Transfer] {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
    }
}

#[tokio::test]
async fn an_expected_text_may_end_at_any_line() {
    let greeting = &[Write("220-one\r\n220-two\r\n220 three\r\n")];
    let at = start_server(greeting, None).await;
    for (pattern, passes) in
        [("^220 three$", true), ("two$", true), ("(?-m)^220 three", false), ("^three", false)]
    {
        let fields = json!({"dialogue": [{"expect": pattern}]});
        let observation = check(&net(), at, fields, TIMEOUT).await;
        assert_eq!(observation.failure.is_none(), passes, "{pattern}: {:?}", observation.failure);
    }
}

#[tokio::test]
async fn a_reply_starts_after_the_line_matched_before() {
    let acts = &[
        Write("220 ready\r\n"),
        Read("HELO\r\n"),
        Write("250 ok\r\n"),
        Read("QUIT\r\n"),
        Write("221 bye\r\n"),
    ];
    let at = start_server(acts, None).await;
    let dialogue = json!([
        {"expect": "^220 "}, {"send": "HELO\r\n", "expect": "^250 "}, {"send": "QUIT\r\n", "expect": "^221 "},
    ]);
    assert_eq!(check(&net(), at, json!({"dialogue": dialogue}), TIMEOUT).await.failure, None);
}

#[tokio::test]
async fn failed_dialogues_have_their_kind_and_status() {
    const LONG: &str =
        "............................................................................................";
    let cases: &[(&'static [Act], FailureKind, Status)] = &[
        (&[Write("500 no\r\n")], FailureKind::UnexpectedReply, Status::INVALID_RESPONSE),
        (&[Write("500 no\r\n"), Stall], FailureKind::UnexpectedReply, Status::INVALID_RESPONSE),
        (&[Stall], FailureKind::TimedOut, Status::TIMED_OUT),
        (&[Write("5"), Stall], FailureKind::TimedOut, Status::TIMED_OUT),
        (&[], FailureKind::NoResponse, Status::NO_RESPONSE),
        (&[Reset], FailureKind::ResponseReset, Status::NO_RESPONSE),
        (
            &[Write("2"), Write("1"), Write("\u{0}\u{1b}[2J"), Write(LONG)],
            FailureKind::UnexpectedReply,
            Status::INVALID_RESPONSE,
        ),
    ];
    for (acts, kind, status) in cases {
        let at = start_server(acts, None).await;
        let observation =
            check(&net(), at, json!({"dialogue": [{"expect": "220 "}]}), Duration::from_millis(600)).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.phase, failure.kind), (Phase::FirstByte, *kind), "{acts:?}: {failure}");
        assert_eq!(failure.status(), *status);
        assert!(observation.phases.micros(Phase::FirstByte).is_some());
        assert!(!failure.detail.contains('\u{1b}') && failure.detail.len() < 300, "{failure:?}");
    }
}

#[tokio::test]
async fn an_endless_reply_is_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    });
    let observation = check(&net(), at, json!({"dialogue": [{"expect": "never"}]}), TIMEOUT).await;
    assert_eq!(failure_kind(&observation), Some(FailureKind::ResponseTooLarge));
}

#[tokio::test]
async fn implicit_tls_records_the_certificate_and_runs_the_dialogue() {
    let authority = Authority::new("test authority");
    let valid = authority.issue(&["127.0.0.1"], (2020, 2090));
    let expired = authority.issue(&["127.0.0.1"], (2010, 2020));
    let trusting = net_with(|config| {
        config.trust_config.additional_authorities =
            vec![Pem { label: "ca".to_owned(), text: authority.pem().into_bytes() }];
    });
    let at = serve("127.0.0.1", config(&valid, &[&TLS13, &TLS12], None)).await;
    let fields = json!({"tls": "implicit", "dialogue": [{"expect": "hello"}]});
    let observation = check(&trusting, at, fields.clone(), TIMEOUT).await;
    assert_eq!(observation.failure, None);
    assert_eq!(observation.facts.tls.unwrap().certificates[0].subject_alt_names, ["127.0.0.1"]);
    assert!(observation.phases.micros(Phase::Tls).is_some());

    let observation = check(&net(), at, fields.clone(), TIMEOUT).await;
    assert_eq!(failure_kind(&observation), Some(FailureKind::CertificateIssuerUnknown));
    assert!(observation.facts.tls.is_some(), "facts are kept of what was refused");
    let lax = json!({"tls": "implicit", "verify_certificate": false});
    assert_eq!(check(&net(), at, lax, TIMEOUT).await.failure, None);
    assert_eq!(
        failure_kind(&check(&net(), at, json!({"tls": "implicit", "ca_cert_id": 9}), TIMEOUT).await),
        Some(FailureKind::NotConfigured)
    );

    let at = serve("127.0.0.1", config(&expired, &[&TLS13], None)).await;
    let failure = check(&trusting, at, fields, TIMEOUT).await.failure.unwrap();
    assert_eq!(
        (failure.kind, failure.status()),
        (FailureKind::CertificateExpired, Status::VALIDATION_FAILED)
    );
}

#[tokio::test]
async fn starttls_follows_each_protocol() {
    let authority = Authority::new("test authority");
    let valid = authority.issue(&["127.0.0.1"], (2020, 2090));
    let acceptor = TlsAcceptor::from(Arc::new(config(&valid, &[&TLS13, &TLS12], None)));
    let trusting = net_with(|config| {
        config.trust_config.additional_authorities =
            vec![Pem { label: "ca".to_owned(), text: authority.pem().into_bytes() }];
    });
    let unexpected = Some(FailureKind::UnexpectedReply);
    let cases: &[(&str, &'static [Act], Option<FailureKind>)] = &[
        (
            "smtp",
            &[
                Write("220-hi\r\n220 there\r\n"),
                Read("EHLO localhost\r\n"),
                Write("250-me\r\n250-starttls\r\n250 SIZE\r\n"),
                Read("STARTTLS\r\n"),
                Write("220 go\r\n"),
                Tls,
            ],
            None,
        ),
        (
            "smtp",
            &[
                Write("220 hi\r\n"),
                Read("EHLO localhost\r\n"),
                Write("250 STARTTLS\r\n"),
                Read("STARTTLS\r\n"),
                Write("454 not now\r\n"),
                Stall,
            ],
            unexpected,
        ),
        (
            "smtp",
            &[Write("220 hi\r\n"), Read("EHLO localhost\r\n"), Write("250-me\r\n250 SIZE\r\n"), Stall],
            unexpected,
        ),
        ("smtp", &[Write("554 go away\r\n"), Stall], unexpected),
        (
            "smtp",
            &[
                Write("220 hi\r\n"),
                Read("EHLO localhost\r\n"),
                Write("250 STARTTLS\r\n"),
                Read("STARTTLS\r\n"),
                Write("220 go\r\nEVIL\r\n"),
                Tls,
            ],
            unexpected,
        ),
        ("smtp", &[], Some(FailureKind::NoResponse)),
        ("smtp", &[Stall], Some(FailureKind::TimedOut)),
        (
            "imap",
            &[Write("* OK hi\r\n"), Read("a STARTTLS\r\n"), Write("* CAPABILITY X\r\na OK go\r\n"), Tls],
            None,
        ),
        ("imap", &[Write("* OK hi\r\n"), Read("a STARTTLS\r\n"), Write("a BAD what\r\n"), Stall], unexpected),
        ("imap", &[Write("* BYE\r\n"), Stall], unexpected),
        ("pop3", &[Write("+OK hi\r\n"), Read("STLS\r\n"), Write("+OK\r\n"), Tls], None),
        ("pop3", &[Write("+OK hi\r\n"), Read("STLS\r\n"), Write("-ERR\r\n"), Stall], unexpected),
        ("ftp", &[Write("220 hi\r\n"), Read("AUTH TLS\r\n"), Write("234 go\r\n"), Tls], None),
        ("ftp", &[Write("220 hi\r\n"), Read("AUTH TLS\r\n"), Write("502 no\r\n"), Stall], unexpected),
        ("postgres", &[Read("\u{0}\u{0}\u{0}\u{8}\u{4}"), Write("N"), Stall], unexpected),
    ];
    for (protocol, acts, expected) in cases {
        let at = start_server(acts, Some(acceptor.clone())).await;
        let fields = json!({"tls": format!("starttls-{protocol}")});
        let observation = check(&trusting, at, fields, Duration::from_millis(1500)).await;
        assert_eq!(failure_kind(&observation), *expected, "{protocol} {acts:?}: {:?}", observation.failure);
        assert_eq!(observation.facts.tls.is_some(), expected.is_none());
    }
}

#[tokio::test]
async fn starttls_for_postgres_sends_an_ssl_request() {
    let authority = Authority::new("test authority");
    let valid = authority.issue(&["127.0.0.1"], (2020, 2090));
    let acceptor = TlsAcceptor::from(Arc::new(config(&valid, &[&TLS13], None)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 8];
        stream.read_exact(&mut request).await.unwrap();
        // Length 8, then 80877103 (PostgreSQL 55.7, SSLRequest).
        assert_eq!((request[3], u32::from_be_bytes(request[4..].try_into().unwrap())), (8, 80_877_103));
        stream.write_all(b"S").await.unwrap();
        let _ = acceptor.accept(stream).await.unwrap().read_u8().await;
    });
    let fields = json!({"tls": "starttls-postgres", "verify_certificate": false});
    let observation = check(&net(), at, fields, TIMEOUT).await;
    assert_eq!(observation.failure, None);
}
