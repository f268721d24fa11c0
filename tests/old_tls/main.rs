//! Tests monitors that pin TLS 1.1, TLS 1.0 or SSL 3.0 against servers that speak nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../probe_http/check.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod check;
#[path = "../support/daemon.rs"]
mod daemon;
#[path = "../probe_ftp/check.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod ftp_check;
#[path = "../support/ftp_user.rs"]
mod ftp_user;
#[path = "../support/lacking.rs"]
mod lacking;
mod nginx;
mod server;
#[path = "../support/tls_server.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod tls_server;
mod vsftpd;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use check::Check;
use check::Expect::{self, Fails, Passes};
use openssl::ssl::SslVersion;
use serde_json::{Value, json};
use server::{Server, VERSIONS, rsa};
use tls_server::{Authority, self_signed};
use tokio::net::TcpListener;
use vigie::domain::{FailureKind as Kind, Observation, Phase, WarningKind};
use vigie::net::Pem;

const VALID: (i32, i32) = (2020, 2090);
const NAMES: &[&str] = &["localhost", "127.0.0.1"];
const TLS: Option<Phase> = Some(Phase::Tls);

fn pem(label: &str, text: String) -> Pem {
    Pem { label: label.to_owned(), text: text.into_bytes() }
}

/// Creates a check of `at` at a location that trusts `ca`.
fn check_at(ca: &Authority, at: SocketAddr, pin: &str, more: Value) -> Check {
    let url = format!("https://localhost:{}/", at.port());
    let fields = json!({"use_ssl_version": pin, "ip_address": "127.0.0.1", "resolve_dns": false});
    let mut check = Check::new(&url).with(fields).with(more);
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    check
}

#[track_caller]
fn compare(name: &str, expected: Expect, observation: &Observation) {
    if let Err(text) = expected.compare(observation) {
        panic!("{name}: {text}");
    }
}

// row: 2.2 ftp-ssl.use_ssl_version
#[tokio::test]
async fn exactly_the_pinned_version_is_used_and_recorded() {
    let ca = Authority::new("test CA");
    let own = rsa(&ca, NAMES, VALID);
    for (version, server_pin, name) in VERSIONS {
        let at = Server::new(version, &own).start().await;
        for pin in ["", "12", "11", "10", "3"] {
            // SSL 3.0 has no extensions, so no server name.
            let reply = if name == "SSLv3" { "none" } else { "localhost" };
            let keyword = format!("name {reply}; reused false; client none");
            let keyword = json!({"keyword_string": keyword});
            let observation = check_at(&ca, at, pin, keyword).run().await;
            if pin != server_pin {
                compare(&format!("{name} by `{pin}`"), Fails(3, Kind::TlsHandshakeFailed, TLS), &observation);
                assert!(!observation.failure.unwrap().detail.is_empty());
                continue;
            }
            compare(name, Passes, &observation);
            let facts = observation.facts.tls.unwrap();
            assert_eq!(facts.tls_version.as_deref(), Some(name));
            let cipher = facts.tls_cipher.unwrap();
            assert!(cipher.starts_with("TLS_") && cipher.contains("RSA_WITH_"), "{cipher}");
            let [leaf] = facts.certificates.as_slice() else { panic!("one certificate was shown") };
            assert_eq!((leaf.subject.as_str(), leaf.issuer.as_str()), ("CN=leaf", "CN=test CA"));
            assert!(observation.phases.micros(Phase::Tls).is_some());
        }
    }
}

