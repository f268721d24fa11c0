//! The rules of the architecture, checked in the sources: who may import whom, how long a file may be, that every
//! module states its purpose, that every type has an example, that paths named in the README exist.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod imports;
mod layers;
mod modules;
mod planted;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use modules::{Files, Modules};
use vigie::domain::MonitorType;
use vigie::probe::PROBE_DESCRIPTORS;
use vigie::schema::monitor_file::{KeyPolicy, parse_monitor_files};
use vigie::schema::reader::SecretSource;
use vigie::schema::validation_context::ValidationContext;

/// Crates and calls that only some modules may name.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("rusqlite::", &["store"]),
    ("axum::", &["api", "web", "app"]),
    ("clap::", &["cli", "main"]),
    ("anyhow::", &["app", "cli", "main"]),
    ("SystemTime::now", &["clock", "telemetry"]),
    ("prometheus_client::", &["telemetry"]),
    ("prost::", &["bus"]),
    // A library must not choose the allocator of the program that links it.
    ("global_allocator", &["main"]),
    // Locks come from `sync`, whose locks are never poisoned.
    ("PoisonError", &["sync"]),
    ("parking_lot::", &["sync"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all sources by path.
fn sources() -> &'static Files {
    static FILES: LazyLock<Files> = LazyLock::new(|| modules::files_of(&root()));
    &FILES
}

/// The crate, read once for all tests.
static CRATE: LazyLock<Modules> = LazyLock::new(|| Modules::read(sources()));

/// Returns the top-level module of a file: `net` for `src/net/dial.rs`.
fn top(file: &str) -> &str {
    file.trim_start_matches("src/").split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

#[test]
fn every_source_is_part_of_the_crate() {
    let files = sources();
    let modules = &*CRATE;
    assert!(modules.missing.is_empty(), "{:?}", modules.missing);
    let read: BTreeSet<_> = modules.by_path.values().map(|module| module.file.as_str()).collect();
    let left: Vec<_> = files.keys().filter(|file| !read.contains(file.as_str())).collect();
    assert!(left.is_empty(), "no module declares {left:?}");
}

#[test]
fn modules_import_only_what_their_floor_allows() {
    let errors = layers::violations(&CRATE);
    assert!(errors.is_empty(), "{} imports:\n{}", errors.len(), errors.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    let cycles = CRATE.cycles();
    let shown: Vec<String> = cycles
        .iter()
        .map(|cycle| {
            let steps: Vec<_> = cycle.iter().map(|(file, names)| format!("{file} names {names}")).collect();
            steps.join("\n")
        })
        .collect();
    assert!(cycles.is_empty(), "{} circles:\n{}", cycles.len(), shown.join("\n\n"));
}

#[test]
fn files_that_declare_modules_contain_no_logic() {
    let modules = &*CRATE;
    let declares = |file: &str| file.ends_with("/mod.rs") || file == "src/lib.rs";
    let errors: Vec<_> = modules
        .by_path
        .values()
        .filter(|module| module.logic > 0 && declares(&module.file))
        .map(|module| format!("{}: {} items", module.file, module.logic))
        .collect();
    assert!(errors.is_empty(), "{} files beyond `mod` and `use`:\n{}", errors.len(), errors.join("\n"));
}

#[test]
fn modules_import_each_other_by_path_never_through_the_parent() {
    let modules = &*CRATE;
    let mut violations = BTreeSet::new();
    for edge in modules.edges().iter().filter(|edge| !edge.in_tests) {
        let parent = edge.target.through.as_ref().filter(|parent| edge.from.starts_with(parent));
        if let Some(parent) = parent.filter(|parent| parent.len() < edge.from.len() && !parent.is_empty()) {
            let file = &modules.by_path[&edge.from].file;
            let definer = edge.target.module.join("::");
            if modules.by_path[parent].file != *file {
                violations.insert(format!("{file}: `{}` stands in `{definer}`", edge.written));
            }
        }
    }
    let violations: Vec<_> = violations.into_iter().collect();
    assert!(
        violations.is_empty(),
        "{} imports through a parent:\n{}",
        violations.len(),
        violations.join("\n")
    );
}

#[test]
fn restricted_crates_are_used_only_in_their_modules() {
    for (file, text) in sources() {
        let code: String = text.lines().map(without_comment).collect::<Vec<_>>().join("\n");
        for (word, modules) in ONLY_IN {
            let misplaced = code.contains(word) && !modules.contains(&top(file));
            assert!(!misplaced, "{file}: `{word}` belongs to {modules:?}");
        }
    }
}

fn without_comment(line: &str) -> &str {
    line.find("//").map_or(line, |at| if line[..at].ends_with(':') { line } else { &line[..at] })
}

#[test]
fn every_module_of_the_table_of_floors_exists() {
    let files = sources();
    let present: BTreeSet<_> = files.keys().map(|file| top(file)).collect();
    for (module, allowed) in layers::LAYERS {
        for name in allowed.split_whitespace().chain([*module]).filter(|name| *name != "*") {
            assert!(present.contains(name), "`{name}` of the table of layers has no source");
        }
    }
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    for (file, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 500, "{file} has {lines} lines: split it");
    }
}

#[test]
fn documentation_contains_no_untested_code() {
    // `tests/run` skips doc tests, since there are none that rustdoc would have to compile the crate for.
    for (file, text) in sources() {
        let fences = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("/// ```") || line.starts_with("//! ```"));
        // Every second fence closes a block.
        let open = fences.step_by(2).any(|line| !line.ends_with("```text"));
        assert!(!open, "{file} has a code block in its documentation; write it as ```text");
    }
}

#[test]
fn every_module_has_a_doc_comment() {
    for (file, text) in sources() {
        let first = text.lines().next().unwrap_or_default();
        let words = first.trim_start_matches("//!").split_whitespace().count();
        assert!(first.starts_with("//! ") && words >= 3, "{file} does not begin with what it is");
    }
}

#[test]
fn every_type_has_an_example_that_loads_and_is_disabled() {
    let registered: BTreeSet<_> =
        PROBE_DESCRIPTORS.iter().flat_map(|descriptor| descriptor.monitor_types).copied().collect();
    assert!(registered.len() >= 5, "only {registered:?} are registered");
    for kind in MonitorType::ALL {
        let path = root().join(format!("config/monitors/{kind}.yaml"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let secrets = |_: SecretSource<'_>| Ok("secret".to_owned());
        let found = parse_monitor_files(
            &[(kind.to_string(), text)],
            KeyPolicy::Required,
            &ValidationContext::default(),
            &secrets,
        );
        assert!(found.errors.is_empty(), "{kind}: {:?}", found.errors);
        let own: Vec<_> =
            found.monitors.iter().filter(|monitor| monitor.document.monitor_type() == *kind).collect();
        assert!(!own.is_empty(), "{} has no monitor of its type", path.display());
        assert!(own.iter().all(|monitor| !monitor.document.settings().schedule.enabled), "{kind} is enabled");
    }
}

#[test]
fn every_path_that_the_readme_names_exists() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let mut named = 0;
    for path in named_paths(&readme) {
        assert!(root().join(&path).exists(), "README.md names `{path}`, which does not exist");
        named += 1;
    }
    assert!(named >= 10, "README.md names only {named} paths: is the search broken?");
}

/// Returns the paths in back-ticks or links whose first part is a folder of this repository.
fn named_paths(text: &str) -> Vec<String> {
    const TOP: &[&str] = &["src/", "config/", "tests/", "benches/", "systemd/", ".ci/"];
    const FILES: &[&str] = &["Cargo.toml", "deny.toml", "LICENSE", "README.md"];
    text.split(|c: char| c.is_whitespace() || "`()[]|,;:".contains(c))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| TOP.iter().any(|top| word.starts_with(top)) || FILES.contains(word))
        .filter(|word| !word.contains(['<', '*', '…', '$']))
        .map(str::to_owned)
        .collect()
}
