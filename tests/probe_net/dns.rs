//! `name-server`: questions to name servers that reply correctly, wrongly or not at all.

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;
use serde_json::{Value, json};
use vigie::domain::{FailureKind, MonitorType, Observation, Phase, Status};
use vigie::net::{EgressPolicy, NameServers};

use crate::probe_net::{TIMEOUT, attempt, failure_kind, net, net_with};
use crate::support::name_server::{NameServer, Reply, alias, v4, v6};

fn script(name: &str, kind: RecordType) -> Reply {
    let six = kind == RecordType::AAAA;
    match (name, six) {
        ("default.test", _) => Reply::Records(vec![v4("192.0.2.10")]),
        ("second.test", _) => Reply::Records(vec![v4("192.0.2.20"), v4("192.0.2.21")]),
        ("six.test", true) => Reply::Records(vec![v6("2001:db8::6")]),
        ("six.test" | "empty.test", _) => Reply::Records(Vec::new()),
        ("alias.test", _) => Reply::Records(vec![alias("elsewhere.test.")]),
        ("dangling.test", _) => Reply::Recursive(vec![alias("gone.test.")]),
        ("followed.test", _) => Reply::Recursive(vec![alias("a.test."), v4("192.0.2.30")]),
        ("long.test", _) => Reply::TruncatedOverUdp((0..200).map(|n| v4(&format!("192.0.2.{n}"))).collect()),
        ("half.test", _) => Reply::Half,
        ("servfail.test", _) => Reply::Code(ResponseCode::ServFail),
        ("refused.test", _) => Reply::Code(ResponseCode::Refused),
        ("silent.test", _) => Reply::Silence,
        ("wrong-id.test", _) => Reply::WrongId,
        ("wrong-question.test", _) => Reply::WrongQuestion,
        ("rubbish.test", _) => Reply::Rubbish,
        ("noise.test", _) => Reply::After(b"x".to_vec(), vec![v4("192.0.2.1")]),
        ("forged.test", _) => Reply::After(vec![0; 60], vec![v4("192.0.2.1")]),
        _ => Reply::Code(ResponseCode::NXDomain),
    }
}

async fn check(server: &NameServer, more: Value, timeout: Duration) -> Observation {
    let mut fields = json!({"hostname": server.at.ip().to_string(), "port": server.at.port()});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    attempt(&net(), MonitorType::NameServer, fields, timeout).await
}

#[tokio::test]
async fn a_reply_is_recorded_with_its_header_and_transport() {
    for ip in ["127.0.0.1", "::1"] {
        let server = NameServer::start(ip, script).await;
        for (transport, phases) in [
            ("udp", &[Phase::Resolve, Phase::Send, Phase::FirstByte][..]),
            ("tcp", &[Phase::Resolve, Phase::Connect, Phase::Send, Phase::FirstByte, Phase::Transfer]),
        ] {
            let fields = json!({"name_to_resolve": "second.test", "transport": transport});
            let observation = check(&server, fields, TIMEOUT).await;
            assert_eq!(observation.failure, None);
            assert_eq!((observation.address, observation.warnings.len()), (Some(server.at), 0));
            let facts = observation.facts.dns.unwrap();
            assert_eq!(facts.answer_records, ["A 192.0.2.20", "A 192.0.2.21"]);
            assert_eq!((facts.query_name.as_str(), facts.record_type.as_str()), ("second.test.", "A"));
            assert_eq!((facts.rcode.as_str(), facts.transport.as_str()), ("NOERROR", transport));
            assert!(facts.authoritative);
            assert_eq!(observation.phases.iter().map(|(phase, _)| phase).collect::<Vec<_>>(), phases);
        }
    }
}

// row: 2.2 name-server.name_to_resolve; 2.2 name-server.name_to_resolve_id
#[tokio::test]
async fn the_name_comes_from_the_monitor_or_from_the_settings() {
    let server = NameServer::start("127.0.0.1", script).await;
    let cases = [
        (json!({}), "default.test."),
        (json!({"name_to_resolve": "", "name_to_resolve_id": 1}), "second.test."),
        (json!({"name_to_resolve": "six.test", "name_to_resolve_id": 1}), "six.test."),
    ];
    for (fields, question) in cases {
        let observation = check(&server, fields, TIMEOUT).await;
        assert_eq!(observation.failure, None);
        assert_eq!(observation.facts.dns.unwrap().query_name, question);
    }
    let observation = check(&server, json!({"name_to_resolve_id": 7}), TIMEOUT).await;
    assert_eq!(failure_kind(&observation), Some(FailureKind::NotConfigured));
}

