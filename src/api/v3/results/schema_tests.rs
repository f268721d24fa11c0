//! Compares the schema of results with serialized results.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::result_schema;
use crate::domain::{
    ActionResult, Attempt, BrowserFacts, BrowserStep, CapturedFile, Certificate, CheckDetails, CheckId,
    CheckResult, CheckTrigger, ConsoleEntry, ContentViewResult, DnsFacts, Excerpt, Facts, Failure,
    FailureKind, Fault, FindingCounts, FtpFacts, HostFacts, HostValue, HostValueLevel, HttpExchange,
    HttpFacts, LocationId, MailFacts, MissedReason, MissedRuns, MonitorId, MonitorType, Outcome, PageLoad,
    PageObject, PageObjectChange, PageObjectKind, PageTiming, Phase, Phases, PingFacts, RedirectHop,
    Revision, RoundTripFacts, RunId, SecurityFinding, SecurityScanFacts, Severity, Status, StepResult,
    Timestamp, TlsFacts, Verification, Warning, WarningKind,
};

fn every_phase() -> Phases {
    let mut phases = Phases::default();
    for phase in Phase::ALL {
        phases.set(phase, Duration::from_micros(5));
    }
    phases
}

/// Returns a result in which every optional part is set.
fn full_result() -> CheckResult {
    let at = Timestamp::from_seconds(1_772_323_200);
    let phases = every_phase();
    let run_id = RunId::new(MonitorId(7), at);
    let text = || Some("x".to_owned());
    CheckResult {
        check_id: CheckId::new(run_id, LocationId(1)),
        run_id,
        monitor_id: MonitorId(7),
        monitor_name: Arc::from("Shop"),
        revision: Revision(1),
        monitor_type: MonitorType::Website,
        location_id: LocationId(1),
        planned_at: at,
        started_at: at,
        outcome: Outcome::Error,
        status: Status::INTERNAL,
        warning_status: Some(Status::REDIRECTED),
        status_text: "x".to_owned(),
        reasons: vec!["x".to_owned()],
        duration_us: 9,
        address: Some(([127, 0, 0, 1], 80).into()),
        attempts: vec![Attempt {
            number: 1,
            started_at: at,
            duration_us: 9,
            phases,
            failure: Some(
                Failure::new(Phase::Connect, FailureKind::ConnectRefused, "x").into_page_object_failure("x"),
            ),
            warnings: vec![Warning {
                cause_status: Some(Status(7007)),
                ..Warning::new(WarningKind::Informational, "x")
            }],
        }],
        facts: Facts {
            http: Some(Box::new(HttpFacts {
                http_reason: text(),
                content_changed: true,
                text_sha256: text(),
                previous_text_sha256: text(),
                content_type: text(),
                redirects: vec![RedirectHop {
                    url: "x".into(),
                    http_status: 302,
                    address: Some(([127, 0, 0, 1], 80).into()),
                    phases,
                }],
                ..HttpFacts::default()
            })),
            tls: Some(Box::new(TlsFacts {
                tls_version: text(),
                tls_cipher: text(),
                certificates: vec![Certificate {
                    subject: "x".to_owned(),
                    issuer: "x".to_owned(),
                    subject_alt_names: vec!["x".to_owned()],
                    not_before: at,
                    not_after: at,
                    sha256: "ab".repeat(32),
                }],
                tls_warnings: Vec::new(),
            })),
            dns: Some(Box::new(DnsFacts {
                rcode: "NOERROR".into(),
                transport: "udp".into(),
                authenticated_data: true,
                signed: true,
                recursion_available: true,
                truncated: true,
                response_bytes: Some(1),
                min_ttl_seconds: Some(1),
                ..DnsFacts::default()
            })),
            ping: Some(Box::new(PingFacts {
                rtt_min_us: Some(1),
                rtt_avg_us: Some(1),
                rtt_max_us: Some(1),
                rtt_stddev_us: Some(1),
                socket_type: "raw".to_owned(),
                icmp_errors: vec!["x".to_owned()],
                ..PingFacts::default()
            })),
            mail: Some(Box::new(MailFacts {
                mail_banner: "x".to_owned(),
                mail_capabilities: vec!["x".to_owned()],
                mail_auth_method: text(),
                sent_password_in_cleartext: true,
                mailbox_messages: Some(1),
                mailbox_bytes: Some(1),
            })),
            round_trip: Some(Box::new(RoundTripFacts {
                round_trip_send_us: Some(1),
                round_trip_transit_us: Some(1),
                round_trip_fetch_us: Some(1),
                ..RoundTripFacts::default()
            })),
            host: Some(Box::new(HostFacts {
                report_age_us: 1,
                host_agent_version: "1".to_owned(),
                host_values: vec![HostValue {
                    series: "x".to_owned(),
                    value: 1.0,
                    warning: Some(1.0),
                    error: Some(2.0),
                    level: HostValueLevel::Warning,
                }],
                push_message: "x".to_owned(),
                push_duration_us: Some(1),
                push_exit_code: Some(1),
                push_running_us: Some(1),
            })),
            ftp: Some(Box::new(FtpFacts {
                ftp_banner: "x".to_owned(),
                ftp_passive_command: Some("EPSV".to_owned()),
                ftp_data_address: Some(([127, 0, 0, 1], 80).into()),
                ftp_listed_entries: Some(1),
                ftp_uploaded_bytes: Some(1),
                ftp_tls_session_resumed: Some(true),
                ftp_sent_password_in_cleartext: true,
            })),
            security: Some(Box::new(SecurityScanFacts {
                grade: "F".to_owned(),
                findings: vec![SecurityFinding {
                    id: "x".to_owned(),
                    severity: Severity::High,
                    title: "x".to_owned(),
                    subject: text(),
                    evidence: "x".to_owned(),
                    remedy: "x".to_owned(),
                    reference: "x".to_owned(),
                }],
                finding_counts: FindingCounts::default(),
                open_ports: vec![443],
                offered_tls_versions: vec!["TLS 1.3".to_owned()],
                offered_tls_ciphers: vec!["x".to_owned()],
                offered_tls_groups: vec!["x".to_owned()],
                open_questions: vec!["x".to_owned()],
            })),
            resolved_addresses: vec![[127, 0, 0, 1].into()],
        },
        details: check_details(),
        captures: vec![CapturedFile::new("a.txt", "text/plain", b"x")],
        verification: Some(Verification {
            status: Status::VERIFICATION_CONFIRMED,
            location_id: Some(LocationId(2)),
            recheck_status: Some(Status::TIMED_OUT),
            completed_at: at,
        }),
        suppressed_by: vec![MonitorId(1)],
        trigger: CheckTrigger::First,
        missed: Some(MissedRuns {
            reason: MissedReason::ProcessSuspended,
            run_count: 2,
            last_planned_at: at,
        }),
    }
}

