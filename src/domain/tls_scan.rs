//! What a scan of a TLS server saw: what it offers, whatever it would choose.

/// A version of the protocol that a scan asks for, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScannedTlsVersion {
    /// SSL 3.0 (RFC 6101).
    Ssl3,
    /// TLS 1.0 (RFC 2246).
    Tls10,
    /// TLS 1.1 (RFC 4346).
    Tls11,
    /// TLS 1.2 (RFC 5246).
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
}

impl ScannedTlsVersion {
    /// Every version, the oldest first.
    pub const ALL: [Self; 5] = [Self::Ssl3, Self::Tls10, Self::Tls11, Self::Tls12, Self::Tls13];

    /// Returns the usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ssl3 => "SSL 3.0",
            Self::Tls10 => "TLS 1.0",
            Self::Tls11 => "TLS 1.1",
            Self::Tls12 => "TLS 1.2",
            Self::Tls13 => "TLS 1.3",
        }
    }

    /// Returns its number on the wire.
    #[must_use]
    pub const fn wire_version(self) -> u16 {
        match self {
            Self::Ssl3 => 0x0300,
            Self::Tls10 => 0x0301,
            Self::Tls11 => 0x0302,
            Self::Tls12 => 0x0303,
            Self::Tls13 => 0x0304,
        }
    }
}

/// A version that the server accepts, with everything that it accepts in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTlsVersion {
    /// The version.
    pub version: ScannedTlsVersion,
    /// Numbers of the cipher suites (IANA "TLS Cipher Suites"), in the order in which the server chose them.
    pub cipher_suites: Vec<u16>,
    /// Whether the server chooses by its own order rather than that of the client; `None` with one suite, or when it
    /// was not found out.
    pub has_server_order: Option<bool>,
}

/// What a scan of a TLS server saw. Nothing in it is judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsScan {
    /// The accepted versions, the oldest first. Empty when the port does not speak TLS.
    pub versions: Vec<OfferedTlsVersion>,
    /// Numbers of the groups for the key exchange (IANA "TLS Supported Groups"), such as 29 for X25519 and 4588 for
    /// X25519MLKEM768.
    pub groups: Vec<u16>,
    /// Bits of the prime of finite-field Diffie-Hellman up to TLS 1.2; `None` when no such suite is offered.
    pub dh_prime_bits: Option<u32>,
    /// The certificates in DER as sent, that of the server first.
    pub certificate_chain: Vec<Vec<u8>>,
    /// The certificates with keys of another kind, such as RSA next to ECDSA, each as a chain in DER, that of the server
    /// first. Empty when the server has one certificate only.
    pub other_certificate_chains: Vec<Vec<Vec<u8>>>,
    /// The certificates when no name was sent, if they are others.
    pub default_certificate_chain: Vec<Vec<u8>>,
    /// The stapled OCSP response in DER.
    pub ocsp_response: Option<Vec<u8>>,
    /// Number of the signature scheme with which the server signed in TLS 1.2 or the one it chose before.
    pub signature_scheme: Option<u16>,
    /// Whether it supports secure renegotiation (RFC 5746); `None` when it offers TLS 1.3 only.
    pub has_secure_renegotiation: Option<bool>,
    /// Whether it compresses records (CRIME).
    pub has_compression: bool,
    /// Whether it refuses a downgrade marked by `TLS_FALLBACK_SCSV` (RFC 7507); `None` when it offers one version only.
    pub refuses_fallback: Option<bool>,
    /// Whether it uses the extended master secret (RFC 7627); `None` when it offers TLS 1.3 only.
    pub has_extended_master_secret: Option<bool>,
    /// The protocol that ALPN chose among `h2` and `http/1.1`.
    pub alpn_protocol: Option<String>,
    /// Questions that stayed open, each with its reason, such as connections that were reset or timed out.
    pub open_questions: Vec<String>,
}
