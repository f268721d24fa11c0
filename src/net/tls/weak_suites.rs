//! Cipher suites of TLS 1.2 that are not offered by default: rustls has none of them.

/// Returns what is weak about the cipher suite of this IANA name.
pub(super) fn describe_weak_suite(name: &str) -> String {
    let mut reasons = Vec::new();
    if name.starts_with("TLS_RSA_") {
        reasons.push("RSA key exchange, without forward secrecy");
    }
    if name.starts_with("TLS_DHE_") {
        reasons.push("DHE key exchange, which browsers do not speak any more");
    }
    if name.contains("_CBC_") {
        reasons.push("CBC, which attacks on its padding have broken before");
    }
    if name.contains("_RC4_") || name.contains("_3DES_") || name.contains("_DES_") {
        reasons.push("a cipher that can be broken");
    }
    if reasons.is_empty() {
        reasons.push("not among those in common use");
    }
    format!("`{name}` ({}); allow ECDHE with AES-GCM or ChaCha20 at the target", reasons.join("; "))
}
