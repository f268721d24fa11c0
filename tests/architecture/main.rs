//! The rules of the code's shape, read from the sources: who may import whom, how long a file may be,
//! that every module says what it is, that every kind has an example, that the README names what exists.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "support/sources.rs"]
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sources::{Source, root, sources};
use vigie::domain::MonitorType;
use vigie::probe::REGISTRY;
use vigie::schema::intake::SecretAt;
use vigie::schema::monitor_file::{Keys, load};
use vigie::schema::validation_context::Surroundings;

/// Floor 0, which everybody may import.
const BASE: &[&str] = &["domain", "clock", "sync"];

/// Every module and what it may import of this crate beside [`BASE`], lowest floor first. What a line leaves out is
/// forbidden: sideways and upward imports alike.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("clock", &[]),
    ("sync", &[]),
    ("syntax", &[]),
    ("redaction", &["syntax"]),
    ("script", &["syntax", "redaction"]),
    ("evaluate", &["syntax", "redaction"]),
    ("schedule", &[]),
    ("schema", &["syntax", "redaction", "script", "evaluate", "schedule"]),
    ("alerting", &["evaluate", "schedule"]),
    ("telemetry", &[]),
    ("vault", &["telemetry"]),
    ("net", &["telemetry"]),
    ("protocol", &["syntax", "redaction", "telemetry", "net"]),
    ("webpage", &["telemetry", "net", "protocol"]),
    ("forward_proxy", &["telemetry", "net", "protocol"]),
    ("subprocess", &["telemetry"]),
    ("browser", &["telemetry", "net", "protocol", "forward_proxy", "subprocess"]),
    (
        "probe",
        &[
            "syntax",
            "redaction",
            "script",
            "evaluate",
            "schedule",
            "schema",
            "telemetry",
            "vault",
            "net",
            "protocol",
            "webpage",
            "forward_proxy",
            "subprocess",
            "browser",
        ],
    ),
    ("notify", &["syntax", "redaction", "telemetry", "vault", "net", "protocol"]),
    ("store", &["syntax", "schema", "telemetry"]),
    // The agent runs what the registry builds: the contract of `probe`, never one kind's own module.
    (
        "agent",
        &["syntax", "redaction", "evaluate", "schedule", "schema", "telemetry", "net", "protocol", "probe"],
    ),
    // Of `notify` and `store` the contracts only.
    (
        "catalog",
        &["syntax", "redaction", "evaluate", "schedule", "schema", "alerting", "telemetry", "vault", "store"],
    ),
    (
        "pipeline",
        &[
            "syntax",
            "redaction",
            "evaluate",
            "schedule",
            "schema",
            "alerting",
            "telemetry",
            "vault",
            "notify",
            "store",
            "catalog",
        ],
    ),
    (
        "service",
        &[
            "syntax",
            "redaction",
            "script",
            "evaluate",
            "schedule",
            "schema",
            "alerting",
            "telemetry",
            "vault",
            "notify",
            "store",
            "catalog",
            "pipeline",
        ],
    ),
    // Of `catalog` and `pipeline` the types that `service` returns.
    ("api", &["syntax", "schedule", "schema", "telemetry", "catalog", "pipeline", "service"]),
    ("web", &["syntax", "schedule", "schema", "telemetry", "catalog", "pipeline", "service"]),
    // The built-in targets of the demo and the load harness: they know nothing of monitoring.
    ("targets", &[]),
    ("settings", ANYTHING),
    ("app", ANYTHING),
    ("cli", ANYTHING),
    ("main", ANYTHING),
];

/// The top floor, where everything is wired.
const ANYTHING: &[&str] = &[
    "syntax",
    "redaction",
    "script",
    "evaluate",
    "schedule",
    "schema",
    "alerting",
    "telemetry",
    "vault",
    "net",
    "protocol",
    "webpage",
    "forward_proxy",
    "subprocess",
    "browser",
    "probe",
    "notify",
    "store",
    "agent",
    "catalog",
    "pipeline",
    "service",
    "api",
    "web",
    "targets",
    "settings",
    "app",
    "cli",
];

/// Single imports beyond the table: (module, path that it may name, why). Those below stood on one floor until the
/// modules were moved; each goes when its input is typed.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("pipeline", "service::Accounts", "housekeeping removes what expired of accounts"),
    ("pipeline", "service::resources", "a delivery reads its template"),
];

/// Crates and calls that only some modules may name.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("rusqlite::", &["store"]),
    ("axum::", &["api", "web", "app"]),
    ("clap::", &["cli", "main"]),
    ("anyhow::", &["app", "cli", "main"]),
    ("SystemTime::now", &["clock", "telemetry"]),
    ("prometheus_client::", &["telemetry"]),
    // A library must not choose the allocator of the program that links it.
    ("global_allocator", &["main"]),
    // Locks come from `sync`, which knows no poisoning.
    ("PoisonError", &["sync"]),
    ("parking_lot::", &["sync"]),
];

