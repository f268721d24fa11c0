//! Cipher suites of TLS and their properties, which follow from their names in the IANA registry.

use super::cipher_suite_table::CIPHER_SUITES;

/// A cipher suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CipherSuite {
    /// Number on the wire (IANA "TLS Cipher Suites").
    pub number: u16,
    /// IANA name, such as `TLS_RSA_WITH_AES_128_CBC_SHA`.
    pub name: &'static str,
    /// Name in OpenSSL; empty when OpenSSL has never had the suite.
    pub(super) openssl_name: &'static str,
}

/// How the keys of a session are agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyExchange {
    /// As the key share extension says: finite-field, elliptic or hybrid Diffie-Hellman (TLS 1.3).
    Tls13,
    /// Encrypted to the RSA key of the certificate.
    Rsa,
    /// Diffie-Hellman with the key of the certificate.
    StaticDh,
    /// Diffie-Hellman with a new key for each session.
    Dhe,
    /// Elliptic Diffie-Hellman with the key of the certificate.
    StaticEcdh,
    /// Elliptic Diffie-Hellman with a new key for each session.
    Ecdhe,
    /// A secret that both sides have, without further exchange.
    Psk,
    /// Kerberos (RFC 2712).
    Kerberos,
    /// Secure remote password (RFC 5054).
    Srp,
    /// GOST R 34.10 (RFC 9189 and its drafts).
    Gost,
    /// A password over elliptic curves (RFC 8492).
    EccPwd,
}

/// How the server proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SuiteAuthentication {
    /// Not at all: whoever is in between can take its place.
    Anonymous,
    /// By whatever key its certificate has (TLS 1.3).
    AnyCertificate,
    /// By a certificate with an RSA key.
    Rsa,
    /// By a certificate with a DSA key.
    Dsa,
    /// By a certificate with an elliptic key.
    Ecdsa,
    /// By a certificate with a GOST key.
    Gost,
    /// By a secret that both sides have: a key, a password or a ticket.
    SharedSecret,
}

/// The cipher for the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BulkCipher {
    /// None: the data is readable on the wire.
    Null,
    /// RC2.
    Rc2,
    /// RC4.
    Rc4,
    /// DES.
    Des,
    /// DES three times, with blocks of 64 bits.
    TripleDes,
    /// IDEA.
    Idea,
    /// SEED.
    Seed,
    /// AES.
    Aes,
    /// Camellia.
    Camellia,
    /// ARIA.
    Aria,
    /// `ChaCha20`.
    ChaCha20,
    /// SM4.
    Sm4,
    /// GOST 28147-89, Magma and Kuznyechik.
    Gost,
}

/// How the cipher is applied to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CipherMode {
    /// As a stream, or not at all, with a MAC.
    Stream,
    /// Cipher block chaining, with a MAC before padding.
    Cbc,
    /// Encryption and authentication in one: GCM, CCM or Poly1305.
    Aead,
}

