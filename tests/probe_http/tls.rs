//! TLS: certificates of every kind, failing handshakes, and responses that end inside TLS.

use std::sync::Arc;
use std::time::Duration;

use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind as Kind, Observation, Phase, Timestamp, WarningKind};
use vigie::net::Pem;

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes, Warns};
use crate::probe_http::server::{Act, Server, page, redirect, respond, send};
use crate::support::tls_server::{Authority, Identity, config, self_signed};

const TLS: Option<Phase> = Some(Phase::Tls);
const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];
const ONLY_13: &[&SupportedProtocolVersion] = &[&TLS13];
const VALID: (i32, i32) = (2020, 2090);
const NAMES: &[&str] = &["localhost", "127.0.0.1"];

pub fn pem(label: &str, text: String) -> Pem {
    Pem { label: label.to_owned(), text: text.into_bytes() }
}

pub fn acceptor(config: ServerConfig) -> TlsAcceptor {
    TlsAcceptor::from(Arc::new(config))
}

fn https(server: &Server) -> String {
    format!("https://{}/", server.address)
}

/// Checks a server with the TLS configuration `config` that plays `script`. `ca` is trusted.
async fn observe(ca: &Authority, config: ServerConfig, script: Vec<Act>, fields: Value) -> Observation {
    let script_stalls = matches!(script.last(), Some(Act::Stall));
    let server = Server::tls(acceptor(config), vec![script]).await;
    let mut check = Check::new(&https(&server)).with(fields);
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    if script_stalls {
        check.timeout = Duration::from_secs(1);
    }
    check.run().await
}

async fn observe_certificate(ca: &Authority, identity: &Identity, fields: Value) -> Observation {
    observe(ca, config(identity, BOTH, None), respond(page("hello")), fields).await
}

fn compare(name: &str, expected: Expect, observation: &Observation) {
    expected.compare(observation).unwrap_or_else(|difference| panic!("{name}: {difference}"));
}

#[tokio::test]
async fn a_good_certificate_is_accepted_and_its_facts_are_recorded() {
    let ca = Authority::new("test CA");
    let observation = observe_certificate(&ca, &ca.issue(NAMES, VALID), json!({})).await;
    compare("good", Passes, &observation);
    let facts = observation.facts.tls.as_ref().unwrap();
    assert_eq!(facts.tls_version.as_deref(), Some("TLSv1.3"));
    assert!(facts.tls_cipher.is_some());
    assert_eq!(facts.certificates[0].subject_alt_names.len(), 2);
    for phase in [Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Send, Phase::FirstByte, Phase::Transfer]
    {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
    }
}

#[tokio::test]
async fn a_bad_certificate_fails_by_its_kind() {
    let ca = Authority::new("test CA");
    let other_ca = Authority::new("another CA");
    for (name, identity, status, kind) in [
        ("expired", ca.issue(NAMES, (2000, 2010)), 5, Kind::CertificateExpired),
        ("not yet valid", ca.issue(NAMES, (2085, 2090)), 3, Kind::CertificateNotYetValid),
        ("another name", ca.issue(&["example.test"], VALID), 3, Kind::CertificateNameMismatch),
        ("unknown issuer", other_ca.issue(NAMES, VALID), 3, Kind::CertificateIssuerUnknown),
        ("self-signed", self_signed(NAMES, false), 3, Kind::CertificateIssuerUnknown),
        ("self-signed authority", self_signed(NAMES, true), 3, Kind::CertificateIssuerUnknown),
    ] {
        let observation = observe_certificate(&ca, &identity, json!({})).await;
        compare(name, Fails(status, kind, TLS), &observation);
        assert!(!observation.facts.tls.unwrap().certificates.is_empty(), "{name}");
        // Without verification all of them pass, and their facts are still recorded.
        let unverified = observe_certificate(&ca, &identity, json!({"verify_certificate": false})).await;
        compare(name, Passes, &unverified);
        assert!(!unverified.facts.tls.unwrap().certificates.is_empty(), "{name}");
    }
}

// row: 2.8 website.check_ssl_expiration_dates
#[tokio::test]
async fn expiration_dates_are_checked_as_the_monitor_says() {
    let ca = Authority::new("test CA");
    let expired = ca.issue(NAMES, (2000, 2010));
    let unverified = |rule: &str| json!({"verify_certificate": false, "check_ssl_expiration_dates": rule});
    let failure = Fails(5, Kind::CertificateExpired, Some(Phase::Validate));
    compare("disabled", Passes, &observe_certificate(&ca, &expired, unverified("Disabled")).await);
    compare("expired", failure, &observe_certificate(&ca, &expired, unverified("Expired")).await);
    compare("expiring", failure, &observe_certificate(&ca, &expired, unverified("Expiring")).await);
    let good = ca.issue(NAMES, VALID);
    let server = Server::tls(acceptor(config(&good, BOTH, None)), vec![respond(page("x"))]).await;
    for (rule, days, expected) in [
        ("Expiring", 30, Passes),
        ("Expiring", 100 * 366, Warns(WarningKind::CertificateExpiring)),
        ("Expired", 100 * 366, Passes),
        ("Disabled", 100 * 366, Passes),
    ] {
        let mut check = Check::new(&https(&server)).with(json!({"check_ssl_expiration_dates": rule}));
        check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
        check.settings.certificate_warning_days = days;
        let observation = check.run().await;
        compare(rule, expected, &observation);
        assert!(
            observation.facts.tls.unwrap().certificates[0].not_after > Timestamp::from_seconds(3_000_000_000)
        );
    }
}