#[test]
fn modules_import_only_what_their_floor_allows() {
    let mut faults = Vec::new();
    for source in sources() {
        let module = source.module();
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == module) else {
            faults.push(format!("{}: module `{module}` stands on no floor of MAY_IMPORT", source.path));
            continue;
        };
        for import in source.imports() {
            let top = import.split("::").next().unwrap_or_default();
            let known = MAY_IMPORT.iter().any(|(name, _)| *name == top);
            let fine = top == module
                || BASE.contains(&top)
                || allowed.contains(&top)
                || !known
                || excepted(module, &import);
            if !fine {
                faults.push(format!("{}: `{module}` must not import `crate::{import}`", source.path));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn excepted(module: &str, import: &str) -> bool {
    EXCEPTIONS.iter().any(|(from, path, _)| *from == module && import.starts_with(path))
}

#[test]
fn services_and_agents_know_contracts_only_never_what_stands_behind_them() {
    for source in sources() {
        for import in source.imports() {
            let concrete = match source.module() {
                "catalog" | "pipeline" | "service" => {
                    import.starts_with("store::sqlite")
                        || import.starts_with("notify::") && import[8..].starts_with(char::is_lowercase)
                }
                "agent" => {
                    import.starts_with("probe::")
                        && import[7..].starts_with(char::is_lowercase)
                        && !["probe::build", "probe::descriptor"].contains(&import.as_str())
                }
                _ => false,
            };
            assert!(!concrete, "{} names the concrete `crate::{import}`", source.path);
        }
    }
}

#[test]
fn crates_that_belong_to_one_floor_stay_there() {
    for source in sources() {
        for (word, modules) in ONLY_IN {
            let misplaced = source.code.contains(word) && !modules.contains(&source.module());
            assert!(!misplaced, "{}: `{word}` belongs to {modules:?}", source.path);
        }
    }
}

#[test]
fn the_table_of_floors_has_no_module_that_is_gone() {
    let present: BTreeSet<_> = sources().iter().map(|source| source.module().to_owned()).collect();
    for (module, _) in MAY_IMPORT {
        assert!(present.contains(*module), "`{module}` of MAY_IMPORT has no source");
    }
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    for source in sources() {
        let lines = source.text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it", source.path);
    }
}

#[test]
fn every_module_says_what_it_is() {
    for source in sources() {
        let first = source.text.lines().next().unwrap_or_default();
        let words = first.trim_start_matches("//!").split_whitespace().count();
        assert!(first.starts_with("//! ") && words >= 3, "{} does not begin with what it is", source.path);
    }
}

#[test]
fn every_type_has_an_example_that_loads_and_is_not_enabled() {
    let registered: BTreeSet<_> = REGISTRY.iter().flat_map(|descriptor| descriptor.kinds).copied().collect();
    assert!(registered.len() >= 5, "only {registered:?} are registered");
    for kind in MonitorType::ALL {
        let path = root().join(format!("config/monitors/{kind}.yaml"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let secrets = |_: SecretAt<'_>| Ok("secret".to_owned());
        let found = load(&[(kind.to_string(), text)], Keys::Required, &Surroundings::default(), &secrets);
        assert!(found.faults.is_empty(), "{kind}: {:?}", found.faults);
        let own: Vec<_> = found.monitors.iter().filter(|monitor| monitor.document.kind() == *kind).collect();
        assert!(!own.is_empty(), "{} has no monitor of its type", path.display());
        assert!(own.iter().all(|monitor| !monitor.document.flag("enabled")), "{kind} is enabled");
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

/// Paths in back-ticks or links whose first part is a folder of this repository.
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

#[test]
fn the_import_reader_sees_every_form() {
    let source = Source::of(
        "src/net/dial.rs",
        "//! use crate::api::Comment;\nuse crate::{clock::Clock, domain::{Phase, Status}};\n\
         use crate::protocol;\nfn f() { crate::store::open(); }\n// crate::agent::No\n",
    );
    let imports: Vec<_> = source.imports().into_iter().collect();
    assert_eq!(imports, ["clock::Clock", "domain", "protocol", "store::open"]);
    assert_eq!(source.module(), "net");
    for (path, code, import) in [
        ("src/net/dial.rs", "use super::super::store::open;", Some("store::open")),
        ("src/net/dial.rs", "use super::timed::Timed;", None),
        ("src/net/mod.rs", "use super::api;\n#[cfg(test)]\nmod tests { use super::protocol; }", Some("api")),
        ("src/net/tls/mod.rs", "use super::super::{web, protocol::http};", Some("protocol::http")),
    ] {
        let found = Source::of(path, code).imports().first().cloned();
        assert_eq!(found.as_deref(), import, "{path}: {code}");
    }
    assert_eq!(Source::of("src/clock.rs", "//! A clock").module(), "clock");
    assert!(Path::new(&root()).join("Cargo.toml").exists());
}
