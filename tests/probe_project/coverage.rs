//! The coverage table of the manual (formats.md, SoapUI projects): each construct names a test that exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The kinds of constructs that the table must have, with the least number of rows of each.
const KINDS: &[(&str, usize)] = &[
    ("Tree", 10),
    ("Step", 16),
    ("Parameters", 2),
    ("Credentials", 2),
    ("Assertion", 7),
    ("Transfer", 6),
    ("Expansion", 3),
];

/// Words that the table must have: what a project is made of.
const CONSTRUCTS: &[&str] = &[
    "restrequest",
    "httprequest",
    "request (SOAP",
    "transfer",
    "properties",
    "delay",
    "goto",
    "calltestcase",
    "groovy",
    "jdbc",
    "QUERY",
    "HEADER",
    "TEMPLATE",
    "MATRIX",
    "PLAIN",
    "Preemptive",
    "Valid and Invalid HTTP Status Codes",
    "Simple Contains",
    "XPath Match",
    "JsonPath Match",
    "Response SLA",
    "SOAP Fault",
    "setNullOnMissingSource",
    "transferTextContent",
    "failOnError",
    "ignoreEmpty",
    "transferToAll",
    "entitize",
    "transferChildNodes",
    "useXQuery",
];

#[test]
fn every_construct_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("src/manual/formats.md")).unwrap();
    let start = page.find("<!-- coverage of projects").unwrap();
    let end = page.find("<!-- end of coverage of projects").unwrap();
    let table = &page[start..end];
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit_once(" | `"))
        .map(|(construct, test)| (construct, test.trim_end_matches('`')))
        .collect();
    let mut tests = BTreeSet::new();
    let files = fs::read_dir(root.join("tests/probe_project")).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.is_file()) {
        let source = fs::read_to_string(file).unwrap();
        for after in source.split("#[tokio::test]\nasync fn ").skip(1) {
            tests.insert(after.split('(').next().unwrap().to_owned());
        }
    }
    for (construct, test) in &rows {
        assert!(tests.contains(*test), "`{construct}` names `{test}`, which does not exist");
    }
    for (kind, least) in KINDS {
        let count = rows.iter().filter(|(construct, _)| construct.starts_with(&format!("{kind}: "))).count();
        assert!(count >= *least, "{kind}: {count}");
    }
    for construct in CONSTRUCTS {
        assert!(table.contains(construct), "{construct}");
    }
}
