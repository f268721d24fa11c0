//! The same requests on the wire and the same verdicts as newman 6.2.2.
//!
//! `VIGIE_FULL=1` runs newman itself and compares with what is recorded; `VIGIE_RECORD_NEWMAN=1` records.

use std::time::Duration;

use serde_json::{Value, json};
use vigie::probe::ProbeBuildContext;

use super::case::{Case, NAMES, folder};
use super::{check, echo, newman, run};

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value == "1")
}

fn recorded(name: &str) -> Value {
    let path = folder("recorded").join(format!("{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

async fn run_newman(case: &Case) -> Value {
    let service = echo::start().await;
    let base = service.url("");
    let case_name = case.name;
    let verdicts =
        tokio::task::spawn_blocking(move || newman::run(&Case::read(case_name), &base)).await.unwrap();
    json!({"requests": run::wire(&service.requests(), service.address.port()), "tests": verdicts})
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_verdicts_are_those_of_newman() {
    let mut differences = Vec::new();
    for name in NAMES {
        let case = Case::read(name);
        let path = folder("recorded").join(format!("{name}.json"));
        if is_set("VIGIE_RECORD_NEWMAN") {
            let text = serde_json::to_string_pretty(&run_newman(&case).await).unwrap();
            std::fs::write(&path, text + "\n").unwrap();
        } else if is_set("VIGIE_FULL") {
            assert_eq!(
                run_newman(&case).await,
                recorded(name),
                "{name}: newman differs from what is recorded"
            );
        }
        let service = echo::start().await;
        let fields = case.fields(&service.url(""));
        let observation =
            check::run_fields(fields, &ProbeBuildContext::default(), Duration::from_mins(1)).await;
        let ours = json!({
            "requests": run::wire(&service.requests(), service.address.port()),
            "tests": run::verdicts(&observation),
        });
        let expected = recorded(name);
        for part in ["requests", "tests"] {
            let (ours, expected) = (ours[part].as_array().unwrap(), expected[part].as_array().unwrap());
            if ours.len() != expected.len() {
                differences.push(format!(
                    "{name}: {} {part}, newman {}: {:?}",
                    ours.len(),
                    expected.len(),
                    observation.failure
                ));
            }
            for (ours, expected) in ours.iter().zip(expected).filter(|(ours, expected)| ours != expected) {
                differences.push(format!("{name}, {part}\n  ours   {ours}\n  newman {expected}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
