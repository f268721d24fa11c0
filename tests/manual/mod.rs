//! The manual against the program and the repository: pages, links, paths and generated tables.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use vigie::domain::MonitorType;
use vigie::manual::{self, PAGES, Page, anchor};
use vigie::probe::REGISTRY;
use vigie::schema::json_schema::{field_table, sub_object_sections};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { markdown_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

#[test]
fn every_file_is_a_page_once() {
    let folder = root().join("src/manual");
    let files: BTreeSet<String> = markdown_files(&folder)
        .iter()
        .map(|path| path.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().to_owned())
        .collect();
    let pages: BTreeSet<String> = PAGES.iter().map(|page| page.name.to_owned()).collect();
    assert_eq!(files, pages);
    assert_eq!(pages.len(), PAGES.len(), "a page stands twice in the list");
    for page in PAGES {
        assert!(page.text.starts_with("# "), "{} has no title", page.name);
    }
}

#[test]
fn every_type_has_its_page() {
    for kind in MonitorType::ALL {
        let page = manual::find(&format!("monitors/{kind}")).unwrap_or_else(|| panic!("{kind} has no page"));
        assert!(page.text.contains(&format!("<!-- fields: {kind} -->\n")), "{kind}");
    }
}

#[test]
fn the_types_of_the_readme_are_those_that_have_a_probe() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("This version checks the types ").expect("the list of types");
    let (list, _) = rest.split_once(". ").unwrap();
    let named: BTreeSet<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let checked = REGISTRY.iter().flat_map(|descriptor| descriptor.kinds).map(ToString::to_string).collect();
    assert_eq!(named, checked);
    assert!(readme.len() <= 6_000, "README.md has {} bytes", readme.len());
}

/// `text` with `inner` between the lines `begin` and `end`.
fn filled(text: &str, begin: &str, end: &str, inner: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no `{begin}`"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("no `{end}` after `{begin}`"));
    format!("{before}{begin}\n{inner}{end}{after}")
}

#[test]
fn generated_tables_are_those_of_the_field_table() {
    let mut stale = Vec::new();
    let mut compare = |page: Page, wanted: String| {
        if page.text != wanted {
            if std::env::var_os("UPDATE_MANUAL").is_some() {
                fs::write(root().join("src/manual").join(page.name).with_extension("md"), &wanted).unwrap();
            }
            stale.push(page.name);
        }
    };
    for kind in MonitorType::ALL {
        let page = manual::find(&format!("monitors/{kind}")).unwrap();
        let begin = format!("<!-- fields: {kind} -->");
        compare(
            page,
            filled(page.text, &begin, "<!-- end of fields -->", &format!("\n{}\n", field_table(*kind))),
        );
    }
    let parts = manual::find("monitors/parts").unwrap();
    compare(
        parts,
        filled(
            parts.text,
            "<!-- parts -->",
            "<!-- end of parts -->",
            &format!("\n{}\n", sub_object_sections()),
        ),
    );
    assert!(
        stale.is_empty(),
        "out of date: {stale:?}; `UPDATE_MANUAL=1 cargo test --test service manual` writes them"
    );
}

/// The targets of all links of `text` that lead to other pages or to headings.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

#[test]
fn every_link_leads_to_a_page_and_a_heading() {
    let mut wrong = Vec::new();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let pages = PAGES.iter().map(|page| (page.name, page.text));
    for (name, text) in pages {
        let folder = Path::new(name).parent().unwrap();
        for link in links(text) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { name.to_owned() } else { resolve(folder, path) };
            let Some(page) = PAGES.iter().find(|page| page.name == target) else {
                wrong.push(format!("{name}: {link}"));
                continue;
            };
            let mut anchors = page.sections().into_iter().map(|section| anchor(section.title));
            if !heading.is_empty() && !anchors.any(|anchor| anchor == heading) {
                wrong.push(format!("{name}: {link}"));
            }
        }
    }
    for link in links(&readme) {
        let path = link.split('#').next().unwrap();
        if !root().join(path).exists() {
            wrong.push(format!("README.md: {link}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The name of the page that `path` leads to from `folder`.
fn resolve(folder: &Path, path: &str) -> String {
    let mut parts: Vec<&str> = folder.iter().map(|part| part.to_str().unwrap()).collect();
    for part in path.strip_suffix(".md").unwrap_or(path).split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_path_that_a_page_names_exists() {
    const TOP: &[&str] = &["src/", "config/", "tests/", "benches/", "systemd/", ".ci/"];
    let mut wrong = Vec::new();
    let mut named = 0;
    for page in PAGES {
        let code = page.text.split('`').skip(1).step_by(2);
        let words = code.flat_map(|code| code.split_whitespace());
        for path in words.filter(|word| {
            TOP.iter().any(|top| word.starts_with(top)) && !word.contains(['*', '<', '{', 'N'])
        }) {
            named += 1;
            let path = path.trim_end_matches(['.', ',', '/', ':', ')']);
            let path = path.split(':').next().unwrap();
            if !root().join(path).exists() {
                wrong.push(format!("{}: {path}", page.name));
            }
        }
    }
    assert!(named > 100, "only {named} paths: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What the comments of the sources cite stands in the manual: `behaviour.md 3` is the section 3 of that page.
#[test]
fn every_section_that_a_comment_cites_exists() {
    let mut wrong = BTreeSet::new();
    let mut cited = 0;
    for file in ["src", "tests", "benches"].iter().flat_map(|folder| sources(&root().join(folder))) {
        let text = fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices(".md ") {
            let name = text[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap();
            let number: String =
                text[at + 4..].chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let number = number.trim_end_matches('.');
            if number.is_empty() || !["behaviour", "fields", "interface", "architecture"].contains(&name) {
                continue;
            }
            cited += 1;
            let page = manual::find(&format!("{name}.md")).or_else(|| manual::find(name)).unwrap();
            let begins = |title: &str| {
                title.strip_prefix(number).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
            };
            if !page.sections().iter().any(|section| begins(section.title)) {
                wrong.insert(format!("{}: {name}.md {number}", file.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(cited > 200, "only {cited} citations: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
