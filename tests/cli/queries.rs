//! `vigie results` and `vigie monitors`, from the database of a run that has ended.

use crate::support::binary::{err, out, vigie};

#[test]
fn results_of_a_database_are_read_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let run =
        ["load", "--monitors", "3", "--interval", "1", "--type", "tcp", "--duration", "1", "--data", data];
    let output = vigie(&run);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));

    let output = vigie(&["results", "--data", data, "--limit", "2", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let results: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 2);
    assert_eq!(results[0]["type"], "tcp");

    let text = out(&vigie(&["results", "--data", data, "--outcome", "ok", "--from", "1h"]));
    assert!(text.starts_with("PLANNED (UTC)") && text.contains("tcp"), "{text}");
    let text = out(&vigie(&["results", "--data", data, "--thru", "2020-01-01"]));
    assert_eq!(text, "0 of 0 results\n");
    assert_eq!(out(&vigie(&["monitors", "--data", data])), "0 of 0 monitors\n");
}

#[test]
fn a_missing_source_is_reported_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let output = vigie(&["results", "--data", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("vigie.db"), "{}", err(&output));
    let closed = crate::support::closed::ClosedPort::new();
    let output = vigie(&["monitors", "--server", &format!("http://{}", closed.at)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("hint: is `vigie serve` running there?"), "{}", err(&output));
    assert_eq!(vigie(&["results", "--server", "nonsense"]).status.code(), Some(2));
}

#[test]
fn the_data_option_overrides_the_server_variable() {
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    command.env("VIGIE_SERVER", "http://127.0.0.1:1").args(["results", "--data", "/nonexistent"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(err(&output).contains("/nonexistent"), "{}", err(&output));
}
