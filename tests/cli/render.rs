//! Golden texts of check results.

use std::time::Duration;

use vigie::cli::render;
use vigie::cli::style::Style;
use vigie::domain::*;

/// A month before the end of the certificate.
const AT: &str = "2026-11-20T08:00:00Z";

fn at() -> Timestamp {
    Timestamp::parse(AT).unwrap()
}

fn phases(pairs: &[(Phase, u64)]) -> Phases {
    let mut phases = Phases::default();
    for &(phase, micros) in pairs {
        phases.set(phase, Duration::from_micros(micros));
    }
    phases
}

fn attempt(number: u8, phases: Phases, failure: Option<Failure>) -> Attempt {
    let total_us = phases.iter().map(|(_, micros)| u64::from(micros)).sum();
    Attempt { number, started_at: at(), duration_us: total_us, phases, failure, warnings: Vec::new() }
}

fn result(kind: MonitorType, name: &str, outcome: Outcome, attempts: Vec<Attempt>) -> CheckResult {
    let run_id = RunId::new(MonitorId(1), at());
    let status = match (outcome, attempts.last().and_then(|attempt| attempt.failure.as_ref())) {
        (Outcome::Error | Outcome::Unknown, Some(failure)) => failure.status(),
        _ => Status::OK,
    };
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id: MonitorId(1),
        monitor_name: name.into(),
        revision: Revision(1),
        monitor_type: kind,
        location_id: LocationId(1),
        planned_at: at(),
        started_at: at(),
        outcome,
        status,
        warning_status: None,
        status_text: status.text().to_owned(),
        reasons: attempts
            .last()
            .and_then(|a| a.failure.as_ref())
            .map(ToString::to_string)
            .into_iter()
            .collect(),
        duration_us: attempts.iter().map(|attempt| attempt.duration_us).sum(),
        address: Some("192.0.2.7:443".parse().unwrap()),
        attempts,
        facts: Facts::default(),
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed: None,
    }
}

fn certificate(subject: &str, not_after: &str) -> Certificate {
    Certificate {
        subject: subject.to_owned(),
        issuer: "CN=Example Root".to_owned(),
        subject_alt_names: vec!["www.example.test".to_owned(), "example.test".to_owned()],
        not_before: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
        not_after: Timestamp::parse(not_after).unwrap(),
        sha256: "00".repeat(32),
    }
}

const COLD: &[(Phase, u64)] = &[
    (Phase::Resolve, 1_200),
    (Phase::Connect, 8_400),
    (Phase::Tls, 19_000),
    (Phase::Send, 90),
    (Phase::FirstByte, 31_000),
    (Phase::Transfer, 4_300),
];

#[test]
fn a_passing_website() {
    let mut shown = result(
        MonitorType::WebsiteSsl,
        "https://www.example.test/",
        Outcome::Ok,
        vec![attempt(1, phases(COLD), None)],
    );
    shown.facts.resolved_addresses = vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()];
    shown.facts.http = Some(Box::new(HttpFacts {
        http_status: 200,
        http_version: "HTTP/1.1".into(),
        http_reason: Some("OK".into()),
        body_wire_bytes: 5_120,
        body_bytes: 23_456,
        content_type: Some("text/html; charset=utf-8".into()),
        redirects: Vec::new(),
        url: "https://www.example.test/".into(),
        ..HttpFacts::default()
    }));
    shown.facts.tls = Some(Box::new(TlsFacts {
        tls_version: Some("TLSv1.3".into()),
        tls_cipher: Some("TLS13_AES_256_GCM_SHA384".into()),
        certificates: vec![
            certificate("CN=www.example.test", "2026-12-20T09:00:00Z"),
            certificate("CN=Example Root", "2026-11-21T09:00:00Z"),
        ],
        ..TlsFacts::default()
    }));
    insta::assert_snapshot!(render::render_check(&shown, Style::PLAIN));
}

