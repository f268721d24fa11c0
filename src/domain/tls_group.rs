//! Groups for the key exchange of TLS, and schemes of signatures.

/// A group for the key exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsGroup {
    /// Number on the wire (IANA "TLS Supported Groups").
    pub number: u16,
    /// IANA name, such as `x25519`.
    pub name: &'static str,
    /// The kind of mathematics behind it.
    pub kind: TlsGroupKind,
    /// Bits of the curve or of the prime; for post-quantum groups those of the classic half, 0 without one.
    pub bits: u16,
}

/// The kind of mathematics behind a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlsGroupKind {
    /// An elliptic curve of TLS 1.2 and before only.
    OldCurve,
    /// An elliptic curve.
    Curve,
    /// An elliptic curve of TLS 1.3 only.
    Tls13Curve,
    /// Finite-field Diffie-Hellman (RFC 7919).
    FiniteField,
    /// ML-KEM, alone or with a classic group; TLS 1.3 only.
    PostQuantum,
}

impl TlsGroup {
    /// Whether it is for TLS 1.3.
    #[must_use]
    pub const fn is_for_tls13(&self) -> bool {
        !matches!(self.kind, TlsGroupKind::OldCurve)
    }

    /// Whether it is a curve for TLS 1.2 and before.
    #[must_use]
    pub const fn is_for_tls12(&self) -> bool {
        matches!(self.kind, TlsGroupKind::OldCurve | TlsGroupKind::Curve)
    }

    /// Whether what is recorded today stays secret from a quantum computer.
    #[must_use]
    pub const fn is_post_quantum(&self) -> bool {
        matches!(self.kind, TlsGroupKind::PostQuantum)
    }
}

const fn group(number: u16, name: &'static str, kind: TlsGroupKind, bits: u16) -> TlsGroup {
    TlsGroup { number, name, kind, bits }
}

/// The groups that a scan asks for, by number.
pub const TLS_GROUPS: &[TlsGroup] = &[
    group(1, "sect163k1", TlsGroupKind::OldCurve, 163),
    group(2, "sect163r1", TlsGroupKind::OldCurve, 163),
    group(3, "sect163r2", TlsGroupKind::OldCurve, 163),
    group(4, "sect193r1", TlsGroupKind::OldCurve, 193),
    group(5, "sect193r2", TlsGroupKind::OldCurve, 193),
    group(6, "sect233k1", TlsGroupKind::OldCurve, 233),
    group(7, "sect233r1", TlsGroupKind::OldCurve, 233),
    group(8, "sect239k1", TlsGroupKind::OldCurve, 239),
    group(9, "sect283k1", TlsGroupKind::OldCurve, 283),
    group(10, "sect283r1", TlsGroupKind::OldCurve, 283),
    group(11, "sect409k1", TlsGroupKind::OldCurve, 409),
    group(12, "sect409r1", TlsGroupKind::OldCurve, 409),
    group(13, "sect571k1", TlsGroupKind::OldCurve, 571),
    group(14, "sect571r1", TlsGroupKind::OldCurve, 571),
    group(15, "secp160k1", TlsGroupKind::OldCurve, 160),
    group(16, "secp160r1", TlsGroupKind::OldCurve, 160),
    group(17, "secp160r2", TlsGroupKind::OldCurve, 160),
    group(18, "secp192k1", TlsGroupKind::OldCurve, 192),
    group(19, "secp192r1", TlsGroupKind::OldCurve, 192),
    group(20, "secp224k1", TlsGroupKind::OldCurve, 224),
    group(21, "secp224r1", TlsGroupKind::OldCurve, 224),
    group(22, "secp256k1", TlsGroupKind::OldCurve, 256),
    group(23, "secp256r1", TlsGroupKind::Curve, 256),
    group(24, "secp384r1", TlsGroupKind::Curve, 384),
    group(25, "secp521r1", TlsGroupKind::Curve, 521),
    group(26, "brainpoolP256r1", TlsGroupKind::OldCurve, 256),
    group(27, "brainpoolP384r1", TlsGroupKind::OldCurve, 384),
    group(28, "brainpoolP512r1", TlsGroupKind::OldCurve, 512),
    group(29, "x25519", TlsGroupKind::Curve, 253),
    group(30, "x448", TlsGroupKind::Curve, 448),
    group(31, "brainpoolP256r1tls13", TlsGroupKind::Tls13Curve, 256),
    group(32, "brainpoolP384r1tls13", TlsGroupKind::Tls13Curve, 384),
    group(33, "brainpoolP512r1tls13", TlsGroupKind::Tls13Curve, 512),
    group(41, "curveSM2", TlsGroupKind::Tls13Curve, 256),
    group(256, "ffdhe2048", TlsGroupKind::FiniteField, 2048),
    group(257, "ffdhe3072", TlsGroupKind::FiniteField, 3072),
    group(258, "ffdhe4096", TlsGroupKind::FiniteField, 4096),
    group(259, "ffdhe6144", TlsGroupKind::FiniteField, 6144),
    group(260, "ffdhe8192", TlsGroupKind::FiniteField, 8192),
    group(512, "MLKEM512", TlsGroupKind::PostQuantum, 0),
    group(513, "MLKEM768", TlsGroupKind::PostQuantum, 0),
    group(514, "MLKEM1024", TlsGroupKind::PostQuantum, 0),
    group(4587, "SecP256r1MLKEM768", TlsGroupKind::PostQuantum, 256),
    group(4588, "X25519MLKEM768", TlsGroupKind::PostQuantum, 253),
    group(4589, "SecP384r1MLKEM1024", TlsGroupKind::PostQuantum, 384),
    group(25497, "X25519Kyber768Draft00", TlsGroupKind::PostQuantum, 253),
];