#[tokio::test]
async fn a_private_ca_is_named_by_its_id() {
    let (ca, other) = (Authority::new("private CA"), Authority::new("another CA"));
    let good = ca.issue(NAMES, VALID);
    let server = Server::tls(acceptor(config(&good, BOTH, None)), vec![respond(page("x"))]).await;
    for (id, expected) in [
        (7, Passes),
        (8, Fails(3, Kind::CertificateIssuerUnknown, TLS)),
        (9, Fails(95, Kind::NotConfigured, TLS)),
    ] {
        let mut check = Check::new(&https(&server)).with(json!({"ca_cert_id": id}));
        check.config.trust_config.named_authorities =
            [(7, pem("private", ca.pem())), (8, pem("another", other.pem()))].into();
        let observation = check.run().await;
        assert!(
            matches!(expected, Fails(95, ..)) || expected.compare(&observation).is_ok(),
            "{id}: {observation:#?}"
        );
        assert_eq!(
            observation.failure.as_ref().map_or(0, |f| f.status().0),
            match expected {
                Fails(code, ..) => code,
                _ => 0,
            }
        );
    }
}

#[tokio::test]
async fn a_requested_client_certificate_is_sent() {
    let ca = Authority::new("test CA");
    let (own, client) = (ca.issue(NAMES, VALID), ca.issue(&["client.test"], VALID));
    for versions in [&[&TLS13][..], &[&TLS12]] {
        let server = Server::tls(acceptor(config(&own, versions, Some(&ca))), vec![respond(page("x"))]).await;
        for (fields, passes) in [
            (json!({}), false),
            (json!({"ssl_cert_id": 3, "use_client_ssl_cert": false}), false),
            (json!({"ssl_cert_id": 3, "use_client_ssl_cert": true}), true),
        ] {
            let mut check = Check::new(&https(&server)).with(fields);
            check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
            check.config.trust_config.client_certificates = [(3, pem("client", client.pem()))].into();
            let observation = check.run().await;
            // TLS 1.3 refuses after the handshake, so the refusal comes instead of a response.
            let expected = if passes { Passes } else { Fails(3, Kind::TlsHandshakeFailed, None) };
            compare(&format!("{versions:?}"), expected, &observation);
        }
    }
}

#[tokio::test]
async fn the_tls_version_can_be_pinned() {
    let ca = Authority::new("test CA");
    let own = ca.issue(NAMES, VALID);
    let run = |versions, pin: &str| {
        observe(&ca, config(&own, versions, None), respond(page("x")), json!({"use_ssl_version": pin}))
    };
    let observation = run(BOTH, "12").await;
    compare("12", Passes, &observation);
    assert_eq!(observation.facts.tls.unwrap().tls_version.as_deref(), Some("TLSv1.2"));
    compare("only 1.3", Fails(3, Kind::TlsHandshakeFailed, TLS), &run(ONLY_13, "12").await);
    for pin in ["2", "3", "10", "11"] {
        let observation = run(BOTH, pin).await;
        let failure = observation.failure.as_ref().unwrap_or_else(|| panic!("{observation:#?}"));
        if pin != "2" && cfg!(feature = "legacy-tls") {
            compare(pin, Fails(3, Kind::TlsHandshakeFailed, TLS), &observation);
            continue;
        }
        assert_eq!((failure.kind, failure.status().0), (Kind::TlsVersionUnsupported, 95), "{observation:#?}");
        let hint = if pin == "2" { "which is not supported" } else { "a build with `--features legacy-tls`" };
        assert!(failure.detail.contains(hint), "{failure}");
    }
}

#[tokio::test]
async fn revocation_is_looked_for_where_the_monitor_wants_it() {
    let ca = Authority::new("test CA");
    let own = ca.issue(NAMES, VALID);
    let run = |fields| observe(&ca, config(&own, BOTH, None), respond(page("x")), fields);
    compare("not wanted", Passes, &run(json!({})).await);
    // This certificate names neither a responder nor a list.
    compare("wanted", Warns(WarningKind::TlsWeakness), &run(json!({"check_revocation": true})).await);
    let unverified = json!({"check_revocation": true, "verify_certificate": false});
    compare("not verified", Passes, &run(unverified).await);
}

