//! The rows of interface.md, and the tests that hold them: a line `// row: NAME; NAME` above the attributes of a test.
//! The page `interface-tests` has the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use vigie::manual;

use super::{files_with_extension, root, with_generated};

/// Words in the second cells of the tables that are values, not fields.
const VALUES: &[&str] = &["equals", "contains", "count", "exists", "append", "replace"];

/// Rows of types that are built later. They may have no test.
const LATER: &[&str] = &["2.2 mobilecloud", "2.2 mobilelab", "2.8 apiproject", "8 monitor_offset"];

/// Rows that stand in sentences: name, and a part of the sentence.
const SENTENCES: &[(&str, &str)] = &[
    ("2.2 mail.ipv4", "All types but the round trip have `ipv4`, `port` and `resolve_dns`"),
    ("2.2 mail.port", "All types but the round trip have `ipv4`, `port` and `resolve_dns`"),
    ("2.2 mail.resolve_dns", "All types but the round trip have `ipv4`, `port` and `resolve_dns`"),
    ("2.2 mobilelab", "**mobilelab**: the shared fields with a default interval of 30"),
    ("2.3 Capture levels of the legacy API", "The order of the levels for the legacy API is"),
    ("2.4 one-time blackout", "a **one-time blackout** has `type` (required; `Monitor` or `Alert`)"),
    ("2.4 persistent blackout", "A **persistent blackout** has `type` (required; `Monitor` or `Alert`)"),
    ("2.7 username", "`username` and `password`, both strings and required"),
    ("2.7 password", "`username` and `password`, both strings and required"),
    ("2.8 texts", "The legacy API returns every value as a string, numbers included"),
    ("2.8 flags", "Booleans are `y` and `n`; an unset flag is an empty string"),
    ("2.8 codes of mode", "`mode` `V` and `G`"),
    ("2.8 codes of http_method", "`http_method` `g`"),
    ("2.8 codes of browser_type", "`browser_type` `FF`"),
    ("2.8 codes of capture_level", "`capture_level` a number, of which 4 means all events on error"),
    (
        "2.8 Disabled",
        "`check_ssl_expiration_dates`, `http_caching` and `keyword_match_invert` appear as `Disabled`",
    ),
    ("2.8 spellings of keyword_match_type", "as `Plain Text` in responses and as `PlainText` in a create"),
    ("2.8 numbers of a create", "In a create, clients send JSON numbers for `interval`"),
    ("3 enabled", "no lifecycle beyond its flag `enabled`"),
    ("3 script_status", "also reports `script_status`, the state of its last playback"),
    ("4.1 metadata", "an object `metadata`, whose strings are `login`, `session`, `status` and `message`"),
    ("4.1 status 0", "Status `0` with `No errors.` means success"),
    (
        "4.1 POST /login",
        "takes a JSON body (Content-Type application/json) with the strings `login` and `password`",
    ),
    ("4.1 GET /devices authentication", "returns one, several or all monitors. It needs authentication"),
    ("4.1 POST /devices role", "It needs authentication, and a role that permits creating monitors"),
    (
        "4.1 POST /devices result",
        "the response has `metadata` and an object `results` with the `id` (a string)",
    ),
    ("4.2 bodies", "The objects of section 2 are the bodies of its calls"),
    ("6 notify_on_error", "Monitors carry the switches `notify_on_error`"),
    ("6 notify_on_content_change", "`notify_on_content_change` and `notify_on_fullpage_errors`"),
    ("6 notify_on_fullpage_errors", "`notify_on_content_change` and `notify_on_fullpage_errors`"),
    (
        "7 failed calls",
        "A failed legacy call returns the metadata with a status other than 0, and no results",
    ),
    ("9 /api/v3", "The base path of the data model contains its version, `/api/v3`"),
    ("9 /legacy-api", "The path of the legacy API contains no version"),
];

/// Returns the names of all rows, in the order of the page.
fn interface_rows() -> Vec<String> {
    let page = manual::find_page("interface").unwrap().markdown;
    let (mut section, mut group) = ("", "");
    let mut rows = Vec::new();
    let lines: Vec<&str> = page.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        if let Some(heading) = line.strip_prefix("### ").or_else(|| line.strip_prefix("## ")) {
            section = heading.split_whitespace().next().unwrap().trim_end_matches('.');
            group = "";
        } else if let Some(rest) = line.strip_prefix("**") {
            group = rest.split("**").next().unwrap().trim_matches(['`', '.', ' ']);
        } else if line.starts_with("| ") && !lines.get(index + 1).is_some_and(|next| next.starts_with("|---"))
        {
            rows.extend(rows_of_table_line(section, group, line));
        } else if let Some((number, _)) =
            line.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok())
        {
            rows.push(format!("{section} {group} {number}").replace("  ", " "));
        }
    }
    let text = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, part) in SENTENCES {
        assert!(text.contains(part), "interface.md has no `{part}`");
        rows.push((*name).to_owned());
    }
    // Stable: within a section the order is that of the page.
    rows.sort_by_key(|row| row.split(' ').next().unwrap().to_owned());
    let mut seen = std::collections::HashSet::new();
    rows.retain(|row| seen.insert(row.clone()));
    rows
}

