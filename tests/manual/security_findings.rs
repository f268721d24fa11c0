//! The tables of the page `monitors/security-scan`: they are those of the code.

use std::fmt::Write as _;
use std::fs;

use vigie::evaluate::security::{EXPOSED_FILES, FINDINGS, GRADE_RULES, LISTED_DIRECTORIES, USUAL_PORTS};
use vigie::manual;

use super::{root, with_generated};

fn findings() -> String {
    let mut table = "| Id | Severity | What | Remedy | Reference |\n|---|---|---|---|---|\n".to_owned();
    for finding in FINDINGS {
        let least = finding.severity.name();
        let severity = match finding.highest_severity {
            highest if highest == finding.severity => least.to_owned(),
            highest => format!("{least} to {}", highest.name()),
        };
        let (id, title, remedy, reference) = (finding.id, finding.title, finding.remedy, finding.reference);
        let _ = writeln!(table, "| `{id}` | {severity} | {title} | {remedy} | <{reference}> |");
    }
    table
}

fn grades() -> String {
    let mut table = "| Grade | When |\n|---|---|\n".to_owned();
    for (grade, rule) in GRADE_RULES {
        let _ = writeln!(table, "| {grade} | {rule} |");
    }
    table
}

fn requests() -> String {
    let ports = USUAL_PORTS.iter().map(|port| port.number.to_string()).collect::<Vec<_>>().join(", ");
    let directories = LISTED_DIRECTORIES.map(|path| format!("`{path}`")).join(", ");
    let mut text = format!("Ports: {ports}.\n\nDirectories, for their listing: {directories}.\n\n");
    text.push_str(
        "Files, for their content:\n\n| Path | Severity | Content that is a finding |\n|---|---|---|\n",
    );
    for file in EXPOSED_FILES {
        let _ = writeln!(text, "| `{}` | {} | {} |", file.path, file.severity.name(), file.content);
    }
    text
}

#[test]
fn the_tables_of_security_scans_are_those_of_the_code() {
    let page = manual::find_page("monitors/security-scan").unwrap();
    let mut expected = page.markdown.to_owned();
    for (name, inner) in [("grades", grades()), ("findings", findings()), ("requests", requests())] {
        let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
        expected = with_generated(&expected, &begin, &end, &format!("\n{inner}\n"));
    }
    if page.markdown != expected && std::env::var_os("UPDATE_MANUAL").is_some() {
        fs::write(root().join("src/manual/monitors/security-scan.md"), &expected).unwrap();
    }
    assert!(
        page.markdown == expected,
        "out of date; `UPDATE_MANUAL=1 cargo test --test service manual` writes them"
    );
}