#[test]
fn a_website_that_failed_twice_shows_both_attempts() {
    let failure = Failure::new(Phase::Connect, FailureKind::ConnectRefused, "192.0.2.7:443");
    let broken = Failure::new(Phase::FirstByte, FailureKind::HttpErrorStatus, "503 Service Unavailable");
    let shown = result(
        MonitorType::Website,
        "shop",
        Outcome::Error,
        vec![
            attempt(1, phases(&COLD[..2]), Some(failure)),
            attempt(2, phases(&[COLD[0], COLD[1], COLD[3], COLD[4]]), Some(broken)),
        ],
    );
    insta::assert_snapshot!(render::render_check(&shown, Style::PLAIN));
}

#[test]
fn a_redirect_has_a_line_per_hop_and_a_warning_its_reason() {
    let first = phases(&[(Phase::Connect, 2_000), (Phase::Send, 10), (Phase::FirstByte, 6_000)]);
    let mut phases_of_all = phases(&COLD[1..]);
    phases_of_all.merge(&first);
    let timed_out = Failure::timed_out(Phase::Connect, Duration::from_secs(5));
    let mut shown = result(
        MonitorType::Website,
        "moved",
        Outcome::Warning,
        vec![attempt(1, Phases::default(), Some(timed_out)), attempt(2, phases_of_all, None)],
    );
    shown.warning_status = Some(Status::TIMED_OUT);
    shown.reasons = vec!["the first attempt failed: the timeout passed".into()];
    shown.attempts[1]
        .warnings
        .push(Warning::new(WarningKind::CapabilityDowngrade, "the server chose `HTTP/1.1`"));
    shown.facts.http = Some(Box::new(HttpFacts {
        http_status: 204,
        http_version: "HTTP/1.1".into(),
        redirects: vec![RedirectHop {
            url: "http://example.test/".into(),
            http_status: 301,
            address: Some("192.0.2.7:80".parse().unwrap()),
            phases: first,
        }],
        url: "https://www.example.test/".into(),
        ..HttpFacts::default()
    }));
    insta::assert_snapshot!(render::render_check(&shown, Style::PLAIN));
}

#[test]
fn an_expired_certificate_shows_its_end() {
    let failure = Failure::new(Phase::Tls, FailureKind::CertificateExpired, "on 2026-11-01");
    let mut shown = result(
        MonitorType::WebsiteSsl,
        "old",
        Outcome::Error,
        vec![attempt(1, phases(&COLD[..3]), Some(failure))],
    );
    shown.facts.tls = Some(Box::new(TlsFacts {
        certificates: vec![certificate("CN=www.example.test", "2026-11-01T00:00:00Z")],
        ..TlsFacts::default()
    }));
    insta::assert_snapshot!(render::render_check(&shown, Style::PLAIN));
}

#[test]
fn ping_and_name_server_show_their_own_facts() {
    let mut ping = result(
        MonitorType::Ping,
        "router",
        Outcome::Ok,
        vec![attempt(1, phases(&[(Phase::Resolve, 100), (Phase::FirstByte, 4_004_000)]), None)],
    );
    ping.address = Some("192.0.2.1:0".parse().unwrap());
    ping.facts.ping = Some(Box::new(PingFacts {
        requests_sent: 5,
        replies_received: 4,
        loss_percent: 20.0,
        rtt_min_us: Some(41),
        rtt_avg_us: Some(1_250),
        rtt_max_us: Some(18_000),
        rtt_stddev_us: Some(12),
        socket_type: "dgram".into(),
        icmp_errors: vec![
            "192.0.2.1 reported: host unreachable (ICMP type 3, code 1), once".into(),
            "192.0.2.2 reported: TTL exceeded (ICMP type 11, code 0), 2 times".into(),
        ],
    }));
    let mut dns = result(
        MonitorType::NameServer,
        "ns1.example.test",
        Outcome::Ok,
        vec![attempt(1, phases(&[(Phase::Send, 30), (Phase::FirstByte, 700)]), None)],
    );
    dns.facts.dns = Some(Box::new(DnsFacts {
        query_name: "example.com".into(),
        record_type: "A".into(),
        rcode: "NOERROR".into(),
        answer_records: vec!["A 192.0.2.10".into(), "A 192.0.2.11".into()],
        transport: "udp".into(),
        authoritative: true,
        signed: true,
        response_bytes: Some(1_120),
        min_ttl_seconds: Some(3_600),
        ..DnsFacts::default()
    }));
    let both = [ping, dns].map(|shown| render::render_check(&shown, Style::PLAIN)).join("----\n");
    insta::assert_snapshot!(both);
}

