//! Signed structures: certificates, and the responses of OCSP.

use rustls_pki_types::SignatureVerificationAlgorithm;

use super::der::{BIT_STRING, DerReader, INTEGER, OBJECT_IDENTIFIER, SEQUENCE};

/// `rsaEncryption` (RFC 8017 A.1).
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// What was signed, and its signature (RFC 5280 4.1.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct SignedData<'a> {
    /// The signed element, with its tag.
    pub(super) signed_element: &'a [u8],
    /// The content of the algorithm identifier.
    algorithm: &'a [u8],
    signature: &'a [u8],
}

/// The parts of a public key (RFC 5280 4.1.2.7).
#[derive(Clone, Copy, Debug)]
pub(super) struct PublicKeyInfo<'a> {
    /// The content of the algorithm identifier.
    algorithm: &'a [u8],
    /// The key itself.
    pub(super) key: &'a [u8],
}

impl<'a> SignedData<'a> {
    /// Reads the three elements of a certificate, or of a basic OCSP response, from `content`; returns the rest too.
    pub(super) fn read(content: &'a [u8]) -> Option<(Self, DerReader<'a>)> {
        let mut reader = DerReader(content);
        let signed_element = reader.next_with_tag(SEQUENCE)?.encoded;
        let algorithm = reader.next_with_tag(SEQUENCE)?.content;
        let signature = reader.next_with_tag(BIT_STRING)?.bit_string_bytes()?;
        Some((Self { signed_element, algorithm, signature }, reader))
    }

    /// Reads the certificate `der`.
    pub(super) fn from_certificate(der: &'a [u8]) -> Option<Self> {
        let mut reader = DerReader(der);
        let certificate = reader.next_with_tag(SEQUENCE)?;
        Self::read(certificate.content).map(|(signed, _)| signed)
    }

    /// Whether `key_info`, the content of a `SubjectPublicKeyInfo`, made this signature by one of `algorithms`.
    pub(super) fn is_signed_by(
        &self,
        key_info: &[u8],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> bool {
        let Some(key) = PublicKeyInfo::read(key_info) else { return false };
        algorithms
            .iter()
            .filter(|algorithm| algorithm.signature_alg_id().as_ref() == self.algorithm)
            .filter(|algorithm| algorithm.public_key_alg_id().as_ref() == key.algorithm)
            .any(|algorithm| algorithm.verify_signature(key.key, self.signed_element, self.signature).is_ok())
    }
}

impl<'a> PublicKeyInfo<'a> {
    /// Reads the content of a `SubjectPublicKeyInfo`.
    pub(super) fn read(content: &'a [u8]) -> Option<Self> {
        let mut reader = DerReader(content);
        let algorithm = reader.next_with_tag(SEQUENCE)?.content;
        Some(Self { algorithm, key: reader.next_with_tag(BIT_STRING)?.bit_string_bytes()? })
    }

    /// Returns the length of an RSA key in bits; `None` for a key of another kind.
    pub(super) fn rsa_bits(&self) -> Option<usize> {
        let identifier = DerReader(self.algorithm).next_with_tag(OBJECT_IDENTIFIER)?;
        if identifier.content != RSA_ENCRYPTION {
            return None;
        }
        let modulus = DerReader(self.key).next_with_tag(SEQUENCE)?.reader().next_with_tag(INTEGER)?.content;
        let zeros = modulus.iter().take_while(|&&byte| byte == 0).count();
        let digits = &modulus[zeros..];
        let unused = digits.first().map_or(0, |first| first.leading_zeros() as usize);
        Some(digits.len() * 8 - unused)
    }
}
