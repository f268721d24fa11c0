//! The processor time of a check at an agent, compared with that of a server that runs its checks itself: `vigie load`
//! with one agent and without agents in turn, with the same monitors. `cargo bench --bench agent_cpu`; with `-- --quick`
//! shorter. Needs `nats-server`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

use std::process::Command;

use serde_json::Value;

/// Pairs of runs.
const PAIRS: usize = 5;
/// What the ratio should not exceed.
const LIMIT: f64 = 1.05;

fn main() {
    let duration = if std::env::args().any(|argument| argument == "--quick") { "10" } else { "30" };
    for kind in ["tcp", "website"] {
        let mut ratios: Vec<f64> = (0..PAIRS).map(|_| measure_pair(kind, duration)).collect();
        ratios.sort_by(f64::total_cmp);
        println!("{kind}: {:.2} times the CPU of a server, at most {LIMIT}", ratios[PAIRS / 2]);
    }
}

/// Returns the ratio of one run with an agent and one without.
fn measure_pair(kind: &str, duration: &str) -> f64 {
    let agent = load(kind, duration, &["--agents", "1", "--monitors-per-agent", "5000"]);
    let server = load(kind, duration, &["--monitors", "5000"]);
    let (agent_us, server_us) =
        (number(&agent, "agents_cpu_us_per_check"), number(&server, "cpu_us_per_check"));
    println!("  {kind}: agent {agent_us:.1} µs, server {server_us:.1} µs");
    agent_us / server_us
}

fn load(kind: &str, duration: &str, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["load", "--interval", "5", "--type", kind, "--duration", duration, "--json"])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((number(&figures, "missed"), number(&figures, "not_ok")), (0.0, 0.0), "{figures}");
    figures
}

fn number(figures: &Value, key: &str) -> f64 {
    figures[key].as_f64().unwrap_or_else(|| panic!("{key} is missing: {figures}"))
}