fn check_details() -> CheckDetails {
    use PageObjectKind::{Font, Frame, Image, Media, Other, Script, StyleSheet};

    let phases = every_phase();
    let failure = Failure::new(Phase::Connect, FailureKind::TimedOut, "x").into_page_object_failure("x");
    let excerpt = Excerpt { media_type: "x".into(), text: "x".into(), body_bytes: 1 };
    let exchange = HttpExchange {
        address: Some(([127, 0, 0, 1], 80).into()),
        phases,
        request_headers: [("x", "x")].into_iter().collect(),
        request_body: Some(excerpt.clone()),
        http_version: "x".into(),
        http_reason: Some("x".into()),
        response_headers: [("x", "x")].into_iter().collect(),
        response_body: Some(excerpt),
        failure: Some(failure.clone()),
        ..HttpExchange::default()
    };
    let step = StepResult {
        number: 1,
        name: "x".into(),
        status: Status::OK,
        start_offset_us: 1,
        duration_us: 1,
        phases,
        failures: vec![failure.clone()],
        exchanges: vec![exchange.clone()],
        tests: vec![crate::domain::StepTest {
            name: "t".into(),
            outcome: crate::domain::StepTestOutcome::Failed,
            reason: Some("r".into()),
        }],
        variable_names: vec!["x".into()],
        browser_step: None,
    };
    let object = |kind| PageObject {
        url: "x".into(),
        kind,
        third_party: true,
        blocked: true,
        start_offset_us: 1,
        duration_us: 1,
        phases,
        http_status: 200,
        http_version: "x".into(),
        media_type: "x".into(),
        body_wire_bytes: 1,
        body_bytes: 1,
        failure: Some(failure.clone()),
    };
    let page = PageLoad {
        duration_us: 1,
        decoded_bytes: 1,
        unlisted_objects: 1,
        objects: [Image, Script, StyleSheet, Frame, Font, Media, Other].map(object).to_vec(),
        changes: vec![PageObjectChange {
            status: Status::OBJECT_SIZE_CHANGED,
            url: "x".into(),
            previous_bytes: Some(1),
            current_bytes: Some(2),
        }],
    };
    let step = StepResult { browser_step: Some(Box::new(full_browser_step(page.objects.clone()))), ..step };
    let view = ContentViewResult {
        id: 1,
        name: "x".into(),
        status: Status::OK,
        notify_on_error: true,
        duration_us: 1,
        object_count: 1,
        decoded_bytes: 1,
        failures: vec![failure],
    };
    let browser = BrowserFacts {
        name: "x".into(),
        version: "x".into(),
        driver_name_and_version: "x".into(),
        user_agent: "x".into(),
        viewport: (1, 1),
        emulated_device: "x".into(),
        trace_id: Some("x".into()),
        peak_memory_bytes: Some(1),
    };
    CheckDetails {
        steps: vec![step],
        exchanges: vec![exchange],
        page_load: Some(Box::new(page)),
        browser: Some(Box::new(browser)),
        content_views: vec![view],
        trace_id: Some("x".into()),
    }
}

