//! Judges what a TLS server offers.

use super::finding_collector::FindingCollector;
use super::finding_table::{
    FindingDefinition, TLS_1_0, TLS_1_1, TLS_1_3_MISSING, TLS_CLIENT_ORDER, TLS_COMPRESSION, TLS_DH_SHORT,
    TLS_EXTENDED_MASTER_SECRET, TLS_FALLBACK, TLS_GROUP_WEAK, TLS_POST_QUANTUM_MISSING, TLS_RENEGOTIATION,
    TLS_SIGNATURE_WEAK, TLS_SSL3, TLS_SUITE_ANONYMOUS, TLS_SUITE_DES, TLS_SUITE_EXPORT, TLS_SUITE_NO_AEAD,
    TLS_SUITE_NO_FORWARD_SECRECY, TLS_SUITE_NULL, TLS_SUITE_RC4,
};
use crate::domain::{
    BulkCipher, CipherMode, CipherSuite, ScannedTlsVersion, Severity, TlsGroup, TlsScan, find_suite,
    find_tls_group, signature_scheme_name,
};

/// Shortest prime of finite-field Diffie-Hellman, in bits (RFC 9325 4.1).
const MIN_DH_BITS: u32 = 2048;
/// Primes below this have been broken (Logjam).
const BROKEN_DH_BITS: u32 = 1024;
/// Shortest elliptic curve, in bits.
const MIN_CURVE_BITS: u16 = 224;
/// Maximum number of names in the evidence.
const MAX_QUOTED_NAMES: usize = 5;

/// Judges versions, suites, groups and options that the server accepts.
pub fn judge_tls(scan: &TlsScan, findings: &mut FindingCollector) {
    if scan.versions.is_empty() {
        return;
    }
    judge_versions(scan, findings);
    judge_suites(scan, findings);
    judge_groups(scan, findings);
    judge_options(scan, findings);
}

fn judge_versions(scan: &TlsScan, findings: &mut FindingCollector) {
    for offered in &scan.versions {
        let definition = match offered.version {
            ScannedTlsVersion::Ssl3 => &TLS_SSL3,
            ScannedTlsVersion::Tls10 => &TLS_1_0,
            ScannedTlsVersion::Tls11 => &TLS_1_1,
            ScannedTlsVersion::Tls12 | ScannedTlsVersion::Tls13 => continue,
        };
        let (name, suites) = (offered.version.name(), offered.cipher_suites.len());
        findings.add(definition, format!("{name} is accepted with {suites} cipher suites"));
    }
    if let Some(newest) = scan.versions.last().filter(|newest| newest.version != ScannedTlsVersion::Tls13) {
        findings.add(&TLS_1_3_MISSING, format!("the newest version is {}", newest.version.name()));
    }
}

fn judge_suites(scan: &TlsScan, findings: &mut FindingCollector) {
    let numbers = scan.versions.iter().flat_map(|offered| &offered.cipher_suites);
    let mut suites: Vec<&CipherSuite> = numbers.filter_map(|number| find_suite(*number)).collect();
    suites.sort_unstable_by_key(|suite| suite.number);
    suites.dedup_by_key(|suite| suite.number);
    let mut judge = |definition: &FindingDefinition,
                     severity: Severity,
                     is_weak: &dyn Fn(&CipherSuite) -> bool| {
        let names: Vec<&str> = suites.iter().filter(|suite| is_weak(suite)).map(|suite| suite.name).collect();
        if !names.is_empty() {
            findings.add_with_severity(definition, severity, None, list(&names));
        }
    };
    judge(&TLS_SUITE_NULL, Severity::Critical, &CipherSuite::is_null);
    judge(&TLS_SUITE_ANONYMOUS, Severity::Critical, &CipherSuite::is_anonymous);
    judge(&TLS_SUITE_EXPORT, Severity::Critical, &CipherSuite::is_export);
    judge(&TLS_SUITE_RC4, Severity::High, &|suite| suite.cipher() == BulkCipher::Rc4);
    judge(&TLS_SUITE_DES, Severity::Medium, &|suite| suite.cipher() == BulkCipher::TripleDes);
    judge(&TLS_SUITE_DES, Severity::High, &|suite| suite.cipher() == BulkCipher::Des);
    judge(&TLS_SUITE_NO_FORWARD_SECRECY, Severity::Low, &|suite| !suite.has_forward_secrecy());
    judge(&TLS_SUITE_NO_AEAD, Severity::Info, &|suite| suite.mode() != CipherMode::Aead);
    let is_weak = |suite: &CipherSuite| suite.mode() != CipherMode::Aead || !suite.has_forward_secrecy();
    let weakest = scan.versions.iter().find(|offered| {
        let suites = || offered.cipher_suites.iter().filter_map(|number| find_suite(*number));
        offered.has_server_order == Some(false) && suites().any(is_weak) && !suites().all(is_weak)
    });
    if let Some(offered) = weakest {
        findings.add(&TLS_CLIENT_ORDER, format!("in {}", offered.version.name()));
    }
}