impl CipherSuite {
    /// Returns the name in OpenSSL; `None` when OpenSSL has never had the suite.
    #[must_use]
    pub const fn openssl_name(&self) -> Option<&'static str> {
        if self.openssl_name.is_empty() { None } else { Some(self.openssl_name) }
    }

    /// Whether it belongs to TLS 1.3, where the suite does not say how keys are exchanged.
    #[must_use]
    pub fn is_tls13(&self) -> bool {
        self.exchange_and_cipher().is_none()
    }

    /// Whether it needs TLS 1.2 at least: those with an AEAD, or with a MAC newer than SHA-1 (RFC 5246 5).
    #[must_use]
    pub fn needs_tls12(&self) -> bool {
        self.mode() == CipherMode::Aead || self.name.ends_with("_SHA256") || self.name.ends_with("_SHA384")
    }

    /// Returns how keys are agreed.
    #[must_use]
    pub fn key_exchange(&self) -> KeyExchange {
        let Some((exchange, _)) = self.exchange_and_cipher() else { return KeyExchange::Tls13 };
        match exchange.split('_').next().unwrap_or_default() {
            "DHE" => KeyExchange::Dhe,
            "DH" if exchange.starts_with("DH_anon") => KeyExchange::Dhe,
            "DH" => KeyExchange::StaticDh,
            "ECDHE" => KeyExchange::Ecdhe,
            "ECDH" if exchange.starts_with("ECDH_anon") => KeyExchange::Ecdhe,
            "ECDH" => KeyExchange::StaticEcdh,
            "PSK" if exchange.starts_with("PSK_DHE") => KeyExchange::Dhe,
            "PSK" => KeyExchange::Psk,
            "KRB5" => KeyExchange::Kerberos,
            "SRP" => KeyExchange::Srp,
            "ECCPWD" => KeyExchange::EccPwd,
            gost if gost.starts_with("GOST") => KeyExchange::Gost,
            _ => KeyExchange::Rsa,
        }
    }

    /// Returns how the server proves who it is.
    #[must_use]
    pub fn authentication(&self) -> SuiteAuthentication {
        let Some((exchange, _)) = self.exchange_and_cipher() else {
            return SuiteAuthentication::AnyCertificate;
        };
        let has_part = |part: &str| exchange.split('_').any(|other| other == part);
        if has_part("anon") {
            SuiteAuthentication::Anonymous
        } else if has_part("PSK") || has_part("KRB5") || has_part("ECCPWD") || exchange == "SRP_SHA" {
            SuiteAuthentication::SharedSecret
        } else if has_part("ECDSA") {
            SuiteAuthentication::Ecdsa
        } else if has_part("DSS") {
            SuiteAuthentication::Dsa
        } else if exchange.starts_with("GOST") {
            SuiteAuthentication::Gost
        } else {
            SuiteAuthentication::Rsa
        }
    }

    /// Returns the cipher for the data.
    #[must_use]
    pub fn cipher(&self) -> BulkCipher {
        let cipher = self.cipher_part();
        match cipher.split('_').next().unwrap_or_default() {
            "RC2" => BulkCipher::Rc2,
            "RC4" => BulkCipher::Rc4,
            "DES" | "DES40" => BulkCipher::Des,
            "3DES" => BulkCipher::TripleDes,
            "IDEA" => BulkCipher::Idea,
            "SEED" => BulkCipher::Seed,
            "AES" => BulkCipher::Aes,
            "CAMELLIA" => BulkCipher::Camellia,
            "ARIA" => BulkCipher::Aria,
            "CHACHA20" => BulkCipher::ChaCha20,
            "SM4" => BulkCipher::Sm4,
            "28147" | "MAGMA" | "KUZNYECHIK" => BulkCipher::Gost,
            _ => BulkCipher::Null,
        }
    }

    /// Returns the bits of strength of its key: 112 for DES three times, 0 without a cipher.
    #[must_use]
    pub fn key_bits(&self) -> u16 {
        let cipher = self.cipher_part();
        match self.cipher() {
            BulkCipher::Null => 0,
            BulkCipher::TripleDes => 112,
            BulkCipher::ChaCha20 | BulkCipher::Gost => 256,
            BulkCipher::Idea | BulkCipher::Seed | BulkCipher::Sm4 => 128,
            BulkCipher::Des if cipher.contains("40") => 40,
            BulkCipher::Des => 56,
            _ => cipher.split('_').find_map(|part| part.parse().ok()).unwrap_or(128),
        }
    }

    /// Returns how the cipher is applied to a record.
    #[must_use]
    pub fn mode(&self) -> CipherMode {
        let cipher = self.cipher_part();
        let has_part = |part: &str| cipher.split('_').any(|other| other == part);
        if has_part("CBC") {
            CipherMode::Cbc
        } else if has_part("GCM") || has_part("CCM") || has_part("POLY1305") {
            CipherMode::Aead
        } else {
            CipherMode::Stream
        }
    }

    /// Whether it was weakened for the export rules of the 1990s.
    #[must_use]
    pub fn is_export(&self) -> bool {
        self.name.contains("_EXPORT")
    }

    /// Whether it encrypts nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.cipher() == BulkCipher::Null
    }

    /// Whether the server does not prove who it is.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.authentication() == SuiteAuthentication::Anonymous
    }

    /// Whether recorded sessions stay secret when the key of the server is stolen later.
    #[must_use]
    pub fn has_forward_secrecy(&self) -> bool {
        matches!(
            self.key_exchange(),
            KeyExchange::Tls13
                | KeyExchange::Dhe
                | KeyExchange::Ecdhe
                | KeyExchange::Srp
                | KeyExchange::EccPwd
        )
    }

    /// Splits the name at `_WITH_` into key exchange and cipher; `None` for the suites of TLS 1.3, which have no such
    /// part.
    fn exchange_and_cipher(&self) -> Option<(&'static str, &'static str)> {
        let name = self.name.split_once('_').map_or(self.name, |(_, rest)| rest);
        name.split_once("_WITH_")
    }

    fn cipher_part(&self) -> &'static str {
        let name = self.name.split_once('_').map_or(self.name, |(_, rest)| rest);
        self.exchange_and_cipher().map_or(name, |(_, cipher)| cipher)
    }
}