fn full_browser_step(objects: Vec<PageObject>) -> BrowserStep {
    BrowserStep {
        url: "x".into(),
        title: "x".into(),
        http_status: 200,
        actions: vec![ActionResult {
            number: 1,
            action: "x".into(),
            status: Status::OK,
            duration_us: 1,
            skipped: true,
        }],
        timing: Some(PageTiming {
            phases: every_phase(),
            first_contentful_paint_us: Some(1),
            largest_contentful_paint_us: Some(1),
            cumulative_layout_shift: Some(0.5),
        }),
        objects,
        unlisted_objects: 1,
        console: vec![ConsoleEntry {
            level: "x".into(),
            source: "x".into(),
            text: "x".into(),
            url: "x".into(),
            line: Some(1),
        }],
    }
}

/// Lists by path where `value` does not match `schema`, and what `value` lacks.
fn differences(path: &str, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match value {
        Value::Object(entries) => {
            let properties = schema["properties"].as_object().unwrap();
            for (name, value) in entries {
                match properties.get(name) {
                    Some(schema) => found.extend(differences(&format!("{path}/{name}"), schema, value)),
                    None => found.push(format!("{path}/{name} is not in the schema")),
                }
            }
            let missing = properties.keys().filter(|name| !entries.contains_key(*name));
            found.extend(missing.map(|name| format!("{path}/{name} is not in the value")));
        }
        Value::Array(items) => {
            for item in items {
                found.extend(differences(&format!("{path}[]"), &schema["items"], item));
            }
        }
        scalar => {
            let json_type = match scalar {
                Value::String(_) => "string",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                _ => "integer",
            };
            if schema["type"] != json_type {
                found.push(format!("{path} is a {json_type}, not {}", schema["type"]));
            }
            if let Some(choices) = schema["enum"].as_array()
                && !choices.contains(scalar)
            {
                found.push(format!("{path}: {scalar} is none of its words"));
            }
        }
    }
    found
}

#[test]
fn the_schema_has_exactly_the_keys_of_a_result() {
    let result_json = serde_json::to_value(full_result()).unwrap();
    assert_eq!(differences("", &result_schema(), &result_json), Vec::<String>::new());
    let strings = |value: Value| serde_json::from_value::<Vec<String>>(value).unwrap();
    let attempt = &result_schema()["properties"]["attempts"]["items"]["properties"];
    for kind in [
        WarningKind::RedirectNotFollowed,
        WarningKind::CertificateExpiring,
        WarningKind::TlsWeakness,
        WarningKind::CapabilityDowngrade,
        WarningKind::Informational,
    ] {
        let name = serde_json::to_value(kind).unwrap();
        assert!(
            strings(attempt["warnings"]["items"]["properties"]["kind"]["enum"].clone())
                .contains(&name.as_str().unwrap().to_owned())
        );
    }
    for fault in [Fault::Target, Fault::Network, Fault::Vigie] {
        let name = serde_json::to_value(fault).unwrap();
        assert!(
            strings(attempt["failure"]["properties"]["fault"]["enum"].clone())
                .contains(&name.as_str().unwrap().to_owned())
        );
    }
}
