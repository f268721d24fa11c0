//! Where our scan and testssl.sh 3.0.8 differ, each with its reason.

/// In the place of a set-up: all of those where testssl.sh has no answer.
pub const NOT_ASKED: &str = "not asked";

/// Why the site of a set-up is not scanned.
const UNREAD: &str = "the site is read with suites and curves of today, of which the server has none";

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
    (
        "nginx-headers",
        "cookies",
        "testssl.sh 3.0.8 gives the number of secure cookies as that of cookies with HttpOnly",
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
    ("openssl-one-suite", "headers", UNREAD),
    ("openssl-one-suite", "cookies", UNREAD),
    ("openssl-dh-3072", "headers", UNREAD),
    ("openssl-dh-3072", "cookies", UNREAD),
    ("openssl-p521-only", "headers", UNREAD),
    ("openssl-p521-only", "cookies", UNREAD),
    ("rustls", "curves", "testssl.sh 3.0.8 is older than the groups with ML-KEM"),
    ("rustls-tls13", "curves", "testssl.sh 3.0.8 is older than the groups with ML-KEM"),
];
