//! Runs testssl.sh, keeps what of its answer does not change, and reduces that to a record.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use super::certificates::NAME;
use super::record::{CertificateRecord, CookieRecord, HeaderRecord, Hsts, Record};

/// Asks for protocols, suites of each protocol, forward secrecy, order, defaults with certificates, compression,
/// downgrade, renegotiation, primes and headers; never asks anybody else than the server.
const ARGUMENTS: &str = "--quiet --color 0 --warnings off --connect-timeout 10 --openssl-timeout 10 -n none \
                         --ip 127.0.0.1 -p -E -f -P -S -C -Z -R -J -h";

/// The ids of findings that are kept; the others are not compared, or change with time.
const KEPT: [&str; 15] = [
    "SSLv3",
    "TLS1",
    "TLS1_1",
    "TLS1_2",
    "TLS1_3",
    "ALPN",
    "PFS_ECDHE_curves",
    "cipher_order",
    "TLS_extensions",
    "secure_renego",
    "CRIME_TLS",
    "fallback_SCSV",
    "LOGJAM-common_primes",
    "DH_groups",
    "OCSP_stapling",
];
const KEPT_OF_CERTIFICATES: [&str; 8] = [
    "cert_commonName",
    "cert_commonName_wo_SNI",
    "cert_keySize",
    "cert_signatureAlgorithm",
    "cert_expirationStatus",
    "cert_chain_of_trust",
    "certs_countServer",
    "certs_list_ordering_problem",
];

/// Findings by their ids.
pub type Findings = BTreeMap<String, String>;

/// Returns what testssl.sh finds at `port`.
pub async fn run(port: u16) -> Findings {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.json");
    let mut command = tokio::process::Command::new("testssl");
    command.args(ARGUMENTS.split_whitespace()).arg("--jsonfile").arg(&file).arg(format!("{NAME}:{port}"));
    command.stdin(Stdio::null()).current_dir(folder.path()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)));
    let Value::Array(findings) = serde_json::from_str(&text).unwrap() else { panic!("not a list: {text}") };
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = findings.iter().map(|finding| (text(finding, "id"), text(finding, "finding")));
    findings.filter_map(keep).collect()
}

/// Returns the finding if it is kept, without what changes from run to run.
fn keep((id, finding): (String, String)) -> Option<(String, String)> {
    // Servers with several certificates have a number after each id.
    let plain_id = id.split(' ').next().unwrap_or_default();
    let is_kept = KEPT.contains(&plain_id)
        || KEPT_OF_CERTIFICATES.contains(&plain_id)
        || id.starts_with("cipher-")
        || is_header(&id);
    let finding = match plain_id {
        // With the days that are left.
        "cert_expirationStatus" if !finding.starts_with("expired") => "not expired".to_owned(),
        // The size before it is read from elsewhere in the certificate, and differs from key to key.
        "cert_keySize" => match finding.find("unknown public key algorithm") {
            Some(start) => finding[start..].to_owned(),
            None => finding,
        },
        _ => finding,
    };
    is_kept.then_some((id, finding))
}

fn path(setup: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/testssl").join(format!("{setup}.json"))
}

