//! The JSON form of results (behaviour.md 9).

use std::time::Duration;

use vigie::domain::{
    Attempt, Certificate, CheckId, CheckResult, DnsFacts, Facts, Failure, FailureKind, HttpFacts, LocationId,
    MissedReason, MissedRuns, MonitorId, MonitorType, Outcome, Phase, Phases, PingFacts, RedirectHop,
    Revision, RunId, Status, Timestamp, TlsFacts, Warning, WarningKind,
};

fn result(facts: Facts) -> CheckResult {
    let planned_at = Timestamp::from_seconds(1_767_225_600);
    let run_id = RunId::new(MonitorId(3), planned_at);
    let mut phases = Phases::default();
    for (at, phase) in (1..).zip(Phase::ALL) {
        phases.set(phase, Duration::from_micros(at));
    }
    let failed = Attempt {
        number: 1,
        started_at: planned_at,
        duration_us: 12,
        phases,
        failure: Some(Failure::new(Phase::Connect, FailureKind::ConnectRefused, "no")),
        warnings: Vec::new(),
    };
    let warning = Warning::new(WarningKind::RedirectNotFollowed, "to b".to_owned());
    let passed = Attempt { number: 2, failure: None, warnings: vec![warning], ..failed.clone() };
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id: MonitorId(3),
        monitor_name: "a".into(),
        revision: Revision(2),
        monitor_type: MonitorType::WebsiteSsl,
        location_id: LocationId(1),
        planned_at,
        started_at: planned_at,
        outcome: Outcome::Warning,
        status: Status::OK,
        warning_status: Some(Status::REDIRECTED),
        status_text: "ok".to_owned(),
        reasons: vec!["b".to_owned()],
        duration_us: 24,
        address: Some("[::1]:443".parse().unwrap()),
        attempts: vec![failed, passed],
        facts,
        details: vigie::domain::CheckDetails::default(),
        captures: Vec::new(),
        verification: None,
        suppressed_by: Vec::new(),
        trigger: vigie::domain::CheckTrigger::Schedule,
        missed: None,
    }
}

fn http() -> HttpFacts {
    let hop = RedirectHop {
        url: "http://a/".to_owned(),
        http_status: 302,
        address: Some("127.0.0.1:80".parse().unwrap()),
        phases: Phases::default(),
    };
    HttpFacts {
        http_status: 200,
        http_version: "HTTP/2".to_owned(),
        body_wire_bytes: 3,
        body_bytes: 5,
        content_type: Some("text/html".to_owned()),
        redirects: vec![hop],
        url: "http://b/".to_owned(),
        ..HttpFacts::default()
    }
}

fn tls() -> TlsFacts {
    let certificate = Certificate {
        subject: "CN=a".to_owned(),
        issuer: "CN=b".to_owned(),
        subject_alt_names: vec!["a".to_owned()],
        not_before: Timestamp::from_seconds(0),
        not_after: Timestamp::from_seconds(1_800_000_000),
        sha256: "00".to_owned(),
    };
    TlsFacts {
        tls_version: Some("TLSv1.3".to_owned()),
        tls_cipher: None,
        certificates: vec![certificate],
        tls_warnings: Vec::new(),
    }
}

#[test]
fn a_result_survives_json_without_gaining_facts() {
    let dns = DnsFacts {
        query_name: "a.".to_owned(),
        answer_records: vec!["A 1.2.3.4".to_owned()],
        ..DnsFacts::default()
    };
    let ping = PingFacts {
        requests_sent: 5,
        replies_received: 4,
        loss_percent: 20.0,
        rtt_min_us: Some(1),
        ..PingFacts::default()
    };
    let resolved = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    let cases = [
        Facts::default(),
        Facts { resolved_addresses: resolved.clone(), ..Facts::default() },
        Facts { http: Some(Box::new(http())), ..Facts::default() },
        Facts { tls: Some(Box::new(tls())), ..Facts::default() },
        Facts {
            http: Some(Box::new(http())),
            tls: Some(Box::new(tls())),
            resolved_addresses: resolved,
            ..Facts::default()
        },
        Facts { dns: Some(Box::new(dns)), ..Facts::default() },
        Facts { ping: Some(Box::new(ping)), ..Facts::default() },
    ];
    for facts in cases {
        let sent = result(facts);
        let text = serde_json::to_string(&sent).unwrap();
        assert_eq!(serde_json::from_str::<CheckResult>(&text).unwrap(), sent, "{text}");
    }
}

#[test]
fn a_missed_run_survives_json() {
    let mut sent = result(Facts::default());
    sent.outcome = Outcome::Missed;
    (sent.warning_status, sent.address, sent.attempts) = (None, None, Vec::new());
    let last_planned_at = Timestamp::from_seconds(1_767_225_660);
    sent.missed = Some(MissedRuns { reason: MissedReason::Overload, run_count: 2, last_planned_at });
    let text = serde_json::to_string(&sent).unwrap();
    assert_eq!(serde_json::from_str::<CheckResult>(&text).unwrap(), sent, "{text}");
}