fn rows_of_table_line(section: &str, group: &str, line: &str) -> Vec<String> {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let code = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<String>>();
    let names = code(cells[0]);
    if matches!(section, "7" | "8") {
        return vec![format!("{section} {}", cells[0].replace('`', ""))];
    }
    if names.is_empty() {
        let is_field = |name: &String| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
                && !VALUES.contains(&name.as_str())
        };
        let fields = code(&cells[1..].join(" "));
        return fields
            .iter()
            .filter(|name| is_field(name))
            .map(|name| format!("{section} {}.{name}", cells[0]))
            .collect();
    }
    let prefix = match group {
        "" => String::new(),
        group if group.contains('/') => format!("{group} "),
        group => format!("{}.", group.to_lowercase()),
    };
    names.iter().map(|name| format!("{section} {prefix}{name}")).collect()
}

/// Returns the tests that hold each row, as `file` and `function`.
fn marked_tests() -> BTreeMap<String, Vec<(String, String)>> {
    let mut marks: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for folder in ["tests", "src"] {
        for path in files_with_extension(&root().join(folder), "rs") {
            let file = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if file == "tests/manual/rows.rs" {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let mut rows = Vec::new();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                if let Some(names) = line.strip_prefix("// row: ") {
                    rows.extend(names.split("; ").map(str::to_owned));
                } else if rows.is_empty() {
                } else if line.starts_with("#[") || line.starts_with("//") {
                    is_test |= line.contains("test");
                } else {
                    let name = line
                        .split_once("fn ")
                        .and_then(|(_, rest)| rest.split_once('('))
                        .map(|(name, _)| name);
                    let name = name
                        .filter(|_| is_test)
                        .unwrap_or_else(|| panic!("{file}: `{line}` is no test, after {rows:?}"));
                    for row in rows.drain(..) {
                        marks.entry(row).or_default().push((file.clone(), name.to_owned()));
                    }
                    is_test = false;
                }
            }
            assert!(rows.is_empty(), "{file}: no test after {rows:?}");
        }
    }
    marks
}

#[test]
fn every_row_of_the_interface_has_its_test() {
    let marks = marked_tests();
    let rows = interface_rows();
    let unknown: Vec<_> = marks.keys().filter(|row| !rows.contains(row)).collect();
    assert!(unknown.is_empty(), "no rows of interface.md: {unknown:?}");
    let is_later = |row: &str| LATER.iter().any(|later| row.starts_with(later));
    let empty: Vec<_> = rows.iter().filter(|row| !marks.contains_key(*row) && !is_later(row)).collect();
    assert!(empty.is_empty(), "no test holds {empty:#?}");
    let mut table = "\n| Section | Row | Tests |\n|---|---|---|\n".to_owned();
    for row in &rows {
        let tests = marks.get(row).map_or_else(
            || "with the probe of its type".to_owned(),
            |tests| {
                let texts = tests.iter().map(|(file, name)| format!("`{name}` in {file}"));
                texts.collect::<Vec<_>>().join(", ")
            },
        );
        // The object stands outside of the code: what is in code with a dot may be a setting.
        let (place, name) = row
            .rsplit_once('.')
            .filter(|(place, _)| place.contains(' '))
            .unwrap_or_else(|| row.split_once(' ').unwrap());
        let is_field =
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let name = if is_field { format!("`{name}`") } else { name.to_owned() };
        let _ = writeln!(table, "| {place} | {name} | {tests} |");
    }
    table.push('\n');
    let page = manual::find_page("interface-tests").unwrap();
    let expected = with_generated(page.markdown, "<!-- rows -->", "<!-- end of rows -->", &table);
    if page.markdown != expected {
        if std::env::var_os("UPDATE_MANUAL").is_some() {
            fs::write(root().join("src/manual/interface-tests.md"), &expected).unwrap();
        }
        panic!(
            "interface-tests is out of date; `UPDATE_MANUAL=1 cargo test --test service manual` writes it"
        );
    }
}

/// `tests/mutate` makes these mutations: at least 20, each of a row with a test that the table names.
#[test]
fn every_listed_mutation_can_be_made() {
    let text = fs::read_to_string(root().join("tests/manual/mutations.txt")).unwrap();
    let marks = marked_tests();
    let mut count = 0;
    for block in text.split("\n== ").skip(1) {
        let (row, rest) = block.split_once('\n').unwrap();
        let part = |name: &str| rest.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let source = fs::read_to_string(root().join(part("file: "))).unwrap();
        assert_eq!(source.matches(part("old: ")).count(), 1, "{row}: `old` in its file");
        assert_ne!(part("old: "), part("new: "), "{row}");
        let test = part("test: ").split(' ').nth(1).unwrap().rsplit("::").next().unwrap();
        assert!(marks[row].iter().any(|(_, name)| name == test), "{row} is not held by `{test}`");
        count += 1;
    }
    assert!(count >= 20, "{count}");
}