/// Returns the recorded findings about `setup`.
pub fn load(setup: &str) -> Findings {
    let path = path(setup);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; record it with VIGIE_RECORD_TESTSSL=1", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Records `findings` about `setup`.
pub fn store(setup: &str, findings: &Findings) {
    let text = serde_json::to_string_pretty(findings).unwrap() + "\n";
    std::fs::write(path(setup), text).unwrap();
}

/// Reduces findings to what is compared.
pub fn reduce(findings: &Findings) -> Record {
    let find = |id: &str| findings.get(id).map(String::as_str);
    let mut record = Record::default();
    for (id, name) in [
        ("SSLv3", "SSL 3.0"),
        ("TLS1", "TLS 1.0"),
        ("TLS1_1", "TLS 1.1"),
        ("TLS1_2", "TLS 1.2"),
        ("TLS1_3", "TLS 1.3"),
    ] {
        if find(id).is_some_and(|finding| finding.starts_with("offered")) {
            record.protocols.insert(name.to_owned());
        }
    }
    for (id, finding) in findings {
        if let Some(rest) = id.strip_prefix("cipher-") {
            let (version, _) = rest.rsplit_once("_x").unwrap();
            let version = match version {
                "ssl3" => "SSL 3.0",
                "tls1" => "TLS 1.0",
                "tls1_1" => "TLS 1.1",
                "tls1_2" => "TLS 1.2",
                "tls1_3" => "TLS 1.3",
                other => panic!("version `{other}`"),
            };
            let suite = finding.split_whitespace().last().unwrap_or_default().to_owned();
            record.cipher_suites.entry(version.to_owned()).or_default().insert(suite);
        }
    }
    record.cipher_order = match find("cipher_order").unwrap_or_default() {
        order if order.starts_with("server") => Some("server".to_owned()),
        order if order.to_lowercase().starts_with("not a cipher order") => Some("client".to_owned()),
        _ => None,
    };
    let curves = find("PFS_ECDHE_curves").unwrap_or_default();
    record.curves = curves.split_whitespace().map(Into::into).collect();
    // Primes without a name are among the groups, next to those of TLS 1.3.
    let primes = [find("LOGJAM-common_primes"), find("DH_groups").filter(|groups| groups.contains(" bits)"))];
    record.dh_prime_bits = primes.into_iter().flatten().find_map(prime_bits);
    let alpn = find("ALPN").unwrap_or_default();
    record.alpn = ["h2", "http/1.1"].into_iter().find(|name| alpn.contains(name)).map(Into::into);
    let is_tls13_only = record.protocols.iter().eq(["TLS 1.3"]);
    record.secure_renegotiation = find("secure_renego").and_then(|finding| match finding {
        "supported" => Some(true),
        _ if is_tls13_only || finding.starts_with("OpenSSL handshake didn't succeed") => None,
        _ => Some(false),
    });
    record.compression = find("CRIME_TLS")
        .is_some_and(|finding| finding.starts_with("VULNERABLE") || finding.starts_with("potentially"));
    record.refuses_fallback = find("fallback_SCSV")
        .filter(|finding| !finding.starts_with("no protocol below") && !finding.starts_with("only"))
        .map(|finding| finding.starts_with("supported"));
    record.extended_master_secret = find("TLS_extensions")
        .filter(|_| !is_tls13_only)
        .map(|extensions| extensions.contains("extended master secret"));
    reduce_certificates(findings, &mut record);
    record.site = find("HTTP_status_code").map(|_| reduce_site(findings));
    record
}

/// Reads the header fields and cookies of the first page.
fn reduce_site(findings: &Findings) -> (HeaderRecord, CookieRecord) {
    let has = |id: &str| findings.contains_key(id);
    let find = |id: &str| findings.get(id).map(String::as_str).unwrap_or_default();
    let headers = HeaderRecord {
        hsts: match find("HSTS_time") {
            "" => Hsts::Missing,
            time if time.starts_with("max-age too short") => Hsts::Short,
            _ => Hsts::Long,
        },
        has_content_security_policy: has("Content-Security-Policy"),
        denies_framing: has("X-Frame-Options"),
        denies_sniffing: has("X-Content-Type-Options"),
        has_referrer_policy: has("Referrer-Policy"),
        tells_server_version: find("banner_server").contains('/'),
    };
    let first_number = |text: &str| text.split([' ', '/']).next().and_then(|number| number.parse().ok());
    let count: usize = first_number(find("cookie_count")).unwrap_or_default();
    let lacking = |id: &str| match find(id) {
        all if all.starts_with("All") => 0,
        some => count - first_number(some).unwrap_or_default(),
    };
    let cookies = CookieRecord {
        not_secure: lacking("cookie_secure"),
        readable_by_scripts: lacking("cookie_httponly"),
    };
    (headers, cookies)
}

/// Returns the bits of a prime that testssl.sh names, such as `RFC3526/Oakley Group 14` or `Unknown DH group (1024 bits)`.
fn prime_bits(name: &str) -> Option<u32> {
    let named = [("Oakley Group 14", 2048), ("Oakley Group 15", 3072), ("Oakley Group 16", 4096)];
    if let Some((_, bits)) = named.into_iter().find(|(part, _)| name.ends_with(part)) {
        return Some(bits);
    }
    let (_, rest) = name.split_once("ffdhe").or_else(|| name.split_once('('))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Reads the certificates, of which there are several with a number after each id.
fn reduce_certificates(findings: &Findings, record: &mut Record) {
    let mut by_number: BTreeMap<String, BTreeMap<&str, &str>> = BTreeMap::new();
    for (id, finding) in findings {
        let (id, number) = id.split_once(' ').unwrap_or((id, ""));
        by_number.entry(number.to_owned()).or_default().insert(id, finding);
    }
    for facts in by_number.values().filter(|facts| facts.contains_key("cert_keySize")) {
        let fact = |id: &str| facts.get(id).copied().unwrap_or_default();
        let key = fact("cert_keySize");
        record.certificates.insert(CertificateRecord {
            common_name: fact("cert_commonName").to_owned(),
            key: key.split(" (").next().unwrap_or_default().to_owned(),
            signature_algorithm: fact("cert_signatureAlgorithm").to_owned(),
            is_expired: fact("cert_expirationStatus").starts_with("expired"),
            is_self_signed: fact("cert_chain_of_trust").contains("(self signed)"),
            chain_length: fact("certs_countServer").parse().unwrap_or_default(),
            is_disordered: fact("certs_list_ordering_problem") == "yes",
        });
        record.ocsp_stapling |= fact("OCSP_stapling").starts_with("offered");
        let unnamed = fact("cert_commonName_wo_SNI");
        if !unnamed.is_empty() && record.common_name_without_sni.is_none() {
            record.common_name_without_sni = Some(unnamed.to_owned());
        }
    }
}

/// Whether a finding is about a header and does not change with time.
fn is_header(id: &str) -> bool {
    const PREFIXES: [&str; 16] = [
        "HTTP_status_code",
        "HSTS",
        "HPKP",
        "banner_",
        "cookie_",
        "X-",
        "Content-Security",
        "Referrer-Policy",
        "Expect-CT",
        "Permissions-Policy",
        "Feature-Policy",
        "Cache-Control",
        "Pragma",
        "reverse_proxy",
        "security_headers",
        "Access-Control",
    ];
    PREFIXES.iter().any(|prefix| id.starts_with(prefix))
}
