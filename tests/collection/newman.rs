//! newman 6.2.2 on the same collections: pinned by `newman/package-lock.json`, and its recorded results.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::case::{Case, folder};

/// Installs newman into `target/newman` unless it is there.
fn install() -> std::path::PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/newman");
    let program = target.join("node_modules/.bin/newman");
    if !program.exists() {
        std::fs::create_dir_all(&target).unwrap();
        for name in ["package.json", "package-lock.json"] {
            std::fs::copy(folder("newman").join(name), target.join(name)).unwrap();
        }
        let status = Command::new("npm").args(["ci", "--ignore-scripts"]).current_dir(&target).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "npm ci failed: newman needs npm and the internet"
        );
    }
    program
}

/// Runs newman on `case` at `base`; returns the verdicts of its tests, by the number of the run request.
pub fn run(case: &Case, base: &str) -> Value {
    let program = install();
    let work = tempfile::tempdir().unwrap();
    let path = |name: &str| work.path().join(name).to_string_lossy().into_owned();
    let fields = case.fields(base);
    let write = |name: &str, text: &str| std::fs::write(work.path().join(name), text).unwrap();
    write("collection.json", fields["script"].as_str().unwrap());
    write("environment.json", fields["environment"].as_str().unwrap());
    let mut command = Command::new(program);
    command.current_dir(work.path()).args(["run", &path("collection.json"), "-e", &path("environment.json")]);
    if let Some(globals) = fields.get("globals") {
        write("globals.json", globals.as_str().unwrap());
        command.args(["-g", &path("globals.json")]);
    }
    if let Some(data) = fields.get("data") {
        write("data.csv", data.as_str().unwrap());
        command.args(["-d", &path("data.csv")]);
    }
    for file in fields["files"].as_array().unwrap() {
        use base64::Engine as _;
        let content =
            base64::engine::general_purpose::STANDARD.decode(file["base64"].as_str().unwrap()).unwrap();
        std::fs::write(work.path().join(file["name"].as_str().unwrap()), content).unwrap();
    }
    command.args(["-r", "json", "--reporter-json-export", &path("out.json")]);
    command.output().unwrap();
    let report: Value =
        serde_json::from_slice(&std::fs::read(work.path().join("out.json")).unwrap()).unwrap();
    verdicts(&report)
}

/// Returns name and verdict of each test, by the position of its request in the run. Requests without tests are left
/// out, and so are skipped ones.
fn verdicts(report: &Value) -> Value {
    let mut by_request: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    // Each request of an item, such as one of a script or one without a login, is an execution with all of its tests.
    let mut last = (Value::Null, Value::Null);
    for execution in report["run"]["executions"].as_array().unwrap() {
        let mut tests = BTreeMap::new();
        for assertion in execution["assertions"].as_array().into_iter().flatten() {
            let verdict = match (&assertion["skipped"], &assertion["error"]) {
                (Value::Bool(true), _) => "skipped",
                (_, Value::Null) => "passed",
                _ => "failed",
            };
            tests.insert(assertion["assertion"].as_str().unwrap().to_owned(), verdict.to_owned());
        }
        let current = (execution["cursor"]["iteration"].clone(), execution["item"]["id"].clone());
        if std::mem::replace(&mut last, current.clone()) == current {
            by_request.pop_if(|_| !tests.is_empty());
        }
        if !tests.is_empty() {
            by_request.push((execution["item"]["name"].as_str().unwrap().to_owned(), tests));
        }
    }
    json!(by_request)
}
