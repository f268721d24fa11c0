//! The table of findings of a security scan, which code, manual and tests share.

use crate::domain::Severity;

/// A part of a scan; a finding is gone only when a later scan completed the part that could find it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanArea {
    /// TLS and certificates.
    Tls,
    /// What the site serves.
    Web,
    /// Open ports.
    Ports,
    /// DNS records.
    Dns,
}

impl ScanArea {
    /// Every area.
    pub const ALL: [Self; 4] = [Self::Tls, Self::Web, Self::Ports, Self::Dns];

    /// Returns the stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Web => "web",
            Self::Ports => "ports",
            Self::Dns => "dns",
        }
    }
}

/// One kind of finding.
#[derive(Debug)]
pub struct FindingDefinition {
    /// Stable id.
    pub id: &'static str,
    /// The part of the scan that finds it.
    pub area: ScanArea,
    /// Its least severity.
    pub severity: Severity,
    /// Its highest severity; equal to `severity` unless what was seen decides.
    pub highest_severity: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// URL of the standard or guide behind it.
    pub reference: &'static str,
}

/// Returns the definition with this id.
#[must_use]
pub fn find_definition(id: &str) -> Option<&'static FindingDefinition> {
    FINDINGS.iter().copied().find(|definition| definition.id == id)
}

macro_rules! findings {
    ($($name:ident = $area:ident $id:literal, $least:ident to $highest:ident, $title:literal, $remedy:literal, $reference:literal;)+) => {
        $(
            #[doc = concat!("The finding `", $id, "`.")]
            pub static $name: FindingDefinition = FindingDefinition {
                id: $id,
                area: ScanArea::$area,
                severity: Severity::$least,
                highest_severity: Severity::$highest,
                title: $title,
                remedy: $remedy,
                reference: $reference,
            };
        )+

        /// Every kind of finding, in the order of the manual.
        pub static FINDINGS: &[&FindingDefinition] = &[$(&$name),+];
    };
}

