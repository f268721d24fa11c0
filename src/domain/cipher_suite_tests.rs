//! Tests of the cipher suites and their properties.

use super::cipher_suite::{BulkCipher, CipherMode, CipherSuite, KeyExchange, SuiteAuthentication};
use super::cipher_suite_table::{cipher_suites, find_suite};

fn suite(name: &str) -> &'static CipherSuite {
    let suite = cipher_suites().iter().find(|suite| suite.name == name).expect(name);
    assert_eq!(find_suite(suite.number), Some(suite));
    suite
}

#[test]
fn the_table_is_sorted_and_has_each_name_once() {
    assert!(cipher_suites().is_sorted_by(|before, after| before.number < after.number));
    let mut names: Vec<_> = cipher_suites().iter().map(|suite| suite.name).collect();
    let openssl = cipher_suites().iter().filter_map(CipherSuite::openssl_name);
    names.extend(openssl.filter(|name| !name.starts_with("TLS_")));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), find_suite(0x0000), find_suite(0x00ff)), (count, None, None));
}

#[test]
fn properties_follow_from_the_name() {
    use {BulkCipher as Cipher, CipherMode as Mode, KeyExchange as Exchange, SuiteAuthentication as Auth};
    let cases = [
        ("TLS_AES_128_GCM_SHA256", Exchange::Tls13, Auth::AnyCertificate, Cipher::Aes, 128, Mode::Aead),
        ("TLS_AES_128_CCM_8_SHA256", Exchange::Tls13, Auth::AnyCertificate, Cipher::Aes, 128, Mode::Aead),
        ("TLS_SHA256_SHA256", Exchange::Tls13, Auth::AnyCertificate, Cipher::Null, 0, Mode::Stream),
        ("TLS_SM4_CCM_SM3", Exchange::Tls13, Auth::AnyCertificate, Cipher::Sm4, 128, Mode::Aead),
        ("TLS_RSA_WITH_RC4_128_MD5", Exchange::Rsa, Auth::Rsa, Cipher::Rc4, 128, Mode::Stream),
        ("TLS_RSA_EXPORT_WITH_DES40_CBC_SHA", Exchange::Rsa, Auth::Rsa, Cipher::Des, 40, Mode::Cbc),
        ("TLS_RSA_EXPORT1024_WITH_RC2_CBC_56_MD5", Exchange::Rsa, Auth::Rsa, Cipher::Rc2, 56, Mode::Cbc),
        ("SSL_RSA_FIPS_WITH_3DES_EDE_CBC_SHA", Exchange::Rsa, Auth::Rsa, Cipher::TripleDes, 112, Mode::Cbc),
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
        ("TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", Exchange::Ecdhe, Auth::Ecdsa, Cipher::Aes, 128, Mode::Aead),
        (
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
            Exchange::Ecdhe,
            Auth::Rsa,
            Cipher::ChaCha20,
            256,
            Mode::Aead,
        ),
        ("TLS_PSK_WITH_NULL_SHA256", Exchange::Psk, Auth::SharedSecret, Cipher::Null, 0, Mode::Stream),
        ("TLS_PSK_DHE_WITH_AES_256_CCM_8", Exchange::Dhe, Auth::SharedSecret, Cipher::Aes, 256, Mode::Aead),
        ("TLS_KRB5_WITH_IDEA_CBC_MD5", Exchange::Kerberos, Auth::SharedSecret, Cipher::Idea, 128, Mode::Cbc),
        ("TLS_SRP_SHA_DSS_WITH_AES_128_CBC_SHA", Exchange::Srp, Auth::Dsa, Cipher::Aes, 128, Mode::Cbc),
        ("TLS_GOSTR341001_WITH_28147_CNT_IMIT", Exchange::Gost, Auth::Gost, Cipher::Gost, 256, Mode::Stream),
    ];
    for (name, exchange, authentication, cipher, bits, mode) in cases {
        let suite = suite(name);
        assert_eq!(
            (suite.key_exchange(), suite.authentication(), suite.cipher(), suite.key_bits(), suite.mode()),
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
    assert_eq!(cipher_suites().iter().filter(|suite| suite.is_tls13()).count(), 9);
}

#[test]
fn openssl_names_are_known_where_openssl_has_the_suite() {
    assert_eq!(suite("TLS_RSA_WITH_3DES_EDE_CBC_SHA").openssl_name(), Some("DES-CBC3-SHA"));
    assert_eq!(suite("TLS_ECCPWD_WITH_AES_128_GCM_SHA256").openssl_name(), None);
}
