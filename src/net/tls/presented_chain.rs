//! The certificates that a server sent, for messages: which of them is meant, and where it stands.

use rustls_pki_types::CertificateDer;
use x509_parser::extensions::ParsedExtension;
use x509_parser::oid_registry::Oid;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::der::{DerReader, SEQUENCE};
use super::signed::{PublicKeyInfo, SignedData};
use super::trust::TrustAnchors;
use crate::domain::{Timestamp, replace_control_chars};

/// Maximum number of certificates that are parsed.
const MAX_CERTIFICATES: usize = 10;
/// Most names of a certificate that are listed.
const MAX_NAMES: usize = 20;
/// Longest subject in a message, in characters.
const MAX_SUBJECT_CHARS: usize = 200;

/// The certificates of a server, its own first.
pub(super) struct PresentedChain<'a> {
    /// How many certificates the server sent; `certificates` may have fewer.
    count: usize,
    /// `None` for one that cannot be read.
    certificates: Vec<Option<X509Certificate<'a>>>,
    /// All certificates as they were sent, also those that are not parsed.
    encoded: &'a [CertificateDer<'a>],
}

impl<'a> PresentedChain<'a> {
    pub(super) fn new(chain: &'a [CertificateDer<'a>]) -> Self {
        let parse =
            |der: &'a CertificateDer<'a>| X509Certificate::from_der(der).ok().map(|(_, parsed)| parsed);
        Self {
            count: chain.len(),
            certificates: chain.iter().take(MAX_CERTIFICATES).map(parse).collect(),
            encoded: chain,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    fn get(&self, index: usize) -> Option<&X509Certificate<'a>> {
        self.certificates.get(index)?.as_ref()
    }

    fn readable_certificates(&self) -> impl Iterator<Item = (usize, &X509Certificate<'a>)> {
        self.certificates
            .iter()
            .enumerate()
            .filter_map(|(index, certificate)| Some((index, certificate.as_ref()?)))
    }

    /// Returns the subject of the certificate at `index`, quoted.
    pub(super) fn quoted_subject(&self, index: usize) -> String {
        match self.get(index) {
            Some(certificate) => format!("`{}`", subject_text(&certificate.subject().to_string())),
            None => "a certificate without a readable subject".to_owned(),
        }
    }

    /// Returns subject and place of the certificate at `index`.
    pub(super) fn describe_certificate(&self, index: usize) -> String {
        let subject = self.quoted_subject(index);
        match (index, self.count) {
            (0, _) => format!("{subject} (the server's own certificate)"),
            (index, count) => format!("{subject} (certificate {} of the {count} that it sent)", index + 1),
        }
    }

    /// Returns the words for a certificate of this chain that cannot be told apart.
    pub(super) fn describe_any_certificate(&self) -> String {
        match self.count {
            0 | 1 => self.describe_certificate(0),
            count => format!("one of the {count} certificates after {}", self.describe_certificate(0)),
        }
    }

    /// Names the first certificate for which `test` holds.
    pub(super) fn describe_first_where(&self, test: impl Fn(&X509Certificate<'a>) -> bool) -> String {
        match self.readable_certificates().find(|(_, certificate)| test(certificate)) {
            Some((index, _)) => self.describe_certificate(index),
            None => self.describe_any_certificate(),
        }
    }

    /// Like [`Self::describe_first_where`], without the server's own certificate.
    pub(super) fn describe_first_issuer_where(&self, test: impl Fn(&X509Certificate<'a>) -> bool) -> String {
        match self.readable_certificates().skip(1).find(|(_, certificate)| test(certificate)) {
            Some((index, _)) => self.describe_certificate(index),
            None if self.last_issuer().is_empty() => "an authority of this certificate".to_owned(),
            None => format!("`{}` (an authority that is trusted here)", self.last_issuer()),
        }
    }

    /// Returns the index of the certificate that expires first, whether it has expired or not.
    pub(super) fn earliest_expiring_index(&self) -> Option<usize> {
        self.readable_certificates()
            .min_by_key(|(_, certificate)| certificate.validity().not_after)
            .map(|(index, _)| index)
    }

    /// Returns the index of the certificate that becomes valid last, whether it is valid already or not.
    pub(super) fn latest_starting_index(&self) -> Option<usize> {
        self.readable_certificates()
            .max_by_key(|(_, certificate)| certificate.validity().not_before)
            .map(|(index, _)| index)
    }

    pub(super) fn not_after(&self, index: usize) -> Timestamp {
        self.get(index).map_or_else(Timestamp::default, |certificate| {
            Timestamp::from_seconds(certificate.validity().not_after.timestamp())
        })
    }

    pub(super) fn not_before(&self, index: usize) -> Timestamp {
        self.get(index).map_or_else(Timestamp::default, |certificate| {
            Timestamp::from_seconds(certificate.validity().not_before.timestamp())
        })
    }

    /// Returns the names that the server's own certificate is for.
    pub(super) fn subject_alt_names(&self) -> String {
        let Some(certificate) = self.get(0) else { return "no name".to_owned() };
        let names = super::certificate::subject_alt_names(certificate);
        match names.len() {
            0 => "no name".to_owned(),
            count if count > MAX_NAMES => {
                format!("{} and {} more", names[..MAX_NAMES].join(", "), count - MAX_NAMES)
            }
            _ => names.join(", "),
        }
    }

    /// Whether the server sent one certificate, which it issued itself.
    pub(super) fn is_single_self_signed(&self) -> bool {
        self.count == 1
            && self
                .get(0)
                .is_some_and(|certificate| certificate.subject().as_raw() == certificate.issuer().as_raw())
    }

    /// Returns the issuer of the last certificate.
    pub(super) fn last_issuer(&self) -> String {
        let issuer =
            self.readable_certificates().last().map(|(_, certificate)| certificate.issuer().to_string());
        subject_text(&issuer.unwrap_or_default())
    }

    /// Names the first certificate that cannot be read.
    pub(super) fn describe_first_unreadable(&self) -> String {
        let index = self.certificates.iter().position(Option::is_none);
        match index {
            Some(0) => "the server's own certificate".to_owned(),
            Some(index) => format!("certificate {} of the {} that it sent", index + 1, self.count),
            None => self.describe_any_certificate(),
        }
    }

    /// Names the first certificate that is signed by a weak or unknown algorithm, and the algorithm.
    pub(super) fn describe_first_weakly_signed(&self) -> (String, String) {
        let signed = self
            .readable_certificates()
            .map(|(index, certificate)| (index, &certificate.signature_algorithm.algorithm));
        let mut weak = signed.filter(|(_, algorithm)| !is_accepted_algorithm(algorithm));
        match weak.next() {
            Some((index, algorithm)) => (self.describe_certificate(index), algorithm_text(algorithm)),
            None => (
                self.describe_any_certificate(),
                "an algorithm that does not go with the key of its issuer".to_owned(),
            ),
        }
    }

    /// Describes the first certificate with an unknown critical extension, and that extension.
    pub(super) fn describe_first_with_unknown_critical_extension(&self) -> (String, String) {
        for (index, certificate) in self.readable_certificates() {
            let unknown = certificate.extensions().iter().find(|extension| {
                extension.critical
                    && !matches!(
                        extension.parsed_extension(),
                        ParsedExtension::BasicConstraints(_)
                            | ParsedExtension::KeyUsage(_)
                            | ParsedExtension::ExtendedKeyUsage(_)
                            | ParsedExtension::SubjectAlternativeName(_)
                            | ParsedExtension::NameConstraints(_)
                            | ParsedExtension::CRLDistributionPoints(_)
                    )
            });
            if let Some(extension) = unknown {
                return (
                    self.describe_certificate(index),
                    format!("the extension {}", extension.oid.to_id_string()),
                );
            }
        }
        (self.describe_any_certificate(), "an extension".to_owned())
    }

    /// Describes the first issuer in the chain, or trusted above it, whose RSA key is under `min_bits`; and its bits.
    pub(super) fn describe_first_short_key(
        &self,
        anchors: &TrustAnchors,
        min_bits: usize,
    ) -> Option<(String, usize)> {
        let bits =
            |key_info: &[u8]| PublicKeyInfo::read(key_info)?.rsa_bits().filter(|&bits| bits < min_bits);
        for (index, certificate) in self.readable_certificates().skip(1) {
            let key = DerReader(certificate.tbs_certificate.subject_pki.raw).next_with_tag(SEQUENCE);
            if let Some(bits) = key.and_then(|key| bits(key.content)) {
                return Some((self.describe_certificate(index), bits));
            }
        }
        let (_, last) = self.readable_certificates().last()?;
        let issuer = DerReader(last.issuer().as_raw()).next_with_tag(SEQUENCE)?.content;
        let issuer_anchors = anchors.roots.roots.iter().filter(|anchor| anchor.subject.as_ref() == issuer);
        let mut issuer_anchors = issuer_anchors;
        let bits = issuer_anchors.find_map(|anchor| bits(&anchor.subject_public_key_info))?;
        Some((format!("`{}` (an authority that is trusted here)", self.last_issuer()), bits))
    }

    /// Describes the first certificate whose signature fits no key of its issuer; and the subject of the issuer.
    pub(super) fn describe_first_invalid_signature(
        &self,
        anchors: &TrustAnchors,
    ) -> Option<(String, String)> {
        let algorithms = anchors.crypto_provider.signature_verification_algorithms.all;
        for (index, certificate) in self.readable_certificates() {
            let issuer = certificate.issuer().as_raw();
            let Some(signed) = self.encoded.get(index).and_then(|der| SignedData::from_certificate(der))
            else {
                continue;
            };
            let issuer_content = DerReader(issuer).next_with_tag(SEQUENCE).map(|element| element.content);
            let sent = self.readable_certificates().filter(|(_, other)| other.subject().as_raw() == issuer);
            let sent = sent.filter_map(|(_, other)| {
                DerReader(other.tbs_certificate.subject_pki.raw)
                    .next_with_tag(SEQUENCE)
                    .map(|key| key.content)
            });
            let trusted = anchors.roots.roots.iter();
            let trusted = trusted.filter(|anchor| Some(anchor.subject.as_ref()) == issuer_content);
            let mut keys: Vec<&[u8]> = sent.collect();
            keys.extend(trusted.map(|anchor| anchor.subject_public_key_info.as_ref()));
            if !keys.is_empty() && !keys.iter().any(|key| signed.is_signed_by(key, algorithms)) {
                return Some((
                    self.describe_certificate(index),
                    subject_text(&certificate.issuer().to_string()),
                ));
            }
        }
        None
    }

    /// Returns the length of the server's own RSA key in bits; `None` for a key of another kind.
    pub(super) fn own_rsa_bits(&self) -> Option<usize> {
        let key = DerReader(self.get(0)?.tbs_certificate.subject_pki.raw).next_with_tag(SEQUENCE)?;
        PublicKeyInfo::read(key.content)?.rsa_bits()
    }
}

fn subject_text(text: &str) -> String {
    replace_control_chars(&text.chars().take(MAX_SUBJECT_CHARS).collect::<String>())
}

/// Whether signatures by `algorithm` are accepted.
fn is_accepted_algorithm(algorithm: &Oid<'_>) -> bool {
    let accepted = [
        // RSA with SHA-256, SHA-384, SHA-512 and PSS.
        "1.2.840.113549.1.1.11",
        "1.2.840.113549.1.1.12",
        "1.2.840.113549.1.1.13",
        "1.2.840.113549.1.1.10",
        // ECDSA with SHA-256, SHA-384 and SHA-512; Ed25519.
        "1.2.840.10045.4.3.2",
        "1.2.840.10045.4.3.3",
        "1.2.840.10045.4.3.4",
        "1.3.101.112",
    ];
    accepted.contains(&algorithm.to_id_string().as_str())
}

fn algorithm_text(algorithm: &Oid<'_>) -> String {
    let id = algorithm.to_id_string();
    let name = match id.as_str() {
        "1.2.840.113549.1.1.2" => "MD2 with RSA",
        "1.2.840.113549.1.1.4" => "MD5 with RSA",
        "1.2.840.113549.1.1.5" | "1.3.14.3.2.29" => "SHA-1 with RSA",
        "1.2.840.113549.1.1.14" => "SHA-224 with RSA",
        "1.2.840.10045.4.1" => "SHA-1 with ECDSA",
        "1.2.840.10045.4.3.1" => "SHA-224 with ECDSA",
        "1.2.840.10040.4.3" => "SHA-1 with DSA",
        "2.16.840.1.101.3.4.3.2" => "SHA-256 with DSA",
        "1.3.101.113" => "Ed448",
        "1.2.156.10197.1.501" => "SM3 with SM2",
        _ => return format!("the algorithm {id}"),
    };
    name.to_owned()
}
