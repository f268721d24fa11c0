//! The layers of the crate: who may import whom, from the lowest layer up.

use super::imports::Edge;
use super::modules::Modules;

/// Layer 0, which every module may import.
pub const BASE: &[&str] = &["domain", "clock", "sync"];

/// Every module with what it may import besides [`BASE`]. A name stands for that module, `*` for all modules above
/// the line. Anything else is forbidden, both from the same layer and from higher ones.
pub const LAYERS: &[(&str, &str)] = &[
    ("domain", ""),
    ("sync", ""),
    ("clock", ""),
    ("manual", ""),
    // Layer 1: pure.
    ("syntax", ""),
    ("redaction", "syntax"),
    ("script", "syntax redaction"),
    ("collection", "syntax redaction"),
    ("sandbox", ""),
    ("evaluate", "syntax redaction"),
    ("project", "syntax redaction script"),
    ("schedule", ""),
    ("schema", "syntax redaction script collection evaluate project schedule"),
    ("alerting", "evaluate schedule"),
    ("texts", ""),
    // Layer 2: the network and foreign processes.
    ("telemetry", "redaction"),
    ("vault", "telemetry"),
    ("spool", "telemetry"),
    ("net", "telemetry"),
    ("protocol", "syntax redaction telemetry net"),
    ("webpage", "telemetry net protocol"),
    ("forward_proxy", "telemetry net protocol"),
    ("subprocess", "telemetry"),
    ("browser", "telemetry net protocol forward_proxy subprocess"),
    // Layer 3.
    (
        "probe",
        "syntax redaction script collection sandbox evaluate project schedule schema telemetry vault net protocol \
         webpage forward_proxy subprocess browser",
    ),
    ("notify", "syntax redaction texts telemetry vault net protocol"),
    ("export", "syntax redaction telemetry vault net protocol"),
    ("store", "syntax schema telemetry"),
    ("bus", "schedule schema telemetry"),
    // Layer 4.
    ("agent", "syntax redaction evaluate schedule schema telemetry vault spool net protocol probe bus"),
    ("hostagent", "syntax telemetry spool net protocol"),
    // Layer 5.
    ("catalog", "syntax redaction evaluate schedule schema texts alerting telemetry vault store"),
    (
        "pipeline",
        "syntax redaction evaluate schedule schema texts alerting telemetry vault spool notify store bus catalog",
    ),
    (
        "service",
        "syntax redaction script evaluate schedule schema texts alerting telemetry vault notify export store bus catalog \
         pipeline",
    ),
    // Layer 6.
    ("api", "syntax redaction schedule schema telemetry service"),
    ("web", "manual syntax redaction schedule schema texts telemetry service"),
    // Layer 7. The built-in targets of demo and load know nothing of monitoring.
    ("targets", ""),
    ("settings", "*"),
    ("app", "*"),
    ("cli", "*"),
    ("main", "*"),
];

/// User, module, and the parts of that module that the user may import: its contract, never its implementation.
const CONTRACTS: &[(&str, &str, &[&str])] = &[
    ("agent", "probe", &["probe_trait", "registry"]),
    ("agent", "bus", &["contract"]),
    ("catalog", "store", &["contract"]),
    ("pipeline", "store", &["contract"]),
    ("pipeline", "bus", &["contract"]),
    ("pipeline", "notify", &["outgoing_message", "send_error", "templates"]),
    ("service", "store", &["contract"]),
    // Enrolment signs tokens and names subjects; it sends no assignment and no order.
    ("service", "bus", &["contract", "nats"]),
    ("service", "notify", &["outgoing_message", "send_error", "templates"]),
];

/// Whether the module of the table row `line` may import `module_name`.
fn allows(line: usize, module_name: &str) -> bool {
    let (importer, allowed) = LAYERS[line];
    let below = || LAYERS[..line].iter().any(|(name, _)| *name == module_name);
    importer == module_name
        || BASE.contains(&module_name) && below()
        || allowed.split_whitespace().any(|name| name == module_name || name == "*" && below())
}

/// Returns the imports of `modules` that the table forbids, one line each.
pub fn violations(modules: &Modules) -> Vec<String> {
    let mut errors: Vec<String> =
        modules.edges().iter().filter_map(|edge| violation(modules, edge)).collect();
    errors.sort();
    errors.dedup();
    errors
}

fn violation(modules: &Modules, edge: &Edge) -> Option<String> {
    let file = &modules.by_path[&edge.from].file;
    let importer = edge.from.first()?;
    let Some(line) = LAYERS.iter().position(|(name, _)| name == importer) else {
        return Some(format!("{file}: `{importer}` belongs to no layer"));
    };
    let target = &edge.target.module;
    // The module in the path as written, and the module that defines the item.
    let named = edge.written.strip_prefix("crate::").and_then(|rest| rest.split("::").next());
    for module_name in target.first().map(String::as_str).into_iter().chain(named) {
        let known = LAYERS.iter().any(|(name, _)| *name == module_name);
        if known && !allows(line, module_name) {
            let definer = target.join("::");
            return Some(format!("{file}: `{importer}` must not import `{}` (of `{definer}`)", edge.written));
        }
    }
    // Tests may use the implementation.
    if edge.in_tests {
        return None;
    }
    let contract = CONTRACTS
        .iter()
        .find(|(user, of, _)| user == importer && target.first().is_some_and(|top| top == of));
    let (_, _, allowed) = contract?;
    let part = target.get(1)?;
    let concrete = !allowed.contains(&part.as_str());
    concrete.then(|| format!("{file}: `{}` is not in the contract of `{}`", edge.written, target[0]))
}