findings! {
    // TLS.
    TLS_SSL3 = Tls "tls-ssl3-offered", High to High, "SSL 3.0 is offered",
        "Turn SSL 3.0 off; TLS 1.2 and 1.3 are enough.", "https://www.rfc-editor.org/rfc/rfc7568";
    TLS_1_0 = Tls "tls-1.0-offered", Medium to Medium, "TLS 1.0 is offered",
        "Turn TLS 1.0 off; TLS 1.2 and 1.3 are enough.", "https://www.rfc-editor.org/rfc/rfc8996";
    TLS_1_1 = Tls "tls-1.1-offered", Medium to Medium, "TLS 1.1 is offered",
        "Turn TLS 1.1 off; TLS 1.2 and 1.3 are enough.", "https://www.rfc-editor.org/rfc/rfc8996";
    TLS_1_3_MISSING = Tls "tls-1.3-missing", Low to Low, "TLS 1.3 is not offered",
        "Turn TLS 1.3 on.", "https://www.rfc-editor.org/rfc/rfc9325#section-3.1.1";
    TLS_SUITE_NULL = Tls "tls-suite-null", Critical to Critical, "Cipher suites without encryption are accepted",
        "Remove the NULL suites.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.1";
    TLS_SUITE_ANONYMOUS = Tls "tls-suite-anonymous", Critical to Critical, "Cipher suites without authentication are accepted",
        "Remove the anonymous suites.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.1";
    TLS_SUITE_EXPORT = Tls "tls-suite-export", Critical to Critical, "Export cipher suites are accepted",
        "Remove the EXPORT suites.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.1";
    TLS_SUITE_RC4 = Tls "tls-suite-rc4", High to High, "RC4 is accepted",
        "Remove the RC4 suites.", "https://www.rfc-editor.org/rfc/rfc7465";
    TLS_SUITE_DES = Tls "tls-suite-des", Medium to High, "DES or 3DES is accepted",
        "Remove the suites with DES and 3DES, whose blocks have 64 bits only.", "https://sweet32.info/";
    TLS_SUITE_NO_FORWARD_SECRECY = Tls "tls-suite-no-forward-secrecy", Low to Low, "Cipher suites without forward secrecy are accepted",
        "Offer only suites with ECDHE or DHE, and TLS 1.3.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.1";
    TLS_SUITE_NO_AEAD = Tls "tls-suite-no-aead", Info to Info, "Cipher suites without authenticated encryption are accepted",
        "Offer only suites with GCM, CCM or ChaCha20-Poly1305.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.2";
    TLS_CLIENT_ORDER = Tls "tls-client-order", Info to Info, "The client chooses among weak and strong cipher suites",
        "Let the server choose, or remove the weak suites.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.2.1";
    TLS_DH_SHORT = Tls "tls-dh-short", Medium to High, "The Diffie-Hellman prime is short",
        "Use a prime of at least 2048 bits (ffdhe2048), or ECDHE alone.", "https://weakdh.org/";
    TLS_GROUP_WEAK = Tls "tls-group-weak", Medium to Medium, "A weak elliptic curve is accepted",
        "Offer X25519, secp256r1 and secp384r1 only.", "https://www.rfc-editor.org/rfc/rfc8422#section-5.1.1";
    TLS_POST_QUANTUM_MISSING = Tls "tls-post-quantum-missing", Info to Info, "No post-quantum key exchange is offered",
        "Offer X25519MLKEM768, so that recorded traffic stays secret.", "https://datatracker.ietf.org/doc/draft-ietf-tls-ecdhe-mlkem/";
    TLS_RENEGOTIATION = Tls "tls-renegotiation-insecure", Medium to Medium, "Secure renegotiation is not supported",
        "Update the TLS library, or turn renegotiation off.", "https://www.rfc-editor.org/rfc/rfc5746";
    TLS_COMPRESSION = Tls "tls-compression", High to High, "TLS compression is on",
        "Turn TLS compression off.", "https://www.rfc-editor.org/rfc/rfc9325#section-3.3";
    TLS_FALLBACK = Tls "tls-fallback-accepted", Low to Low, "A marked downgrade is not refused",
        "Update the TLS library to one that knows TLS_FALLBACK_SCSV, or offer TLS 1.2 and 1.3 only.", "https://www.rfc-editor.org/rfc/rfc7507";
    TLS_EXTENDED_MASTER_SECRET = Tls "tls-extended-master-secret-missing", Low to Low, "The extended master secret is not used",
        "Update the TLS library.", "https://www.rfc-editor.org/rfc/rfc7627";
    TLS_NOT_SPOKEN = Tls "tls-not-spoken", High to High, "The port of an https site does not speak TLS",
        "Let the server speak TLS there, or correct the URL.", "https://www.rfc-editor.org/rfc/rfc9110#section-4.2.2";
    // Certificates.
    CERTIFICATE_EXPIRED = Tls "certificate-expired", High to High, "The certificate has expired",
        "Renew the certificate.", "https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5";
    CERTIFICATE_EXPIRING = Tls "certificate-expiring", Low to Medium, "The certificate expires soon",
        "Renew the certificate, best automatically.", "https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5";
    CERTIFICATE_NOT_YET_VALID = Tls "certificate-not-yet-valid", High to High, "The certificate is not valid yet",
        "Check the clock of the issuer, or install the certificate later.", "https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5";
    CERTIFICATE_NAME = Tls "certificate-name-mismatch", High to High, "The certificate is for another name",
        "Get a certificate for this name.", "https://www.rfc-editor.org/rfc/rfc9525";
    CERTIFICATE_UNTRUSTED = Tls "certificate-untrusted", High to High, "The certificate has no trusted issuer",
        "Send the whole chain, of a public authority or of one that this location trusts.", "https://www.rfc-editor.org/rfc/rfc5280#section-6";
    CERTIFICATE_UNUSABLE = Tls "certificate-unusable", High to High, "The certificate cannot be verified",
        "Replace the certificate.", "https://www.rfc-editor.org/rfc/rfc5280";
    CERTIFICATE_KEY_WEAK = Tls "certificate-key-weak", High to High, "The key of a certificate is short",
        "Use RSA with at least 2048 bits, or an elliptic curve of 256 bits.", "https://www.rfc-editor.org/rfc/rfc9325#section-4.5";
    CERTIFICATE_SIGNATURE_WEAK = Tls "certificate-signature-weak", High to High, "A certificate is signed with a broken hash",
        "Replace the certificate by one with SHA-256 or better.", "https://www.rfc-editor.org/rfc/rfc9155";
    CERTIFICATE_LIFETIME = Tls "certificate-lifetime-long", Low to Low, "The certificate is valid for more than 398 days",
        "Use certificates with a short life that renew themselves.", "https://cabforum.org/working-groups/server/baseline-requirements/";
    CERTIFICATE_ROOT_SENT = Tls "certificate-root-sent", Info to Info, "The chain contains the root",
        "Leave the root out; clients have their own.", "https://www.rfc-editor.org/rfc/rfc8446#section-4.4.2";
    TLS_SIGNATURE_WEAK = Tls "tls-signature-weak", Medium to Medium, "The handshake is signed with SHA-1 or MD5",
        "Turn signatures with SHA-1 and MD5 off.", "https://www.rfc-editor.org/rfc/rfc9155";
    OCSP_NOT_STAPLED = Tls "ocsp-not-stapled", Info to Info, "No OCSP response is stapled",
        "Turn OCSP stapling on, or use a certificate without an OCSP URL.", "https://www.rfc-editor.org/rfc/rfc6066#section-8";
    OCSP_MUST_STAPLE = Tls "ocsp-must-staple-missing", Medium to Medium, "The certificate demands a stapled OCSP response, and none is sent",
        "Turn OCSP stapling on: browsers refuse the certificate without.", "https://www.rfc-editor.org/rfc/rfc7633";
    OCSP_UNUSABLE = Tls "ocsp-response-unusable", Low to Low, "The stapled OCSP response is an error",
        "Check how the server fetches its OCSP response.", "https://www.rfc-editor.org/rfc/rfc6960#section-4.2.1";
    // Web.
    HTTPS_MISSING = Web "https-missing", Medium to Medium, "The site is served without TLS",
        "Serve the site over https, and redirect http to it.", "https://www.rfc-editor.org/rfc/rfc9110#section-4.2.2";
    HTTP_NOT_REDIRECTED = Web "http-not-redirected", Medium to Medium, "http is not redirected to https",
        "Redirect every http request to the same URL with https.", "https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Strict_Transport_Security_Cheat_Sheet.html";
    HTTPS_DOWNGRADED = Web "https-downgraded", Medium to Medium, "https is redirected to http",
        "Correct the redirect.", "https://www.rfc-editor.org/rfc/rfc6797#section-7.2";
    HSTS_MISSING = Web "hsts-missing", Medium to Medium, "Strict-Transport-Security is missing",
        "Send `Strict-Transport-Security: max-age=31536000; includeSubDomains`.", "https://www.rfc-editor.org/rfc/rfc6797";
    HSTS_WEAK = Web "hsts-weak", Low to Medium, "Strict-Transport-Security is weak",
        "Send a `max-age` of at least 15768000 seconds (half a year).", "https://www.rfc-editor.org/rfc/rfc6797#section-6.1.1";
    CSP_MISSING = Web "csp-missing", Low to Low, "Content-Security-Policy is missing",
        "Send a policy that names the sources of scripts.", "https://www.w3.org/TR/CSP3/";
    CSP_WEAK = Web "csp-weak", Low to Low, "Content-Security-Policy allows what it should prevent",
        "Use nonces or hashes rather than `'unsafe-inline'`, `'unsafe-eval'`, `*`, `data:` and plain schemes.", "https://www.w3.org/TR/CSP3/#csp-directives";
    FRAMING = Web "framing-allowed", Low to Low, "Other sites may put the page into a frame",
        "Send `frame-ancestors` in the policy, or `X-Frame-Options: DENY`.", "https://cheatsheetseries.owasp.org/cheatsheets/Clickjacking_Defense_Cheat_Sheet.html";
    NOSNIFF = Web "content-type-sniffed", Low to Low, "X-Content-Type-Options is missing",
        "Send `X-Content-Type-Options: nosniff`.", "https://fetch.spec.whatwg.org/#x-content-type-options-header";
    REFERRER_POLICY = Web "referrer-policy-weak", Info to Low, "Referrer-Policy is missing or weak",
        "Send `Referrer-Policy: strict-origin-when-cross-origin` or a stricter one.", "https://www.w3.org/TR/referrer-policy/";
    PERMISSIONS_POLICY = Web "permissions-policy-missing", Info to Info, "Permissions-Policy is missing",
        "Turn off what the site does not use, such as `camera=(), geolocation=()`.", "https://www.w3.org/TR/permissions-policy/";
    COOKIE_SECURE = Web "cookie-not-secure", Medium to Medium, "A cookie of an https site lacks Secure",
        "Set the cookie with `Secure`.", "https://www.rfc-editor.org/rfc/rfc6265#section-5.2.5";
    COOKIE_HTTP_ONLY = Web "cookie-not-httponly", Low to Medium, "Scripts can read a cookie",
        "Set the cookie with `HttpOnly`.", "https://www.rfc-editor.org/rfc/rfc6265#section-5.2.6";
    COOKIE_SAME_SITE = Web "cookie-samesite-weak", Info to Medium, "A cookie has no SameSite, or None without Secure",
        "Set the cookie with `SameSite=Lax` or `Strict`.", "https://datatracker.ietf.org/doc/draft-ietf-httpbis-rfc6265bis/";
    COOKIE_PREFIX = Web "cookie-prefix-broken", Medium to Medium, "A cookie breaks the rule of its prefix",
        "Give `__Secure-` cookies `Secure`, and `__Host-` cookies also `Path=/` and no `Domain`.", "https://datatracker.ietf.org/doc/draft-ietf-httpbis-rfc6265bis/";
    CORS_REFLECTED = Web "cors-origin-reflected", Medium to High, "Any origin may read the responses",
        "Name the origins that may read, and never repeat an unknown `Origin`.", "https://fetch.spec.whatwg.org/#http-cors-protocol";
    CORS_ANY = Web "cors-any-origin", Info to Info, "Every origin may read responses without credentials",
        "Leave `Access-Control-Allow-Origin: *` out unless the data are public.", "https://fetch.spec.whatwg.org/#http-cors-protocol";
    VERSION_BANNER = Web "version-banner", Low to Low, "The version of a software is disclosed",
        "Turn the version off in header fields and greetings.", "https://owasp.org/www-project-secure-headers/";
    MIXED_CONTENT = Web "mixed-content", Low to Medium, "An https page loads objects over http",
        "Load every object over https.", "https://www.w3.org/TR/mixed-content/";
    DIRECTORY_LISTING = Web "directory-listing", Medium to Medium, "A directory is listed",
        "Turn listings off (`Options -Indexes`, `autoindex off`).", "https://cwe.mitre.org/data/definitions/548.html";
    EXPOSED_FILE = Web "exposed-file", Medium to Critical, "A file is served that should not be",
        "Remove the file from the root of the site or deny it, and replace secrets that it holds.", "https://cwe.mitre.org/data/definitions/538.html";
    SECURITY_TXT = Web "security-txt-missing", Info to Info, "There is no security.txt",
        "Publish `/.well-known/security.txt` with a contact.", "https://www.rfc-editor.org/rfc/rfc9116";
    // Ports.
    PORT_UNEXPECTED = Ports "port-unexpected", Low to High, "A port is open that is not expected",
        "Close the port to this network, or add it to `expected_ports`.", "https://cwe.mitre.org/data/definitions/1125.html";
    PORT_CLOSED = Ports "port-expected-closed", Medium to Medium, "An expected port is closed",
        "Start the service, or remove the port from `expected_ports`.", "https://www.rfc-editor.org/rfc/rfc9293";
    PORTS_ALL_OPEN = Ports "ports-all-open", Medium to Medium, "The host accepts connections on nearly every port",
        "Check what answers: a firewall, a honeypot or a proxy hides which ports are really open.", "https://cwe.mitre.org/data/definitions/1125.html";
    // DNS.
    CAA_MISSING = Dns "caa-missing", Low to Low, "The domain has no CAA record",
        "Name the authorities that may issue certificates in a CAA record.", "https://www.rfc-editor.org/rfc/rfc8659";
    DNSSEC_MISSING = Dns "dnssec-missing", Low to Low, "The domain is not signed by DNSSEC",
        "Sign the zone, and publish its DS record at the registrar.", "https://www.rfc-editor.org/rfc/rfc4033";
    SPF_MISSING = Dns "spf-missing", Low to Low, "The domain has no SPF record",
        "Publish one; `v=spf1 -all` for a domain that sends no mail.", "https://www.rfc-editor.org/rfc/rfc7208";
    SPF_MULTIPLE = Dns "spf-multiple", Medium to Medium, "The domain has several SPF records",
        "Join them to one: with several, receivers use none.", "https://www.rfc-editor.org/rfc/rfc7208#section-4.5";
    SPF_OPEN = Dns "spf-open", Low to High, "SPF lets every host send mail for the domain",
        "End the record with `-all` or `~all`.", "https://www.rfc-editor.org/rfc/rfc7208#section-5.1";
    SPF_LOOKUPS = Dns "spf-too-many-lookups", Medium to Medium, "SPF needs more than 10 lookups",
        "Replace `include`, `a`, `mx` and `redirect` by addresses.", "https://www.rfc-editor.org/rfc/rfc7208#section-4.6.4";
    DMARC_MISSING = Dns "dmarc-missing", Low to Low, "The domain has no DMARC record",
        "Publish one at `_dmarc`, at first with `p=none` and `rua`.", "https://www.rfc-editor.org/rfc/rfc7489";
    DMARC_NONE = Dns "dmarc-none", Low to Low, "DMARC asks receivers to do nothing",
        "Set `p=quarantine` or `p=reject` once the reports are clean.", "https://www.rfc-editor.org/rfc/rfc7489#section-6.3";
    DMARC_INVALID = Dns "dmarc-invalid", Medium to Medium, "The DMARC record cannot be used",
        "Publish one record that begins with `v=DMARC1; p=`.", "https://www.rfc-editor.org/rfc/rfc7489#section-6.6.3";
    CNAME_DANGLING = Dns "cname-dangling", High to High, "An alias leads to a name that does not exist",
        "Remove the alias: whoever registers its target takes over the name.", "https://cwe.mitre.org/data/definitions/350.html";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_every_text_is_there() {
        let mut ids: Vec<&str> = FINDINGS.iter().map(|definition| definition.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), FINDINGS.len());
        for definition in FINDINGS {
            assert!(definition.severity <= definition.highest_severity, "{}", definition.id);
            assert!(definition.reference.starts_with("https://"), "{}", definition.id);
            assert!(
                definition.remedy.ends_with('.') && !definition.title.ends_with('.'),
                "{}",
                definition.id
            );
            assert!(std::ptr::eq(find_definition(definition.id).unwrap(), *definition));
        }
    }
}
