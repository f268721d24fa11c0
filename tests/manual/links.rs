//! Links, paths and citations refer to something that exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use vigie::manual::{self, PAGES, heading_anchor};

use super::{fences, files_with_extension, inline_code, root};

/// Returns the targets of all links of `text` to other pages or headings.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

#[test]
fn every_link_refers_to_a_page_and_a_heading() {
    let mut wrong = Vec::new();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let pages = PAGES.iter().map(|page| (page.path, page.markdown));
    for (name, text) in pages {
        let folder = Path::new(name).parent().unwrap();
        for link in links(text) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { name.to_owned() } else { resolve(folder, path) };
            let Some(page) = PAGES.iter().find(|page| page.path == target) else {
                wrong.push(format!("{name}: {link}"));
                continue;
            };
            let mut anchors = page.sections().into_iter().map(|section| heading_anchor(section.heading));
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

/// Returns the name of the page that `path` refers to from `folder`.
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
    let blocks =
        PAGES.iter().flat_map(|page| fences(page.markdown).into_iter().map(|fence| (page.path, fence.text)));
    let words = inline_code()
        .into_iter()
        .chain(blocks)
        .flat_map(|(page, code)| code.split_whitespace().map(move |word| (page, word)));
    for (page, path) in words.filter(|(_, word)| {
        TOP.iter().any(|top| word.starts_with(top)) && !word.contains(['*', '<', '{', 'N'])
    }) {
        named += 1;
        let path = path.trim_end_matches(['.', ',', '/', ':', ')']);
        let path = path.split(':').next().unwrap();
        if !root().join(path).exists() {
            wrong.push(format!("{page}: {path}"));
        }
    }
    assert!(named > 100, "only {named} paths: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Sections that source comments cite exist in the manual: `behaviour.md 3` is section 3 of that page.
#[test]
fn every_section_cited_in_a_comment_exists() {
    let mut wrong = BTreeSet::new();
    let mut cited = 0;
    let folders = ["src", "tests", "benches"].iter();
    for file in folders.flat_map(|folder| files_with_extension(&root().join(folder), "rs")) {
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
            let page = manual::find_page(&format!("{name}.md")).or_else(|| manual::find_page(name)).unwrap();
            let starts_with_number = |title: &str| {
                title.strip_prefix(number).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
            };
            if !page.sections().iter().any(|section| starts_with_number(section.heading)) {
                wrong.insert(format!("{}: {name}.md {number}", file.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(cited > 200, "only {cited} citations: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
