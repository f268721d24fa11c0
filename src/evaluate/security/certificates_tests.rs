//! Certificates with one weakness each.
#![allow(clippy::unwrap_used)]

use rcgen::{CertificateParams, CustomExtension, DnType, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256};

use super::*;
use crate::domain::Phase;

/// 2026-01-01 00:00:00 UTC.
const NOW: i64 = 1_767_225_600;
const DAY: i64 = 86_400;

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, "leaf");
    set_validity(&mut params, -10, 80);
    params
}

/// Sets the validity in days from [`NOW`].
fn set_validity(params: &mut CertificateParams, from: i64, until: i64) {
    let at = |days: i64| {
        let text = Timestamp::from_seconds(NOW + days * DAY).to_string();
        let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap();
        let (month, day) = (u8::try_from(number(5..7)).unwrap(), u8::try_from(number(8..10)).unwrap());
        rcgen::date_time_ymd(i32::try_from(number(0..4)).unwrap(), month, day)
    };
    (params.not_before, params.not_after) = (at(from), at(until));
}

/// Returns a certificate of `params`, issued by an authority.
fn issued(params: &CertificateParams) -> Vec<u8> {
    let authority_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.distinguished_name.push(DnType::CommonName, "authority");
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    params.signed_by(&key, &issuer).unwrap().der().to_vec()
}

fn found_in_chain(chain: &[Vec<u8>], ocsp: Option<&[u8]>, host: &str) -> Vec<(String, Severity)> {
    let mut findings = FindingCollector::default();
    judge_certificates(chain, ocsp, host, Timestamp::from_seconds(NOW), &mut findings);
    findings.into_findings().0.into_iter().map(|finding| (finding.label(), finding.severity)).collect()
}

fn found(change: impl FnOnce(&mut CertificateParams)) -> Vec<(String, Severity)> {
    let mut params = params(&["a.test"]);
    change(&mut params);
    found_in_chain(&[issued(&params)], None, "a.test")
}

#[test]
fn dates_are_judged() {
    assert_eq!(found(|_| {}), []);
    assert_eq!(
        found(|params| set_validity(params, -90, -1)),
        [("certificate-expired".into(), Severity::High)]
    );
    assert_eq!(
        found(|params| set_validity(params, 1, 90)),
        [("certificate-not-yet-valid".into(), Severity::High)]
    );
    assert_eq!(
        found(|params| set_validity(params, -60, 29)),
        [("certificate-expiring".into(), Severity::Low)]
    );
    assert_eq!(
        found(|params| set_validity(params, -60, 6)),
        [("certificate-expiring".into(), Severity::Medium)]
    );
    assert_eq!(
        found(|params| set_validity(params, -10, 389)),
        [("certificate-lifetime-long".into(), Severity::Low)]
    );
    assert_eq!(found(|params| set_validity(params, -10, 388)), []);
}

#[test]
fn the_name_must_be_covered() {
    let covers =
        |names: &[&str], host: &str| found_in_chain(&[issued(&params(names))], None, host).is_empty();
    assert!(covers(&["a.test", "b.test"], "B.test"));
    assert!(covers(&["*.a.test"], "www.a.test"));
    assert!(!covers(&["*.a.test"], "a.test") && !covers(&["*.a.test"], "x.www.a.test"));
    assert!(covers(&["127.0.0.1"], "127.0.0.1") && covers(&["::1"], "::1"));
    assert!(!covers(&["127.0.0.1"], "127.0.0.2") && !covers(&[], "a.test"));
}

#[test]
fn keys_and_signatures_are_judged() {
    assert_eq!(key_weakness("RSA", 1024, MIN_RSA_BITS).as_deref(), Some("an RSA key of 1024 bits"));
    assert_eq!(key_weakness("RSA", 2048, MIN_RSA_BITS), None);
    assert_eq!(broken_hash("1.2.840.113549.1.1.5"), Some("SHA-1"));
    assert_eq!(broken_hash("1.2.840.113549.1.1.11"), None);
}

#[test]
fn a_certificate_that_demands_a_response_must_have_one() {
    let must_staple = |params: &mut CertificateParams| {
        let features = vec![0x30, 3, 2, 1, 5];
        params.custom_extensions.push(CustomExtension::from_oid_content(TLS_FEATURE, features));
    };
    assert_eq!(found(must_staple), [("ocsp-must-staple-missing".into(), Severity::Medium)]);
    let with_responder = |params: &mut CertificateParams| {
        // AuthorityInfoAccess with `http://o`, the access method being id-ad-ocsp.
        let access = vec![
            0x30, 22, 0x30, 20, 6, 8, 0x2b, 6, 1, 5, 5, 7, 48, 1, 0x86, 8, b'h', b't', b't', b'p', b':',
            b'/', b'/', b'o',
        ];
        params
            .custom_extensions
            .push(CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], access));
    };
    assert_eq!(found(with_responder), [("ocsp-not-stapled".into(), Severity::Info)]);
    let mut own = params(&["a.test"]);
    must_staple(&mut own);
    let chain = [issued(&own)];
    let with_response = |response: &[u8]| found_in_chain(&chain, Some(response), "a.test");
    assert_eq!(with_response(&[0x30, 3, 0x0a, 1, 0]), []);
    assert_eq!(with_response(&[0x30, 0x82, 0, 3, 0x0a, 1, 0]), []);
    for broken in [&[0x30_u8, 3, 0x0a, 1, 6][..], &[0x30], &[], &[0x30, 0xff, 1]] {
        assert_eq!(with_response(broken), [("ocsp-response-unusable".into(), Severity::Low)], "{broken:?}");
    }
}

#[test]
fn roots_and_garbage_in_the_chain_are_told() {
    let root_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.distinguished_name.push(DnType::CommonName, "root");
    let root = root.self_signed(&root_key).unwrap().der().to_vec();
    let own = issued(&params(&["a.test"]));
    assert_eq!(
        found_in_chain(&[own.clone(), root], None, "a.test"),
        [("certificate-root-sent".into(), Severity::Info)]
    );
    let garbage = vec![vec![0xff; 100]; 500];
    let chain: Vec<Vec<u8>> = std::iter::once(own).chain(garbage).collect();
    assert_eq!(
        found_in_chain(&chain, None, "a.test").len(),
        MAX_CHAIN_LEN - 1,
        "an endless chain is bounded"
    );
}

#[test]
fn the_failure_of_a_verified_handshake_tells_trust() {
    let found = |kind| {
        let mut findings = FindingCollector::default();
        judge_trust(&Failure::new(Phase::Tls, kind, "x"), &mut findings);
        findings.into_findings().0.into_iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    assert_eq!(found(FailureKind::CertificateIssuerUnknown), ["certificate-untrusted"]);
    assert_eq!(found(FailureKind::CertificateInvalid), ["certificate-unusable"]);
    assert!(found(FailureKind::CertificateExpired).is_empty() && found(FailureKind::TimedOut).is_empty());
}