#[tokio::test]
async fn every_reply_leads_to_its_failure_kind() {
    let server = NameServer::start("127.0.0.1", script).await;
    let cases = [
        ("six.test", None, "AAAA", "udp"),
        ("alias.test", None, "A", "udp"),
        ("followed.test", None, "A", "udp"),
        ("long.test", None, "A", "tcp"),
        ("noise.test", None, "A", "udp"),
        ("forged.test", None, "A", "udp"),
        ("empty.test", Some(FailureKind::DnsNoRecords), "AAAA", "udp"),
        ("dangling.test", Some(FailureKind::DnsNoRecords), "AAAA", "udp"),
        ("gone.test", Some(FailureKind::DnsErrorRcode), "A", "udp"),
        ("servfail.test", Some(FailureKind::DnsErrorRcode), "A", "udp"),
        ("refused.test", Some(FailureKind::DnsErrorRcode), "A", "udp"),
        ("rubbish.test", Some(FailureKind::ResponseInvalid), "A", "udp"),
        ("half.test", Some(FailureKind::ResponseTruncated), "A", "tcp"),
    ];
    for (name, kind, record_type, transport) in cases {
        let observation = check(&server, json!({"name_to_resolve": name}), TIMEOUT).await;
        assert_eq!(failure_kind(&observation), kind, "{name}: {:?}", observation.failure);
        if let Some(failure) = observation.failure {
            assert_eq!(failure.status(), Status::INVALID_RESPONSE, "{name}");
        }
        let facts = observation.facts.dns.unwrap();
        assert_eq!(
            (facts.record_type.as_str(), facts.transport.as_str()),
            (record_type, transport),
            "{name}"
        );
    }
    let observation = check(&server, json!({"name_to_resolve": "gone.test"}), TIMEOUT).await;
    assert!(observation.failure.unwrap().detail.contains("NXDOMAIN"));
    assert_eq!(observation.facts.dns.unwrap().rcode, "NXDOMAIN");
    let observation = check(&server, json!({"name_to_resolve": "empty.test"}), TIMEOUT).await;
    assert!(observation.failure.unwrap().detail.contains("`A` or `AAAA`"));
    let observation = check(&server, json!({"name_to_resolve": "long.test"}), TIMEOUT).await;
    assert_eq!(observation.facts.dns.unwrap().answer_records.len(), 100, "what is kept is bounded");
}

#[tokio::test]
async fn an_explicit_type_is_queried_alone() {
    let server = NameServer::start("127.0.0.1", script).await;
    for (record_type, kind, queried) in [
        ("auto", None, "AAAA"),
        ("AAAA", None, "AAAA"),
        ("A", Some(FailureKind::DnsNoRecords), "A"),
        ("MX", Some(FailureKind::DnsNoRecords), "MX"),
    ] {
        let fields = json!({"name_to_resolve": "six.test", "record_type": record_type});
        let observation = check(&server, fields, TIMEOUT).await;
        assert_eq!(failure_kind(&observation), kind, "{record_type}: {:?}", observation.failure);
        assert_eq!(observation.facts.dns.unwrap().record_type, queried, "{record_type}");
    }
}

#[tokio::test]
async fn datagrams_that_do_not_match_the_question_are_ignored() {
    let server = NameServer::start("127.0.0.1", script).await;
    for (name, strays) in [("silent.test", false), ("wrong-id.test", true), ("wrong-question.test", true)] {
        let observation = check(&server, json!({"name_to_resolve": name}), Duration::from_millis(700)).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.phase, failure.kind), (Phase::FirstByte, FailureKind::TimedOut), "{name}");
        assert_eq!(failure.detail.contains("did not answer it"), strays, "{failure}");
        assert!(observation.duration >= Duration::from_millis(690), "{:?}", observation.duration);
    }
}

#[tokio::test]
async fn a_lost_question_is_sent_again_with_a_warning() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let server = NameServer::start("127.0.0.1", move |_, _| {
        match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => Reply::Silence,
            _ => Reply::Records(vec![v4("192.0.2.1")]),
        }
    })
    .await;
    let observation = check(&server, json!({}), Duration::from_secs(4)).await;
    assert_eq!((observation.failure, server.questions()), (None, 2));
    assert!(observation.warnings[0].detail.contains("2 times"));
    assert!(!observation.warnings[0].kind.affects_outcome(), "the outcome stays ok");
}

