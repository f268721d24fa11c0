//! Runs testssl.sh and reduces its answer to a record.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value;

use super::certificates::NAME;
use super::record::{CertificateRecord, Record};

/// Asks for protocols, suites of each protocol, forward secrecy, order, defaults with certificates, compression,
/// downgrade, renegotiation, primes and headers; never asks anybody else than the server.
const ARGUMENTS: &str = "--quiet --color 0 --warnings off --connect-timeout 10 --openssl-timeout 10 -n none \
                         --ip 127.0.0.1 -p -E -f -P -S -C -Z -R -J -h";

/// Returns what testssl.sh finds at `port`.
pub async fn run(port: u16) -> Record {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.json");
    let mut command = tokio::process::Command::new("testssl");
    command.args(ARGUMENTS.split_whitespace()).arg("--jsonfile").arg(&file).arg(format!("{NAME}:{port}"));
    command.stdin(Stdio::null()).current_dir(folder.path()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)));
    if let Some(kept) = std::env::var_os("VIGIE_KEEP_TESTSSL") {
        std::fs::write(std::path::Path::new(&kept).join(format!("{port}.json")), &text).unwrap();
    }
    let Value::Array(findings) = serde_json::from_str(&text).unwrap() else { panic!("not a list: {text}") };
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings: Vec<_> =
        findings.iter().map(|finding| (text(finding, "id"), text(finding, "finding"))).collect();
    reduce(&findings)
}

fn reduce(findings: &[(String, String)]) -> Record {
    let find = |id: &str| findings.iter().find(|(other, _)| other == id).map(|(_, finding)| finding.as_str());
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
        if is_header(id) {
            record.headers.insert(id.clone(), finding.clone());
        }
    }
    let order = find("cipher_order").unwrap_or_default();
    record.cipher_order =
        ["server", "client"].into_iter().find(|side| order.starts_with(side)).map(Into::into);
    let curves = find("PFS_ECDHE_curves").unwrap_or_default();
    record.curves = curves.split_whitespace().map(Into::into).collect();
    record.dh_prime_bits =
        find("LOGJAM-common_primes").into_iter().chain(find("DH_groups")).find_map(|finding| {
            finding
                .split(|c: char| !c.is_ascii_digit())
                .find_map(|part| part.parse().ok())
                .filter(|bits| *bits >= 256)
        });
    let alpn = find("ALPN").unwrap_or_default();
    record.alpn = ["h2", "http/1.1"].into_iter().find(|name| alpn.contains(name)).map(Into::into);
    record.secure_renegotiation = find("secure_renego")
        .map(|finding| finding.contains("supported") && !finding.contains("not supported"));
    record.compression = find("CRIME_TLS")
        .is_some_and(|finding| finding.starts_with("VULNERABLE") || finding.starts_with("potentially"));
    record.refuses_fallback = find("fallback_SCSV").map(|finding| finding.starts_with("supported"));
    record.extended_master_secret =
        find("TLS_extensions").map(|extensions| extensions.contains("extended master secret"));
    reduce_certificates(findings, &mut record);
    record
}

/// Reads the certificates, of which there are several with a number after each id.
fn reduce_certificates(findings: &[(String, String)], record: &mut Record) {
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
