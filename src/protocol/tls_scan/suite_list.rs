//! Which cipher suites a scan offers for a version, and in which order and portions.

use crate::domain::{
    BulkCipher, CipherMode, CipherSuite, KeyExchange, ScannedTlsVersion, SuiteAuthentication, cipher_suites,
};

/// Most suites of one hello; some servers do not answer longer ones.
const MAX_SUITES_PER_HELLO: usize = 64;

/// Returns the numbers of the suites for `version` in portions for one hello each: those in common use first, so that
/// with most servers all that are accepted are in the first portion.
pub(super) fn suite_portions(version: ScannedTlsVersion) -> Vec<Vec<u16>> {
    let mut suites: Vec<&CipherSuite> =
        cipher_suites().iter().filter(|suite| belongs_to(suite, version)).collect();
    suites.sort_by_key(|suite| {
        (
            !is_common(suite),
            !suite.has_forward_secrecy(),
            suite.mode() != CipherMode::Aead,
            u16::MAX - suite.key_bits(),
        )
    });
    let common = suites.iter().take_while(|suite| is_common(suite)).count();
    let (common, rare) = suites.split_at(common);
    let portions = [common, rare].into_iter().flat_map(|part| part.chunks(MAX_SUITES_PER_HELLO));
    portions.map(|portion| portion.iter().map(|suite| suite.number).collect()).collect()
}

fn belongs_to(suite: &CipherSuite, version: ScannedTlsVersion) -> bool {
    match version {
        ScannedTlsVersion::Tls13 => suite.is_tls13(),
        ScannedTlsVersion::Tls12 => !suite.is_tls13(),
        _ => !suite.is_tls13() && !suite.needs_tls12(),
    }
}

/// Whether servers in use may well have it.
fn is_common(suite: &CipherSuite) -> bool {
    let is_rare_cipher = matches!(
        suite.cipher(),
        BulkCipher::Null
            | BulkCipher::Rc2
            | BulkCipher::Des
            | BulkCipher::Idea
            | BulkCipher::Seed
            | BulkCipher::Aria
            | BulkCipher::Gost
    );
    let has_common_exchange = matches!(
        suite.key_exchange(),
        KeyExchange::Rsa | KeyExchange::Dhe | KeyExchange::Ecdhe | KeyExchange::Tls13
    );
    let has_common_key = matches!(
        suite.authentication(),
        SuiteAuthentication::Rsa | SuiteAuthentication::Ecdsa | SuiteAuthentication::AnyCertificate
    );
    let is_rare_variant = suite.is_export()
        || suite.name.contains("CCM")
        || suite.name.contains("CAMELLIA") && suite.needs_tls12();
    has_common_exchange && has_common_key && !is_rare_cipher && !is_rare_variant
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_suite_is_offered_once_in_its_versions() {
        let offered = |version| -> Vec<u16> { suite_portions(version).concat() };
        let tls12 = offered(ScannedTlsVersion::Tls12);
        assert_eq!(tls12.len() + offered(ScannedTlsVersion::Tls13).len(), cipher_suites().len());
        assert_eq!(tls12.iter().collect::<BTreeSet<_>>().len(), tls12.len());
        assert_eq!(offered(ScannedTlsVersion::Ssl3), offered(ScannedTlsVersion::Tls11));
        assert!(!offered(ScannedTlsVersion::Tls10).contains(&0xc02f));
        assert!(offered(ScannedTlsVersion::Tls10).contains(&0xc013));
    }

    #[test]
    fn common_suites_fill_one_portion_and_the_best_come_first() {
        for version in ScannedTlsVersion::ALL {
            let portions = suite_portions(version);
            assert!(
                portions.iter().all(|portion| portion.len() <= MAX_SUITES_PER_HELLO && !portion.is_empty())
            );
            assert!(portions.len() <= 7, "{version:?}: {}", portions.len());
            if version != ScannedTlsVersion::Tls13 {
                for number in [0xc014, 0xc009, 0x0033, 0x002f, 0x000a, 0x0005] {
                    assert!(portions[0].contains(&number), "{version:?}: {number:#06x}");
                }
            }
        }
        assert_eq!(suite_portions(ScannedTlsVersion::Tls12)[0][0], 0x009f);
    }
}