#[tokio::test]
async fn failed_handshakes_have_their_kind_and_phase() {
    let handshake = Fails(3, Kind::TlsHandshakeFailed, TLS);
    let stall = Fails(2, Kind::TimedOut, TLS);
    let hello = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03";
    for (name, script, expected) in [
        ("garbage", vec![send("garbage, and more garbage\r\n"), Act::Stall], Some(handshake)),
        (
            "plain HTTP",
            vec![send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), Act::Stall],
            Some(handshake),
        ),
        ("an alert", vec![send(b"\x15\x03\x03\x00\x02\x02\x28"), Act::Stall], Some(handshake)),
        ("closes at once", vec![], None),
        ("closes in its hello", vec![send(hello)], None),
        ("resets in its hello", vec![send(hello), Act::Reset], None),
        ("stalls at once", vec![Act::Stall], Some(stall)),
        ("stalls in its hello", vec![send(hello), Act::Stall], Some(stall)),
        (
            "a hello without end",
            vec![send(b"\x16\x03\x03\x40\x00\x02\xff\xff\xff"), Act::Endless(vec![0; 4096])],
            Some(handshake),
        ),
    ] {
        let server = Server::start(vec![script]).await;
        let mut check = Check::new(&https(&server));
        if matches!(expected, Some(Fails(2, ..))) {
            check.timeout = Duration::from_secs(1);
        }
        let observation = check.run().await;
        if let Some(expected) = expected {
            compare(name, expected, &observation);
            continue;
        }
        // A connection that ends in the handshake: the kind depends on which event the system reports first.
        let failure = observation.failure.as_ref().unwrap_or_else(|| panic!("{name}: {observation:#?}"));
        let kinds =
            [Kind::TlsHandshakeFailed, Kind::NoResponse, Kind::ResponseReset, Kind::ResponseTruncated];
        assert!(kinds.contains(&failure.kind) && failure.phase == Phase::Tls, "{name}: {observation:#?}");
    }
}

#[tokio::test]
async fn responses_that_end_inside_tls() {
    let ca = Authority::new("test CA");
    let own = ca.issue(NAMES, VALID);
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
    let open = "HTTP/1.1 200 OK\r\n\r\nhalf";
    let (first, transfer) = (Some(Phase::FirstByte), Some(Phase::Transfer));
    for (name, script, expected) in [
        ("closed by TLS", vec![Act::Request], Fails(6, Kind::NoResponse, first)),
        ("cut", vec![Act::Request, Act::Cut], Fails(6, Kind::NoResponse, first)),
        ("reset", vec![Act::Request, Act::Reset], Fails(6, Kind::ResponseReset, first)),
        ("stalled", vec![Act::Request, Act::Stall], Fails(2, Kind::TimedOut, first)),
        ("closed in the body", vec![Act::Request, send(head)], Fails(3, Kind::ResponseTruncated, transfer)),
        (
            "cut in the body",
            vec![Act::Request, send(head), Act::Cut],
            Fails(3, Kind::ResponseTruncated, transfer),
        ),
        ("a body ended by TLS", vec![Act::Request, send(open)], Passes),
        (
            "a body cut off",
            vec![Act::Request, send(open), Act::Cut],
            Fails(3, Kind::ResponseTruncated, transfer),
        ),
        ("whole, then cut", vec![Act::Request, send(page("x")), Act::Cut], Passes),
        ("nonsense", respond("nonsense"), Fails(3, Kind::ResponseInvalid, transfer)),
        (
            "an error",
            respond("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
            Fails(7, Kind::HttpErrorStatus, Some(Phase::Validate)),
        ),
    ] {
        compare(name, expected, &observe(&ca, config(&own, BOTH, None), script, json!({})).await);
    }
}

#[tokio::test]
async fn redirects_change_between_http_and_https() {
    let ca = Authority::new("test CA");
    let own = ca.issue(NAMES, VALID);
    let plain = Server::start(vec![respond(page("x"))]).await;
    let script = respond(redirect(302, &plain.url("/")));
    let down = observe(&ca, config(&own, BOTH, None), script, json!({})).await;
    compare("https to http", Passes, &down);
    assert!(down.facts.tls.is_some());
    let secure = Server::tls(acceptor(config(&own, BOTH, None)), vec![respond(page("x"))]).await;
    let first = Server::start(vec![respond(redirect(301, &https(&secure)))]).await;
    let mut check = Check::new(&first.url("/"));
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    let up = check.run().await;
    compare("http to https", Passes, &up);
    assert!(up.facts.tls.is_some());
}

#[tokio::test]
async fn a_pinned_address_keeps_the_name_of_the_certificate() {
    let ca = Authority::new("test CA");
    let named = ca.issue(&["shop.example.test"], VALID);
    let server = Server::tls(acceptor(config(&named, BOTH, None)), vec![respond(page("x"))]).await;
    let url = format!("https://shop.example.test:{}/", server.address.port());
    let mut check = Check::new(&url).with(json!({"resolve_dns": false, "ip_address": "127.0.0.1"}));
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    compare("pinned", Passes, &check.run().await);
}
