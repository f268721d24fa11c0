//! What a run sent, and what its tests said, in the form that both tools are compared in.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigie::domain::{Observation, StepTestOutcome};

use crate::probe_api::service::Request;

/// Header fields that differ from run to run, or by tool.
const LEFT_OUT: [&str; 3] = ["user-agent", "postman-token", "host"];

/// Returns method, target, header fields and body of each request. Boundaries, ports, and what depends on time or chance
/// are replaced.
pub fn wire(requests: &[Request], port: u16) -> Value {
    let to_json = |request: &Request| {
        let boundary = request
            .header("Content-Type")
            .and_then(|value| value.split_once("boundary=").map(|(_, boundary)| boundary.to_owned()));
        let stable = |text: &str| {
            let text = text.replace(&format!("127.0.0.1:{port}"), "HOST");
            boundary.iter().fold(text, |text, boundary| text.replace(boundary, "BOUNDARY"))
        };
        let mut headers: Vec<(String, String)> = request
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), stable(value.trim())))
            .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
            .map(|(name, value)| match name.as_str() {
                "x-amz-date" => (name, "DATE".to_owned()),
                "content-length" if boundary.is_some() => (name, "LENGTH".to_owned()),
                "authorization" => (name, stable_login(&value)),
                _ => (name, value),
            })
            .collect();
        headers.sort();
        json!({"method": request.method, "target": stable(&request.target), "headers": headers, "body": stable(&request.body)})
    };
    requests.iter().map(to_json).collect()
}

fn stable_login(value: &str) -> String {
    if value.starts_with("Digest ") {
        return "Digest".to_owned();
    }
    // The scope begins with the date, and the signature covers the time.
    match (value.strip_prefix("AWS4-HMAC-SHA256 Credential=AK/"), value.rsplit_once("Signature=")) {
        (Some(rest), Some(_)) => {
            format!("AWS4 {}", rest.split(", Signature").next().unwrap().get(9..).unwrap())
        }
        _ => value.to_owned(),
    }
}

/// Returns name and verdict of each test, as `newman::run` does.
pub fn verdicts(observation: &Observation) -> Value {
    let mut by_request: Vec<(String, BTreeMap<&str, &str>)> = Vec::new();
    for step in &observation.details.steps {
        let tests: BTreeMap<&str, &str> = step
            .tests
            .iter()
            .map(|test| {
                let verdict = match test.outcome {
                    StepTestOutcome::Passed => "passed",
                    StepTestOutcome::Failed => "failed",
                    StepTestOutcome::Skipped => "skipped",
                };
                (test.name.as_str(), verdict)
            })
            .collect();
        if !tests.is_empty() {
            let name = step.name.rsplit(" / ").next().unwrap().to_owned();
            by_request.push((name, tests));
        }
    }
    json!(by_request)
}
