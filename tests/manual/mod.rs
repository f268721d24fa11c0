//! Compares the manual with the program and the repository: pages and generated tables.

mod bus_messages;
mod examples;
mod links;
mod names;
mod rows;
mod security_findings;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use vigie::domain::{HOST_METRICS, HostMetric, MonitorType};
use vigie::manual::{self, ManualPage, PAGES};
use vigie::probe::PROBE_DESCRIPTORS;
use vigie::schema::json_schema::{fields_as_markdown, sub_objects_as_markdown};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all files below `folder` whose name ends in `.extension`.
fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_with_extension(&path, extension) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

/// Returns the inline code of all pages, each with the name of its page. Code blocks are left out.
fn inline_code() -> Vec<(&'static str, &'static str)> {
    let prose = |text: &'static str| text.split("\n```").step_by(2);
    let code = |part: &'static str| part.split('`').skip(1).step_by(2);
    PAGES.iter().flat_map(|page| prose(page.markdown).flat_map(code).map(|span| (page.path, span))).collect()
}

/// A code block: the text after its opening back-ticks, and its lines.
struct Fence<'a> {
    info: &'a str,
    text: &'a str,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.split_once('\n').map(|(info, text)| Fence { info, text })).collect()
}

#[test]
fn every_file_is_exactly_one_page() {
    let folder = root().join("src/manual");
    let files: BTreeSet<String> = files_with_extension(&folder, "md")
        .iter()
        .map(|path| path.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().to_owned())
        .collect();
    let pages: BTreeSet<String> = PAGES.iter().map(|page| page.path.to_owned()).collect();
    assert_eq!(files, pages);
    assert_eq!(pages.len(), PAGES.len(), "a page stands twice in the list");
    for page in PAGES {
        assert!(page.markdown.starts_with("# "), "{} has no title", page.path);
    }
}

#[test]
fn every_type_has_its_page() {
    for kind in MonitorType::ALL {
        let page =
            manual::find_page(&format!("monitors/{kind}")).unwrap_or_else(|| panic!("{kind} has no page"));
        assert!(page.markdown.contains(&format!("<!-- fields: {kind} -->\n")), "{kind}");
    }
}

#[test]
fn the_types_in_the_readme_are_those_with_a_probe() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("This version checks the types ").expect("the list of types");
    let (list, _) = rest.split_once(". ").unwrap();
    let named: BTreeSet<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let checked = PROBE_DESCRIPTORS
        .iter()
        .flat_map(|descriptor| descriptor.monitor_types)
        .map(ToString::to_string)
        .collect();
    assert_eq!(named, checked);
    assert!(readme.len() <= 6_000, "README.md has {} bytes", readme.len());
}

/// Returns `text` with `inner` between the lines `begin` and `end`.
fn with_generated(text: &str, begin: &str, end: &str, inner: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no `{begin}`"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("no `{end}` after `{begin}`"));
    format!("{before}{begin}\n{inner}{end}{after}")
}

#[test]
fn generated_tables_match_the_field_table() {
    let mut stale = Vec::new();
    let mut compare = |page: ManualPage, expected: String| {
        if page.markdown != expected {
            if std::env::var_os("UPDATE_MANUAL").is_some() {
                fs::write(root().join("src/manual").join(page.path).with_extension("md"), &expected).unwrap();
            }
            stale.push(page.path);
        }
    };
    for kind in MonitorType::ALL {
        let page = manual::find_page(&format!("monitors/{kind}")).unwrap();
        let begin = format!("<!-- fields: {kind} -->");
        compare(
            page,
            with_generated(
                page.markdown,
                &begin,
                "<!-- end of fields -->",
                &format!("\n{}\n", fields_as_markdown(*kind)),
            ),
        );
    }
    let parts = manual::find_page("monitors/parts").unwrap();
    compare(
        parts,
        with_generated(
            parts.markdown,
            "<!-- parts -->",
            "<!-- end of parts -->",
            &format!("\n{}\n", sub_objects_as_markdown()),
        ),
    );
    let host_agent = manual::find_page("hostagent").unwrap();
    compare(
        host_agent,
        with_generated(
            host_agent.markdown,
            "<!-- host metrics -->",
            "<!-- end of host metrics -->",
            &format!("\n{}\n", host_metrics_as_markdown()),
        ),
    );
    assert!(
        stale.is_empty(),
        "out of date: {stale:?}; `UPDATE_MANUAL=1 cargo test --test service manual` writes them"
    );
}

/// Returns the table of the metrics of hosts.
fn host_metrics_as_markdown() -> String {
    let row = |metric: &HostMetric| {
        let label = metric.label.map_or_else(String::new, |label| format!("`{label}`"));
        format!("| `{}` | {} | {label} | {} |\n", metric.name, metric.unit.symbol(), metric.help)
    };
    let rows: String = HOST_METRICS.iter().map(row).collect();
    format!("| Metric | Unit | Label | Meaning |\n|---|---|---|---|\n{rows}")
}
