//! The floors of the crate: who may import whom, lowest floor first.

use super::imports::Edge;
use super::modules::Modules;

/// Floor 0, which everybody may import.
pub const BASE: &[&str] = &["domain", "clock", "sync"];

/// Every module with what it may import beside [`BASE`]. A name stands for that module, `*` for all that stand above
/// the line. What a line leaves out is forbidden: sideways and upward imports alike.
pub const FLOORS: &[(&str, &str)] = &[
    ("domain", ""),
    ("sync", ""),
    ("clock", ""),
    ("manual", ""),
    // Floor 1: pure.
    ("syntax", ""),
    ("redaction", "syntax"),
    ("script", "syntax redaction"),
    ("evaluate", "syntax redaction"),
    ("schedule", ""),
    ("schema", "syntax redaction script evaluate schedule"),
    ("alerting", "evaluate schedule"),
    // Floor 2: the network and foreign processes.
    ("telemetry", ""),
    ("vault", "telemetry"),
    ("net", "telemetry"),
    ("protocol", "syntax redaction telemetry net"),
    ("webpage", "telemetry net protocol"),
    ("forward_proxy", "telemetry net protocol"),
    ("subprocess", "telemetry"),
    ("browser", "telemetry net protocol forward_proxy subprocess"),
    // Floor 3.
    (
        "probe",
        "syntax redaction script evaluate schedule schema telemetry vault net protocol webpage forward_proxy \
         subprocess browser",
    ),
    ("notify", "syntax redaction telemetry vault net protocol"),
    ("store", "syntax schema telemetry"),
    // Floor 4.
    ("agent", "syntax redaction evaluate schedule schema telemetry net protocol probe"),
    // Floor 5.
    ("catalog", "syntax redaction evaluate schedule schema alerting telemetry vault store"),
    ("pipeline", "syntax redaction evaluate schedule schema alerting telemetry vault notify store catalog"),
    (
        "service",
        "syntax redaction script evaluate schedule schema alerting telemetry vault notify store catalog pipeline",
    ),
    // Floor 6.
    ("api", "syntax redaction schedule schema telemetry service"),
    ("web", "manual syntax redaction schedule schema telemetry service"),
    // Floor 7. The built-in targets of demo and load know nothing of monitoring.
    ("targets", ""),
    ("settings", "*"),
    ("app", "*"),
    ("cli", "*"),
    ("main", "*"),
];

/// Of these modules a user on floors 4 and 5 may import what stands below one of the paths, never what implements it.
const CONTRACTS: &[(&str, &str, &[&str])] = &[
    ("agent", "probe", &["contract", "registry"]),
    ("catalog", "store", &["contract"]),
    ("pipeline", "store", &["contract"]),
    ("pipeline", "notify", &["contract", "send_error", "templates"]),
    ("service", "store", &["contract"]),
    ("service", "notify", &["contract", "send_error", "templates"]),
];

/// What `importer` may import, as the line of the table says.
fn allows(line: usize, wanted: &str) -> bool {
    let (importer, allowed) = FLOORS[line];
    let below = || FLOORS[..line].iter().any(|(name, _)| *name == wanted);
    importer == wanted
        || BASE.contains(&wanted) && below()
        || allowed.split_whitespace().any(|name| name == wanted || name == "*" && below())
}

/// The imports of `modules` that the table forbids, a line each.
pub fn faults(modules: &Modules) -> Vec<String> {
    let mut errors: Vec<String> = modules.edges().iter().filter_map(|edge| fault(modules, edge)).collect();
    errors.sort();
    errors.dedup();
    errors
}

fn fault(modules: &Modules, edge: &Edge) -> Option<String> {
    let file = &modules.by_path[&edge.from].file;
    let importer = edge.from.first()?;
    let Some(line) = FLOORS.iter().position(|(name, _)| name == importer) else {
        return Some(format!("{file}: `{importer}` stands on no floor"));
    };
    let target = &edge.target.module;
    // The module that the path names, and the one that defines what it names.
    let named = edge.written.strip_prefix("crate::").and_then(|rest| rest.split("::").next());
    for wanted in target.first().map(String::as_str).into_iter().chain(named) {
        let known = FLOORS.iter().any(|(name, _)| *name == wanted);
        if known && !allows(line, wanted) {
            let definer = target.join("::");
            return Some(format!("{file}: `{importer}` must not import `{}` (of `{definer}`)", edge.written));
        }
    }
    // Tests may set up the real thing.
    if edge.in_tests {
        return None;
    }
    let contract = CONTRACTS
        .iter()
        .find(|(user, of, _)| user == importer && target.first().is_some_and(|top| top == of));
    let (_, _, allowed) = contract?;
    let part = target.get(1)?;
    let concrete = !allowed.contains(&part.as_str());
    concrete.then(|| format!("{file}: `{}` is none of the contract of `{}`", edge.written, target[0]))
}