#[tokio::test]
async fn weak_ciphers_are_allowed_but_not_null_or_anonymous_ones() {
    let ca = Authority::new("test CA");
    let own = rsa(&ca, NAMES, VALID);
    let [ssl3, tls10, tls11] = VERSIONS;
    let refused = Err(Fails(3, Kind::TlsHandshakeFailed, TLS));
    for ((version, pin, _), ciphers, expected) in [
        (ssl3, "RC4-SHA", Ok("TLS_RSA_WITH_RC4_128_SHA")),
        (ssl3, "DES-CBC3-SHA", Ok("TLS_RSA_WITH_3DES_EDE_CBC_SHA")),
        (tls10, "RC4-MD5", Ok("TLS_RSA_WITH_RC4_128_MD5")),
        (tls10, "DES-CBC3-SHA", Ok("TLS_RSA_WITH_3DES_EDE_CBC_SHA")),
        (tls11, "AES128-SHA", Ok("TLS_RSA_WITH_AES_128_CBC_SHA")),
        (tls11, "NULL-SHA", refused),
        (tls11, "ADH-AES128-SHA", refused),
    ] {
        let ciphers = format!("{ciphers}:@SECLEVEL=0");
        let at = Server { ciphers: &ciphers, ..Server::new(version, &own) }.start().await;
        let observation = check_at(&ca, at, pin, json!({})).run().await;
        match expected {
            Ok(cipher) => assert_eq!(observation.facts.tls.unwrap().tls_cipher.as_deref(), Some(cipher)),
            Err(expected) => compare(&ciphers, expected, &observation),
        }
    }
}

