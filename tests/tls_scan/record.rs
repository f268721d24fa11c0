//! What of an answer is compared, and its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What is known about a server, from either side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Names of the accepted versions.
    pub protocols: BTreeSet<String>,
    /// IANA names of the accepted cipher suites of each version.
    pub cipher_suites: BTreeMap<String, BTreeSet<String>>,
    /// `server` or `client`: by whose order suites are chosen.
    pub cipher_order: Option<String>,
    /// OpenSSL names of the elliptic curves.
    pub curves: BTreeSet<String>,
    /// Bits of the prime of Diffie-Hellman.
    pub dh_prime_bits: Option<u32>,
    /// The preferred one of `h2` and `http/1.1`.
    pub alpn: Option<String>,
    pub secure_renegotiation: Option<bool>,
    pub compression: bool,
    pub refuses_fallback: Option<bool>,
    pub extended_master_secret: Option<bool>,
    pub ocsp_stapling: bool,
    /// One for each certificate of the server, sorted.
    pub certificates: BTreeSet<CertificateRecord>,
    /// Common name of the certificate without SNI.
    pub common_name_without_sni: Option<String>,
    /// Headers of the answer of HTTP, by their names in testssl.sh. Not seen by the scan of TLS.
    pub headers: BTreeMap<String, String>,
}

/// What is known about a certificate and its chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateRecord {
    pub common_name: String,
    pub key: String,
    pub signature_algorithm: String,
    pub is_expired: bool,
    pub is_self_signed: bool,
    /// Number of certificates that the server sends.
    pub chain_length: usize,
    pub is_disordered: bool,
}

impl Record {
    /// Returns the fields as texts, by name; those of the scan of TLS only.
    pub fn fields(&self) -> BTreeMap<&'static str, String> {
        let certificates: Vec<_> = self.certificates.iter().collect();
        BTreeMap::from([
            ("protocols", format!("{:?}", self.protocols)),
            ("cipher_suites", format!("{:#?}", self.cipher_suites)),
            ("cipher_order", format!("{:?}", self.cipher_order)),
            ("curves", format!("{:?}", self.curves)),
            ("dh_prime_bits", format!("{:?}", self.dh_prime_bits)),
            ("alpn", format!("{:?}", self.alpn)),
            ("secure_renegotiation", format!("{:?}", self.secure_renegotiation)),
            ("compression", format!("{:?}", self.compression)),
            ("refuses_fallback", format!("{:?}", self.refuses_fallback)),
            ("extended_master_secret", format!("{:?}", self.extended_master_secret)),
            ("ocsp_stapling", format!("{:?}", self.ocsp_stapling)),
            ("certificates", format!("{certificates:#?}")),
            ("common_name_without_sni", format!("{:?}", self.common_name_without_sni)),
        ])
    }
}

fn path(setup: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/testssl").join(format!("{setup}.json"))
}

/// Returns the recorded answer of testssl.sh about `setup`.
pub fn load(setup: &str) -> Record {
    let path = path(setup);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; record it with VIGIE_RECORD_TESTSSL=1", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Stores `record` as the answer of testssl.sh about `setup`.
pub fn store(setup: &str, record: &Record) {
    let text = serde_json::to_string_pretty(record).unwrap() + "\n";
    std::fs::write(path(setup), text).unwrap();
}
