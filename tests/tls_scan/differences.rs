//! Where our scan and testssl.sh 3.0.8 differ, each with its reason.

/// In the place of a set-up: all of those where testssl.sh has no answer.
pub const NOT_ASKED: &str = "not asked";

/// Set-up, field, reason. A difference without a row fails the test, and so does a row without a difference.
pub const DIFFERENCES: &[(&str, &str, &str)] = &[
    (NOT_ASKED, "refuses_fallback", "testssl.sh asks only servers with TLS 1.1 or older"),
    (
        NOT_ASKED,
        "secure_renegotiation",
        "testssl.sh asks by way of OpenSSL 3, which refuses such old servers",
    ),
    (NOT_ASKED, "cipher_order", "testssl.sh compares suites of a fixed list, of which the server has none"),
    (
        "nginx-old",
        "dh_prime_bits",
        "testssl.sh measures no prime that it does not know next to the groups of TLS 1.3",
    ),
    ("openssl-anonymous", "curves", "testssl.sh asks for curves with certificates only"),
    ("openssl-null", "curves", "testssl.sh asks for curves with ciphers that encrypt only"),
    (
        "openssl-null",
        "common_name_without_sni",
        "testssl.sh asks by way of OpenSSL 3, which offers no NULL cipher",
    ),
    ("openssl-one-suite", "cipher_order", "with one suite there is no order"),
    (
        "openssl-ecdsa-tls12",
        "curves",
        "testssl.sh offers one curve at a time, so that the one of the certificate is missing",
    ),
    ("openssl-ed25519", "certificates", "testssl.sh does not know the size of Ed25519 keys"),
    (
        "openssl-tls13-ccm",
        "open_questions",
        "the certificate is encrypted with a suite that this build lacks",
    ),
    ("rustls", "curves", "testssl.sh 3.0.8 is older than the groups with ML-KEM"),
    ("rustls-tls13", "curves", "testssl.sh 3.0.8 is older than the groups with ML-KEM"),
];
