//! Holds the table complete: every text that the pages name is in it, every row is used, and languages fit each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use super::row::Row;
use super::table::{SENTENCES, all_rows};

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_dir() && !path.ends_with("vendor") {
            sources(&path, out);
        } else if ["rs", "html", "js"].contains(&extension) {
            out.push(path);
        }
    }
}

/// The sources of the pages and of what they show, by path.
pub(super) fn page_sources() -> BTreeMap<PathBuf, String> {
    let mut paths = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web"), &mut paths);
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/service"), &mut paths);
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn rows() -> impl Iterator<Item = &'static Row> {
    SENTENCES.iter().copied().flatten()
}

fn placeholders(text: &str) -> BTreeSet<String> {
    let names = Regex::new(r"\{(\w+)\}").unwrap();
    names.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn every_text_that_pages_name_is_in_the_table() {
    let known: BTreeSet<&str> = all_rows().map(|row| row.0).collect();
    let in_code = Regex::new(
        r#"(?:(?:\bt|locale\(\))\s*\.(?:text|fill|html)|\bkey|\bnot_found|\brender_(?:notice|retry)_page)\(\s*"((?:[^"\\]|\\.)*)"|\bt\.count\(\s*"([^"]*)",\s*"([^"]*)""#,
    );
    let in_scripts = Regex::new(r#"\btext\(\s*"([^"]*)""#);
    let (in_code, in_scripts) = (in_code.unwrap(), in_scripts.unwrap());
    let mut missing = BTreeSet::new();
    for (path, source) in page_sources() {
        let code = source.split("#[cfg(test)]\nmod ").next().unwrap();
        let is_script = path.extension().is_some_and(|extension| extension == "js");
        let named = if is_script { &in_scripts } else { &in_code };
        for found in named.captures_iter(code) {
            for english in found.iter().skip(1).flatten() {
                if !known.contains(english.as_str()) {
                    missing.insert(format!("{}: {}", path.display(), english.as_str()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_row_is_there_once_and_speaks_every_language() {
    let mut seen = BTreeSet::new();
    for row in all_rows() {
        assert!(seen.insert(row.0), "twice in the table: {}", row.0);
        assert!(!row.1.is_empty() && !row.2.is_empty(), "{}", row.0);
        for other in [row.1, row.2] {
            assert_eq!(placeholders(row.0), placeholders(other), "{}", row.0);
            assert_eq!(row.0.ends_with('.'), other.ends_with('.'), "{}", row.0);
        }
    }
}

#[test]
fn pages_say_every_sentence() {
    let sources = page_sources();
    for row in rows() {
        let quoted = format!("\"{}\"", row.0);
        let is_used = sources.values().any(|source| source.contains(&quoted));
        assert!(is_used, "no page says it: {}", row.0);
    }
}