fn judge_groups(scan: &TlsScan, findings: &mut FindingCollector) {
    if let Some(bits) = scan.dh_prime_bits.filter(|bits| *bits < MIN_DH_BITS) {
        let severity = if bits <= BROKEN_DH_BITS { Severity::High } else { Severity::Medium };
        findings.add_with_severity(&TLS_DH_SHORT, severity, None, format!("its prime has {bits} bits"));
    }
    let groups = || scan.groups.iter().filter_map(|number| find_tls_group(*number));
    let is_weak = |bits: u16| bits > 0 && bits < MIN_CURVE_BITS;
    let weak: Vec<&str> = groups().filter(|group| is_weak(group.bits)).map(|group| group.name).collect();
    if !weak.is_empty() {
        findings.add(&TLS_GROUP_WEAK, list(&weak));
    }
    // Without any group the question stayed open.
    if !scan.groups.is_empty() && !groups().any(TlsGroup::is_post_quantum) {
        let names: Vec<&str> = groups().map(|group| group.name).collect();
        findings.add(&TLS_POST_QUANTUM_MISSING, list(&names));
    }
}

fn judge_options(scan: &TlsScan, findings: &mut FindingCollector) {
    if scan.has_secure_renegotiation == Some(false) {
        findings.add(&TLS_RENEGOTIATION, "the server does not know `renegotiation_info`");
    }
    if scan.has_compression {
        findings.add(&TLS_COMPRESSION, "the server accepts DEFLATE");
    }
    // Between TLS 1.2 and 1.3 the server's random value guards against downgrades (RFC 8446 4.1.3).
    let has_old_version = scan.versions.iter().any(|offered| offered.version < ScannedTlsVersion::Tls12);
    if scan.refuses_fallback == Some(false) && has_old_version {
        findings.add(&TLS_FALLBACK, "the server accepts an older version marked by `TLS_FALLBACK_SCSV`");
    }
    if scan.has_extended_master_secret == Some(false) {
        findings.add(&TLS_EXTENDED_MASTER_SECRET, "the server does not know `extended_master_secret`");
    }
    if let Some(name) = scan.signature_scheme.and_then(signature_scheme_name)
        && (name.ends_with("_sha1") || name.ends_with("_md5"))
    {
        findings.add(&TLS_SIGNATURE_WEAK, format!("the server signs with {name}"));
    }
}