/// Returns all known cipher suites, by number.
#[must_use]
pub const fn cipher_suites() -> &'static [CipherSuite] {
    CIPHER_SUITES
}

/// Returns the cipher suite with this number; `None` when it is unknown.
#[must_use]
pub fn find_suite(number: u16) -> Option<&'static CipherSuite> {
    let index = CIPHER_SUITES.binary_search_by_key(&number, |suite| suite.number).ok()?;
    CIPHER_SUITES.get(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(name: &str) -> &'static CipherSuite {
        let suite = CIPHER_SUITES.iter().find(|suite| suite.name == name).expect(name);
        assert_eq!(find_suite(suite.number), Some(suite));
        suite
    }

    #[test]
    fn the_table_is_sorted_and_has_each_name_once() {
        assert!(CIPHER_SUITES.is_sorted_by(|before, after| before.number < after.number));
        let mut names: Vec<_> = CIPHER_SUITES.iter().map(|suite| suite.name).collect();
        let openssl = CIPHER_SUITES.iter().filter_map(CipherSuite::openssl_name);
        names.extend(openssl.filter(|name| !name.starts_with("TLS_")));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), find_suite(0x0000), find_suite(0x00ff)), (count, None, None));
    }

    #[test]
    fn properties_follow_from_the_name() {
        use {
            BulkCipher as Cipher, CipherMode as Mode, KeyExchange as Exchange, SuiteAuthentication as Auth,
        };
        let cases = [
            ("TLS_AES_128_GCM_SHA256", Exchange::Tls13, Auth::AnyCertificate, Cipher::Aes, 128, Mode::Aead),
            ("TLS_AES_128_CCM_8_SHA256", Exchange::Tls13, Auth::AnyCertificate, Cipher::Aes, 128, Mode::Aead),
            ("TLS_SHA256_SHA256", Exchange::Tls13, Auth::AnyCertificate, Cipher::Null, 0, Mode::Stream),
            ("TLS_SM4_CCM_SM3", Exchange::Tls13, Auth::AnyCertificate, Cipher::Sm4, 128, Mode::Aead),
            ("TLS_RSA_WITH_RC4_128_MD5", Exchange::Rsa, Auth::Rsa, Cipher::Rc4, 128, Mode::Stream),
            ("TLS_RSA_EXPORT_WITH_DES40_CBC_SHA", Exchange::Rsa, Auth::Rsa, Cipher::Des, 40, Mode::Cbc),
            ("TLS_RSA_EXPORT1024_WITH_RC2_CBC_56_MD5", Exchange::Rsa, Auth::Rsa, Cipher::Rc2, 56, Mode::Cbc),
            (
                "SSL_RSA_FIPS_WITH_3DES_EDE_CBC_SHA",
                Exchange::Rsa,
                Auth::Rsa,
                Cipher::TripleDes,
                112,
                Mode::Cbc,
            ),
            ("TLS_DH_DSS_WITH_SEED_CBC_SHA", Exchange::StaticDh, Auth::Dsa, Cipher::Seed, 128, Mode::Cbc),
            ("TLS_DHE_RSA_WITH_DES_CBC_SHA", Exchange::Dhe, Auth::Rsa, Cipher::Des, 56, Mode::Cbc),
            ("TLS_DH_anon_WITH_AES_256_CBC_SHA", Exchange::Dhe, Auth::Anonymous, Cipher::Aes, 256, Mode::Cbc),
            ("TLS_ECDH_anon_WITH_NULL_SHA", Exchange::Ecdhe, Auth::Anonymous, Cipher::Null, 0, Mode::Stream),
            (
                "TLS_ECDH_RSA_WITH_ARIA_256_GCM_SHA384",
                Exchange::StaticEcdh,
                Auth::Rsa,
                Cipher::Aria,
                256,
                Mode::Aead,
            ),
            (
                "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
                Exchange::Ecdhe,
                Auth::Ecdsa,
                Cipher::Aes,
                128,
                Mode::Aead,
            ),
            (
                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
                Exchange::Ecdhe,
                Auth::Rsa,
                Cipher::ChaCha20,
                256,
                Mode::Aead,
            ),
            ("TLS_PSK_WITH_NULL_SHA256", Exchange::Psk, Auth::SharedSecret, Cipher::Null, 0, Mode::Stream),
            (
                "TLS_PSK_DHE_WITH_AES_256_CCM_8",
                Exchange::Dhe,
                Auth::SharedSecret,
                Cipher::Aes,
                256,
                Mode::Aead,
            ),
            (
                "TLS_KRB5_WITH_IDEA_CBC_MD5",
                Exchange::Kerberos,
                Auth::SharedSecret,
                Cipher::Idea,
                128,
                Mode::Cbc,
            ),
            ("TLS_SRP_SHA_DSS_WITH_AES_128_CBC_SHA", Exchange::Srp, Auth::Dsa, Cipher::Aes, 128, Mode::Cbc),
            (
                "TLS_GOSTR341001_WITH_28147_CNT_IMIT",
                Exchange::Gost,
                Auth::Gost,
                Cipher::Gost,
                256,
                Mode::Stream,
            ),
        ];
        for (name, exchange, authentication, cipher, bits, mode) in cases {
            let suite = suite(name);
            assert_eq!(
                (
                    suite.key_exchange(),
                    suite.authentication(),
                    suite.cipher(),
                    suite.key_bits(),
                    suite.mode()
                ),
                (exchange, authentication, cipher, bits, mode),
                "{name}"
            );
        }
    }

    #[test]
    fn export_forward_secrecy_and_versions_are_read_off() {
        assert!(suite("TLS_DH_anon_EXPORT_WITH_RC4_40_MD5").is_export());
        assert!(suite("TLS_AES_128_CCM_SHA256").has_forward_secrecy());
        assert!(!suite("TLS_RSA_PSK_WITH_AES_128_CBC_SHA").has_forward_secrecy());
        assert!(suite("TLS_RSA_WITH_AES_128_CBC_SHA256").needs_tls12());
        assert!(suite("TLS_RSA_WITH_AES_128_CCM").needs_tls12());
        assert!(!suite("TLS_RSA_WITH_AES_128_CBC_SHA").needs_tls12());
        assert_eq!(CIPHER_SUITES.iter().filter(|suite| suite.is_tls13()).count(), 9);
    }

    #[test]
    fn openssl_names_are_known_where_openssl_has_the_suite() {
        assert_eq!(suite("TLS_RSA_WITH_3DES_EDE_CBC_SHA").openssl_name(), Some("DES-CBC3-SHA"));
        assert_eq!(suite("TLS_ECCPWD_WITH_AES_128_GCM_SHA256").openssl_name(), None);
    }
}