/// Returns the group with this number; `None` when it is unknown.
#[must_use]
pub fn find_tls_group(number: u16) -> Option<&'static TlsGroup> {
    TLS_GROUPS.iter().find(|group| group.number == number)
}

/// The schemes of signatures that a scan accepts: number and name (IANA "TLS `SignatureScheme`"), the better ones first.
/// The names of those without one in the registry are of hash and key, as TLS 1.2 has them.
pub const SIGNATURE_SCHEMES: &[(u16, &str)] = &[
    (0x0807, "ed25519"),
    (0x0808, "ed448"),
    (0x0403, "ecdsa_secp256r1_sha256"),
    (0x0503, "ecdsa_secp384r1_sha384"),
    (0x0603, "ecdsa_secp521r1_sha512"),
    (0x081a, "ecdsa_brainpoolP256r1tls13_sha256"),
    (0x081b, "ecdsa_brainpoolP384r1tls13_sha384"),
    (0x081c, "ecdsa_brainpoolP512r1tls13_sha512"),
    (0x0804, "rsa_pss_rsae_sha256"),
    (0x0805, "rsa_pss_rsae_sha384"),
    (0x0806, "rsa_pss_rsae_sha512"),
    (0x0809, "rsa_pss_pss_sha256"),
    (0x080a, "rsa_pss_pss_sha384"),
    (0x080b, "rsa_pss_pss_sha512"),
    (0x0401, "rsa_pkcs1_sha256"),
    (0x0501, "rsa_pkcs1_sha384"),
    (0x0601, "rsa_pkcs1_sha512"),
    (0x0402, "dsa_sha256"),
    (0x0303, "ecdsa_sha224"),
    (0x0301, "rsa_pkcs1_sha224"),
    (0x0203, "ecdsa_sha1"),
    (0x0201, "rsa_pkcs1_sha1"),
    (0x0202, "dsa_sha1"),
    (0x0101, "rsa_pkcs1_md5"),
];

/// Returns the name of the signature scheme with this number; `None` when it is unknown.
#[must_use]
pub fn signature_scheme_name(number: u16) -> Option<&'static str> {
    SIGNATURE_SCHEMES.iter().find(|(scheme, _)| *scheme == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sorted_and_known_by_number() {
        assert!(TLS_GROUPS.is_sorted_by(|before, after| before.number < after.number));
        let group = find_tls_group(4588).unwrap();
        assert!(group.is_post_quantum() && group.is_for_tls13() && !group.is_for_tls12());
        assert!(find_tls_group(29).unwrap().is_for_tls12());
        assert!(!find_tls_group(26).unwrap().is_for_tls13());
        assert_eq!(find_tls_group(0), None);
    }

    #[test]
    fn signature_schemes_are_known_by_number() {
        assert_eq!(signature_scheme_name(0x0804), Some("rsa_pss_rsae_sha256"));
        assert_eq!(signature_scheme_name(0x0000), None);
    }
}