/// Returns the first names, and how many more there are.
fn list(names: &[&str]) -> String {
    let shown = names.get(..MAX_QUOTED_NAMES.min(names.len())).unwrap_or_default().join(", ");
    match names.len().saturating_sub(MAX_QUOTED_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::OfferedTlsVersion;

    const ECDHE_AEAD: u16 = 0xc02f;
    const TLS13_AEAD: u16 = 0x1301;

    fn offered(version: ScannedTlsVersion, suites: &[u16]) -> OfferedTlsVersion {
        OfferedTlsVersion { version, cipher_suites: suites.to_vec(), has_server_order: Some(true) }
    }

    fn sound() -> TlsScan {
        TlsScan {
            versions: vec![
                offered(ScannedTlsVersion::Tls12, &[ECDHE_AEAD]),
                offered(ScannedTlsVersion::Tls13, &[TLS13_AEAD]),
            ],
            groups: vec![29, 4588],
            signature_scheme: Some(0x0804),
            has_secure_renegotiation: Some(true),
            refuses_fallback: Some(true),
            has_extended_master_secret: Some(true),
            ..TlsScan::default()
        }
    }

    fn found(change: impl FnOnce(&mut TlsScan)) -> Vec<(String, Severity)> {
        let (mut scan, mut findings) = (sound(), FindingCollector::default());
        change(&mut scan);
        judge_tls(&scan, &mut findings);
        findings.into_findings().0.into_iter().map(|finding| (finding.id, finding.severity)).collect()
    }

    fn found_with_suite(suite: u16) -> Vec<(String, Severity)> {
        found(|scan| scan.versions[0].cipher_suites.push(suite))
    }

    #[test]
    fn a_sound_server_has_no_findings_and_no_tls_is_not_judged() {
        assert_eq!(found(|_| {}), []);
        assert_eq!(found(|scan| *scan = TlsScan::default()), []);
    }

    #[test]
    fn old_versions_are_findings() {
        let with = |version| found(|scan| scan.versions.insert(0, offered(version, &[ECDHE_AEAD])));
        assert_eq!(with(ScannedTlsVersion::Ssl3), [("tls-ssl3-offered".into(), Severity::High)]);
        assert_eq!(with(ScannedTlsVersion::Tls10), [("tls-1.0-offered".into(), Severity::Medium)]);
        assert_eq!(with(ScannedTlsVersion::Tls11), [("tls-1.1-offered".into(), Severity::Medium)]);
        let without_13 = found(|scan| drop(scan.versions.pop()));
        assert_eq!(without_13, [("tls-1.3-missing".into(), Severity::Low)]);
    }

    #[test]
    fn each_weak_suite_is_a_finding() {
        let has = |suite: u16, id: &str, severity| {
            let found = found_with_suite(suite);
            assert!(found.contains(&(id.to_owned(), severity)), "{suite:04x}: {found:?}");
        };
        has(0x0002, "tls-suite-null", Severity::Critical);
        has(0x0018, "tls-suite-anonymous", Severity::Critical);
        has(0x0003, "tls-suite-export", Severity::Critical);
        has(0x0005, "tls-suite-rc4", Severity::High);
        has(0x0009, "tls-suite-des", Severity::High);
        has(0x000a, "tls-suite-des", Severity::Medium);
        assert_eq!(found_with_suite(0x009c), [("tls-suite-no-forward-secrecy".into(), Severity::Low)]);
        assert_eq!(found_with_suite(0xc013), [("tls-suite-no-aead".into(), Severity::Info)]);
        assert_eq!(found_with_suite(0xcca8), []);
    }

    #[test]
    fn the_order_matters_only_with_weak_suites() {
        let client_chooses = |suites: &[u16]| {
            found(|scan| {
                scan.versions[0].cipher_suites = suites.to_vec();
                scan.versions[0].has_server_order = Some(false);
            })
        };
        assert_eq!(client_chooses(&[ECDHE_AEAD, 0xcca8]), []);
        assert!(client_chooses(&[ECDHE_AEAD, 0xc013]).contains(&("tls-client-order".into(), Severity::Info)));
    }

    #[test]
    fn groups_and_options_flip_their_findings() {
        assert_eq!(found(|scan| scan.dh_prime_bits = Some(512)), [("tls-dh-short".into(), Severity::High)]);
        assert_eq!(
            found(|scan| scan.dh_prime_bits = Some(1536)),
            [("tls-dh-short".into(), Severity::Medium)]
        );
        assert_eq!(found(|scan| scan.dh_prime_bits = Some(2048)), []);
        assert_eq!(found(|scan| scan.groups.push(19)), [("tls-group-weak".into(), Severity::Medium)]);
        assert_eq!(
            found(|scan| scan.groups = vec![29]),
            [("tls-post-quantum-missing".into(), Severity::Info)]
        );
        assert_eq!(found(|scan| scan.groups.clear()), []);
        assert_eq!(
            found(|scan| scan.has_secure_renegotiation = Some(false)),
            [("tls-renegotiation-insecure".into(), Severity::Medium)]
        );
        assert_eq!(found(|scan| scan.has_compression = true), [("tls-compression".into(), Severity::High)]);
        assert_eq!(found(|scan| scan.refuses_fallback = Some(false)), [], "TLS 1.3 guards itself");
        let with_old_version = found(|scan| {
            scan.versions.insert(0, offered(ScannedTlsVersion::Tls11, &[ECDHE_AEAD]));
            scan.refuses_fallback = Some(false);
        });
        assert!(with_old_version.contains(&("tls-fallback-accepted".into(), Severity::Low)));
        assert_eq!(
            found(|scan| scan.has_extended_master_secret = Some(false)),
            [("tls-extended-master-secret-missing".into(), Severity::Low)]
        );
        assert_eq!(
            found(|scan| scan.signature_scheme = Some(0x0201)),
            [("tls-signature-weak".into(), Severity::Medium)]
        );
    }
}