#[test]
fn colour_only_adds_to_the_plain_text() {
    let failure = Failure::new(Phase::Prepare, FailureKind::EgressDenied, "169.254.169.254");
    let shown = result(
        MonitorType::Tcp,
        "meta",
        Outcome::Unknown,
        vec![attempt(1, Phases::default(), Some(failure))],
    );
    let colored = render::render_check(&shown, Style::colored());
    let mut without_escapes = colored.clone();
    while let Some(start) = without_escapes.find('\x1b') {
        let end = start + without_escapes[start..].find('m').unwrap();
        without_escapes.replace_range(start..=end, "");
    }
    assert_ne!(colored, without_escapes);
    assert_eq!(without_escapes, render::render_check(&shown, Style::PLAIN));
}

#[test]
fn steps_and_the_objects_of_a_page_have_a_line_each() {
    let mut result =
        result(MonitorType::WebsiteApi, "orders", Outcome::Error, vec![attempt(1, phases(COLD), None)]);
    let exchange = |method: &str, url: &str, http_status| HttpExchange {
        method: method.to_owned(),
        url: url.to_owned(),
        http_status,
        ..HttpExchange::default()
    };
    let step = |number, name: &str, failures: Vec<Failure>, exchanges| StepResult {
        status: failures.first().map_or(Status::OK, Failure::status),
        duration_us: 41_200,
        phases: phases(COLD),
        failures,
        exchanges,
        variable_names: if number == 1 { vec!["token".to_owned(), "user".to_owned()] } else { Vec::new() },
        ..StepResult::new(number, name.to_owned(), 0)
    };
    let wrong = |detail: &str| Failure::new(Phase::Validate, FailureKind::AssertionFailed, detail);
    result.details.steps = vec![
        step(1, "log in", Vec::new(), vec![exchange("POST", "https://a.test/login", 200)]),
        step(
            2,
            "list the orders",
            vec![wrong("JSON Response `$.n` equals `3`: found `4`"), wrong("second")],
            vec![exchange("GET", "https://a.test/o", 302), exchange("GET", "https://a.test/orders", 200)],
        ),
    ];
    let object = |url: &str, started_us, failure: Option<Failure>| PageObject {
        url: url.to_owned(),
        kind: PageObjectKind::Image,
        third_party: failure.is_some(),
        blocked: false,
        start_offset_us: started_us,
        duration_us: 50_000,
        phases: Phases::default(),
        http_status: if failure.is_some() { 404 } else { 200 },
        http_version: "HTTP/1.1".to_owned(),
        media_type: "image/png".to_owned(),
        body_wire_bytes: 1200,
        body_bytes: 1200,
        failure,
    };
    let gone = Failure::new(Phase::Validate, FailureKind::HttpErrorStatus, "`404 Not Found`");
    let change = |status, before, now| PageObjectChange {
        status,
        url: "https://a.test/x.js".to_owned(),
        previous_bytes: before,
        current_bytes: now,
    };
    result.details.page_load = Some(Box::new(PageLoad {
        duration_us: 100_000,
        decoded_bytes: 123_456,
        unlisted_objects: 3,
        objects: vec![
            object("https://a.test/a.png", 0, None),
            object(
                "https://b.test/b.png",
                50_000,
                Some(gone.into_page_object_failure("https://b.test/b.png")),
            ),
        ],
        changes: vec![
            change(Status::OBJECT_NEW, None, Some(9)),
            change(Status::OBJECT_MISSING, Some(8), None),
            change(Status::OBJECT_SIZE_CHANGED, Some(8), Some(9)),
        ],
    }));
    insta::assert_snapshot!(render::render_check(&result, Style::PLAIN));
}