#[tokio::test]
async fn a_closed_port_refuses_the_question() {
    // Nobody else gets the port, over neither transport. A socket that does not listen is closed, and so is a connected
    // one for everyone but its peer.
    let bind = || {
        let silent = tokio::net::TcpSocket::new_v4().unwrap();
        silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let connected = std::net::UdpSocket::bind(silent.local_addr().unwrap()).ok()?;
        Some((silent, connected))
    };
    let (_silent, connected) = std::iter::repeat_with(bind).flatten().next().unwrap();
    connected.connect("127.0.0.1:9").unwrap();
    let closed = connected.local_addr().unwrap();
    for (transport, phase) in [("udp", Phase::FirstByte), ("tcp", Phase::Connect)] {
        let fields = json!({"hostname": "127.0.0.1", "port": closed.port(), "transport": transport});
        let observation = attempt(&net(), MonitorType::NameServer, fields, TIMEOUT).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.phase, failure.kind), (phase, FailureKind::ConnectRefused), "{transport}");
        assert!(observation.phases.micros(phase).is_some(), "{transport}");
    }
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_reply() {
    let addresses = |_: &str, _| Reply::Records(vec![v4("127.0.0.2"), v4("127.0.0.1")]);
    let resolver = NameServer::start("127.0.0.1", addresses).await;
    let net = net_with(|config| config.name_servers = NameServers::Explicit(vec![resolver.at]));
    let server = NameServer::start("127.0.0.1", script).await;
    // The port of the first address is closed, or open and silent.
    for is_silent in [false, true] {
        let _silent = is_silent.then(|| std::net::UdpSocket::bind(("127.0.0.2", server.at.port())).unwrap());
        for transport in ["udp", "tcp"] {
            let fields = json!({"hostname": "ns.test", "port": server.at.port(), "transport": transport});
            let observation = attempt(&net, MonitorType::NameServer, fields, Duration::from_secs(4)).await;
            assert_eq!(observation.failure, None, "{transport}, {is_silent}");
            assert_eq!(observation.address, Some(server.at));
            assert!(observation.warnings[0].detail.contains("127.0.0.2"), "{:?}", observation.warnings);
        }
    }
    let fields = json!({"hostname": "ns.test", "port": server.at.port(), "name_to_resolve": "gone.test"});
    let observation = attempt(&net, MonitorType::NameServer, fields, TIMEOUT).await;
    assert_eq!(failure_kind(&observation), Some(FailureKind::DnsErrorRcode), "an answer is an answer");
}

#[tokio::test]
async fn expected_answers_must_be_in_the_reply() {
    let server = NameServer::start("127.0.0.1", script).await;
    let cases = [
        ("second.test", "A", json!(["192.0.2.21"]), true),
        ("second.test", "A", json!(["192.0.2.21", "192.0.2.20"]), true),
        ("second.test", "A", json!(["192.0.2.21", "192.0.2.99"]), false),
        ("alias.test", "CNAME", json!(["ELSEWHERE.test"]), true),
        ("alias.test", "CNAME", json!(["other.test."]), false),
    ];
    for (name, record_type, expected, passes) in cases {
        let fields =
            json!({"name_to_resolve": name, "record_type": record_type, "expected_answers": expected});
        let observation = check(&server, fields.clone(), TIMEOUT).await;
        assert_eq!(observation.failure.is_none(), passes, "{fields}: {:?}", observation.failure);
        if let Some(failure) = observation.failure {
            assert_eq!((failure.phase, failure.kind), (Phase::Validate, FailureKind::DnsRecordsDiffer));
            assert_eq!(failure.status(), Status::VALIDATION_FAILED);
        }
    }
}

#[tokio::test]
async fn the_egress_policy_applies_to_name_servers() {
    let server = NameServer::start("127.0.0.1", script).await;
    let strict =
        net_with(|config| config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap());
    for transport in ["udp", "tcp"] {
        let fields = json!({"hostname": "127.0.0.1", "port": server.at.port(), "transport": transport});
        let observation = attempt(&strict, MonitorType::NameServer, fields, TIMEOUT).await;
        assert_eq!(failure_kind(&observation), Some(FailureKind::EgressDenied));
    }
    assert_eq!(server.questions(), 0);
}
