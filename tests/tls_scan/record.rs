//! What is compared.

use std::collections::{BTreeMap, BTreeSet};

/// What is known about a server, from either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// What our scan could not find out.
    pub open_questions: Vec<String>,
    /// Header fields and cookies of the first page; `None` when it could not be read.
    pub site: Option<(HeaderRecord, CookieRecord)>,
}

/// What header fields of a page say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderRecord {
    pub hsts: Hsts,
    pub has_content_security_policy: bool,
    pub denies_framing: bool,
    pub denies_sniffing: bool,
    pub has_referrer_policy: bool,
    /// Whether `Server` tells a version.
    pub tells_server_version: bool,
}

/// How long `Strict-Transport-Security` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hsts {
    Missing,
    /// Less than half a year.
    Short,
    Long,
}

/// Number of cookies of a page that lack a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieRecord {
    pub not_secure: usize,
    pub readable_by_scripts: usize,
}

/// What is known about a certificate and its chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Returns the fields as texts, by name.
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
            ("open_questions", format!("{:?}", self.open_questions)),
            ("headers", format!("{:#?}", self.site.map(|(headers, _)| headers))),
            ("cookies", format!("{:?}", self.site.map(|(_, cookies)| cookies))),
            ("common_name_without_sni", format!("{:?}", self.common_name_without_sni)),
        ])
    }
}
