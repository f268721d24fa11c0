//! Reads the sources of the crate, for the rules on its shape.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One source file.
pub struct Source {
    /// Path from the root of the package.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its text without line comments.
    pub code: String,
}

impl Source {
    /// The source with this path and text.
    pub fn of(path: &str, text: &str) -> Self {
        let code = text.lines().map(without_comment).collect::<Vec<_>>().join("\n");
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// The top-level module that it belongs to, such as `net` for `src/net/dial.rs`.
    pub fn module(&self) -> &str {
        let inner = self.path.strip_prefix("src/").unwrap_or(&self.path);
        inner.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    /// Every path of this crate that it names after `crate::`, or after as many `super::` as lead there,
    /// two parts deep.
    pub fn imports(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let named = self.code.match_indices("crate::").map(|(at, word)| at + word.len());
        for at in named.chain(self.climbs()) {
            let rest = &self.code[at..];
            match rest.strip_prefix('{') {
                Some(group) => found.extend(group_members(group)),
                None => {
                    found.insert(path_at(rest));
                }
            }
        }
        found
    }

    /// Where paths go on that climb by `super::` to the root of the crate. The tests within a file stand one
    /// module deeper and are left out.
    fn climbs(&self) -> Vec<usize> {
        let depth = self.path.trim_end_matches("/mod.rs").matches('/').count();
        let climb = "super::".repeat(depth);
        let own = self.code.split("#[cfg(test)]").next().unwrap_or_default();
        own.match_indices(&climb).map(|(at, word)| at + word.len()).collect()
    }
}

fn without_comment(line: &str) -> &str {
    line.find("//").map_or(line, |at| if line[..at].ends_with(':') { line } else { &line[..at] })
}

/// The first two parts of the path that `text` begins with.
fn path_at(text: &str) -> String {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    text[..end].split("::").filter(|part| !part.is_empty()).take(2).collect::<Vec<_>>().join("::")
}

/// The members of a `{…}` group, without what stands in inner groups.
fn group_members(group: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut outer = String::new();
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ if depth == 0 => outer.push(c),
            _ => {}
        }
    }
    outer.split(',').map(|member| path_at(member.trim())).filter(|member| !member.is_empty()).collect()
}

/// The root of the package.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file below `src/`.
pub fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join("src"), &mut found);
    found.retain(|source| source.path != "src/lib.rs");
    assert!(found.len() > 20, "found only {} sources", found.len());
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            let name = path.strip_prefix(root()).expect("below the root").display().to_string();
            found.push(Source::of(&name, &text));
        }
    }
}