#[tokio::test]
async fn servers_of_tls_1_2_with_weak_suites_alone_are_checked_with_a_warning() {
    let ca = Authority::new("test CA");
    let own = rsa(&ca, NAMES, VALID);
    for (ciphers, suite, weakness) in [
        ("AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA", "without forward secrecy"),
        ("AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256", "without forward secrecy"),
        ("ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "CBC"),
    ] {
        let ciphers = format!("{ciphers}:@SECLEVEL=0");
        for pin in ["", "12"] {
            let at = Server { ciphers: &ciphers, ..Server::new(SslVersion::TLS1_2, &own) }.start().await;
            let observation = check_at(&ca, at, pin, json!({"keyword_string": "name localhost"})).run().await;
            assert_eq!(observation.failure, None, "{ciphers}");
            let [warning] = observation.warnings.as_slice() else { panic!("{:?}", observation.warnings) };
            assert_eq!(warning.kind, WarningKind::TlsWeakness);
            assert!(warning.detail.contains(suite) && warning.detail.contains(weakness), "{warning:?}");
            let facts = observation.facts.tls.unwrap();
            assert_eq!(
                (facts.tls_version.as_deref(), facts.tls_cipher.as_deref()),
                (Some("TLSv1.2"), Some(suite))
            );
        }
    }
}

#[tokio::test]
async fn certificates_are_verified_as_with_new_versions() {
    let (ca, stranger) = (Authority::new("test CA"), Authority::new("stranger"));
    let own = self_signed(NAMES, false);
    for (identity, expected, text) in [
        (&ca.issue(NAMES, (2010, 2020)), Fails(5, Kind::CertificateExpired, TLS), "2020-01-01T00:00:00Z"),
        (&ca.issue(NAMES, (2080, 2090)), Fails(3, Kind::CertificateNotYetValid, TLS), "2080-01-01"),
        (&ca.issue(&["other.test"], VALID), Fails(3, Kind::CertificateNameMismatch, TLS), "other.test"),
        (&stranger.issue(NAMES, VALID), Fails(3, Kind::CertificateIssuerUnknown, TLS), "CN=stranger"),
        (&own, Fails(3, Kind::CertificateIssuerUnknown, TLS), "self-signed"),
    ] {
        // TLS 1.0 supports elliptic curve keys, which most of these certificates have.
        let (version, pin, _) = VERSIONS[1];
        let at = Server::new(version, identity).start().await;
        let observation = check_at(&ca, at, pin, json!({})).run().await;
        compare(text, expected, &observation);
        let failure = observation.failure.unwrap();
        assert!(failure.detail.contains(text), "{failure}");
        assert_eq!(observation.facts.tls.unwrap().certificates.len(), 1, "what was refused is told");
        let unverified = check_at(&ca, at, pin, json!({"verify_certificate": false})).run().await;
        compare("not verified", Passes, &unverified);
        assert_eq!(unverified.facts.tls.unwrap().certificates.len(), 1);
    }
    let at = Server::new(VERSIONS[1].0, &own).start().await;
    let mut pinned = check_at(&ca, at, "10", json!({}));
    pinned.config.trust_config.additional_authorities = vec![pem("own", own.certificate.clone())];
    compare("trusted as it is", Passes, &pinned.run().await);
}

#[tokio::test]
async fn authorities_and_client_certificates_are_chosen_by_id() {
    let (private, clients) = (Authority::new("private"), Authority::new("clients"));
    let own = rsa(&private, NAMES, VALID);
    let other = Authority::new("nobody");
    for (version, pin, name) in VERSIONS {
        let client = rsa(&clients, &["client.test"], VALID);
        let at = Server { clients: Some(&clients), ..Server::new(version, &own) }.start().await;
        let with_certificate =
            |id: i64| json!({"ssl_cert_id": id, "use_client_ssl_cert": true, "ca_cert_id": 7});
        for (fields, expected) in [
            (with_certificate(3), Passes),
            (with_certificate(4), Fails(95, Kind::NotConfigured, TLS)),
            (json!({"ca_cert_id": 8}), Fails(95, Kind::NotConfigured, TLS)),
            (json!({"ca_cert_id": 7}), Fails(3, Kind::TlsHandshakeFailed, TLS)),
            (
                json!({"ssl_cert_id": 3, "use_client_ssl_cert": true}),
                Fails(3, Kind::CertificateIssuerUnknown, TLS),
            ),
        ] {
            let mut check = check_at(&other, at, pin, fields.clone());
            check = check.with(json!({"keyword_string": "leaf"}));
            check.config.trust_config.named_authorities = [(7, pem("private", private.pem()))].into();
            check.config.trust_config.client_certificates = [(3, pem("client", client.pem()))].into();
            let observation = check.run().await;
            if matches!(expected, Fails(95, ..)) {
                let failure = observation.failure.unwrap_or_else(|| panic!("{name} {fields} passes"));
                assert_eq!((failure.kind, failure.status().0), (Kind::NotConfigured, 95), "{name} {fields}");
                continue;
            }
            compare(&format!("{name} {fields}"), expected, &observation);
        }
    }
}

#[tokio::test]
async fn truncation_silence_and_close_have_their_failures() {
    let ca = Authority::new("test CA");
    let own = rsa(&ca, NAMES, VALID);
    for (version, pin, name) in VERSIONS {
        let at = Server { missing: 10, ..Server::new(version, &own) }.start().await;
        let observation = check_at(&ca, at, pin, json!({})).run().await;
        compare(name, Fails(3, Kind::ResponseTruncated, Some(Phase::Transfer)), &observation);
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let started = Instant::now();
        let check =
            check_at(&ca, silent.local_addr().unwrap(), pin, json!({})).within(Duration::from_millis(500));
        compare(name, Fails(2, Kind::TimedOut, TLS), &check.run().await);
        assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
        let closing = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = closing.local_addr().unwrap();
        tokio::spawn(async move { while closing.accept().await.is_ok() {} });
        let observation = check_at(&ca, at, pin, json!({})).run().await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.phase), (Kind::TlsHandshakeFailed, Phase::Tls), "{failure}");
    }
}

#[tokio::test]
async fn ssl_2_is_unsupported_by_every_build() {
    let ca = Authority::new("test CA");
    let own = rsa(&ca, NAMES, VALID);
    let at = Server::new(VERSIONS[0].0, &own).start().await;
    let failure = check_at(&ca, at, "2", json!({})).run().await.failure.unwrap();
    assert_eq!((failure.kind, failure.status().0), (Kind::TlsVersionUnsupported, 95));
    assert!(failure.detail.contains("no build"), "{failure}");
}
