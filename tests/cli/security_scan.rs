//! `vigie check security-scan`: what people read, and SARIF.

use std::process::Output;

use serde_json::Value;

use crate::cli::support::Targets;
use crate::support::binary::{err, out, vigie};

/// Runs the binary with a rate of connections that tests need.
fn vigie_with_high_rate(args: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.env("VIGIE_SECURITY_CONNECTIONS_PER_SECOND", "1000").args(args).output().unwrap()
}

#[test]
fn a_scan_prints_grade_and_findings_and_sarif() {
    let targets = Targets::start();
    let url = format!("http://{}/", targets.at().http);
    let port = format!("expected_ports=[{}]", targets.at().http.port());
    // The host itself may scan everything: no allowed target is set.
    let args = ["check", "security-scan", &url, "--set", "timeout=2", "--set", &port];
    let output = vigie_with_high_rate(&args);
    let text = out(&output);
    assert!(text.contains("\n  grade       "), "{text}{}", err(&output));
    assert!(text.contains("https-missing: The site is served without TLS"), "{text}");
    assert!(text.contains("Serve the site over https, and redirect http to it."), "{text}");
    assert!(!err(&output).contains("allowed_targets"), "{}", err(&output));

    let output = vigie_with_high_rate(&[&args[..], &["--format", "sarif"]].concat());
    let sarif: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    let missing = results.iter().find(|result| result["ruleId"] == "https-missing").unwrap();
    assert_eq!(
        (&missing["level"], &missing["properties"]["severity"]),
        (&"warning".into(), &"medium".into())
    );
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let output = vigie_with_high_rate(&[&args[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(json["facts"]["findings"].as_array().unwrap().len(), results.len());
    assert_eq!(json["facts"]["grade"], run["properties"]["grade"]);
}

#[test]
fn a_scan_that_could_not_be_made_is_no_good_sarif() {
    let closed = crate::support::closed::ClosedPort::new();
    let url = format!("http://127.0.78.9:{}/", closed.at.port());
    let args = ["check", "security-scan", &url, "--set", "retry_on_failure=false", "--format", "sarif"];
    let output = vigie_with_high_rate(&args);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let sarif: Value = serde_json::from_str(&out(&output)).unwrap();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let text = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(text.contains("refused the connection"), "{text}");
}

#[test]
fn sarif_is_for_scans_alone() {
    let output = vigie(&["check", "website", "http://127.0.0.1/", "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(3));
    let text = err(&output);
    assert!(text.contains("`--format sarif` is for `security-scan`, not for `website`"), "{text}");
    let output = vigie(&["check", "security-scan", "127.0.0.1", "--json", "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(3), "{}", err(&output));
}
