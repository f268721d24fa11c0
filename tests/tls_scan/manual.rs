//! The tables of the comparison on the page `monitors/security-scan`: they are those of the tests.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use vigie::manual;

use super::differences::{DIFFERENCES, NOT_ASKED};
use super::setups::{SETUPS, Server};

const BEGIN: &str = "<!-- comparison -->\n";
const END: &str = "<!-- end of comparison -->\n";

/// Names of the compared fields on the page.
const FIELD_NAMES: [(&str, &str); 10] = [
    ("certificates", "certificates"),
    ("cipher_order", "order of suites"),
    ("common_name_without_sni", "certificate without SNI"),
    ("cookies", "flags of cookies"),
    ("curves", "curves"),
    ("dh_prime_bits", "bits of the prime"),
    ("headers", "header fields"),
    ("open_questions", "open questions"),
    ("refuses_fallback", "refusal of a marked downgrade"),
    ("secure_renegotiation", "secure renegotiation"),
];

fn differences() -> String {
    let mut table = "| Set-up | Difference | Reason |\n|---|---|---|\n".to_owned();
    for (setup, field, reason) in DIFFERENCES {
        let setup = match *setup {
            NOT_ASKED => "those without an answer of testssl.sh".to_owned(),
            name => format!("`{name}`"),
        };
        let field = FIELD_NAMES.iter().find(|(name, _)| name == field).map_or(*field, |(_, text)| text);
        writeln!(table, "| {setup} | {field} | {reason} |").unwrap();
    }
    table
}

fn setups() -> String {
    let mut table = "| Set-up | Server | Settings |\n|---|---|---|\n".to_owned();
    for setup in SETUPS {
        let (server, settings) = match setup.server {
            Server::Nginx(directives) => ("nginx", format!("`{directives}`")),
            Server::Apache(directives) => ("Apache", format!("`{};`", directives.trim().replace('\n', "; "))),
            Server::OpenSsl(arguments) => ("`openssl s_server`", format!("`{arguments}`")),
            Server::Rustls { tls12: true, tls13: true } => ("rustls", "ECDSA; TLS 1.2 and 1.3".to_owned()),
            Server::Rustls { tls12: true, .. } => ("rustls", "ECDSA; TLS 1.2".to_owned()),
            Server::Rustls { .. } => ("rustls", "ECDSA; TLS 1.3".to_owned()),
        };
        writeln!(table, "| `{}` | {server} | {settings} |", setup.name).unwrap();
    }
    table
}

#[test]
fn the_comparison_on_the_page_is_that_of_the_tests() {
    let page = manual::find_page("monitors/security-scan").unwrap().markdown;
    let start = page.find(BEGIN).expect("the mark of the comparison") + BEGIN.len();
    let end = page.find(END).expect("the end of the comparison");
    let expected = format!("{}\n{}\n{}\n{}", &page[..start], differences(), setups(), &page[end..]);
    if page != expected && std::env::var_os("UPDATE_MANUAL").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manual/monitors/security-scan.md");
        fs::write(file, &expected).unwrap();
    }
    assert!(
        page == expected,
        "out of date; `UPDATE_MANUAL=1 cargo test --test targets tls_scan::manual` writes it"
    );
    assert!(page.contains(&format!("on {} set-ups", SETUPS.len())), "the number of set-ups in the text");
}
