//! `vigie self`: what the host lacks, man pages and completions.

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::binary::{err, out, program, vigie};

/// Runs a shell command that has the program as `$0`.
fn shell(script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program()).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.output().unwrap()
}

#[test]
fn a_host_that_lacks_something_is_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("vigie.yaml");
    let data = folder.path().join("data");
    let text = format!("data: {}\nlocation: {{name_servers: [192.0.2.1, 192.0.2.2]}}\n", data.display());
    fs::write(&settings, text).unwrap();
    let config = settings.display();
    let output = shell(&format!("ulimit -n 100; exec \"$0\" self check --json --config {config}"));
    assert_eq!(output.status.code(), Some(1), "{}{}", out(&output), err(&output));
    let needs: Vec<Value> = serde_json::from_str(&out(&output)).unwrap();
    let need = |name: &str| needs.iter().find(|need| need["name"] == name).unwrap();
    let names: Vec<_> = needs.iter().map(|need| need["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["ping", "clock", "name servers", "certificates", "open files", "disk", "IPv6", "browsers"]
    );
    assert_eq!(need("open files")["state"], "lacking");
    assert_eq!(need("open files")["detail"], "at most 100, fewer than 4096");
    assert!(need("open files")["hint"].as_str().unwrap().contains("LimitNOFILE="));
    assert_eq!(need("name servers")["detail"], "2 of the settings");
    assert!(need("disk")["detail"].as_str().unwrap().contains(data.to_str().unwrap()));
    for need in needs.iter().filter(|need| need["state"] != "ready") {
        assert!(need["hint"].is_string(), "{need}");
    }
    // For people, with the same answers.
    let output = shell(&format!("ulimit -n 100; exec \"$0\" self check --config {config}"));
    let lines = out(&output);
    assert!(
        lines.contains("\nopen files    lacking  at most 100") && lines.contains("  hint: raise it"),
        "{lines}"
    );
    let without_browsers = shell(&format!("PATH=/nowhere; exec \"$0\" self check --config {config}"));
    assert!(out(&without_browsers).contains("\nbrowsers      absent "), "{}", out(&without_browsers));
    // No authority of the system, as in an empty container.
    let without = shell(&format!(
        "SSL_CERT_FILE=/dev/null SSL_CERT_DIR=/nowhere; export SSL_CERT_FILE SSL_CERT_DIR; exec \"$0\" self check --config {config}"
    ));
    let lines = out(&without);
    assert!(lines.contains("\ncertificates  absent ") && lines.contains(" of Mozilla are used"), "{lines}");
    assert!(!data.exists(), "the check changes nothing");
}

#[test]
fn man_pages_and_completions_have_every_command_that_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man");
    let output = vigie(&["self", "man", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{}", err(&output));
    let count = fs::read_dir(&pages).unwrap().count();
    assert_eq!(out(&output), format!("{count} man pages in `{}`\n", pages.display()));
    let page =
        |name: &str| fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("vigie.1").contains("check something now"));
    let add = page("vigie-hosts-add.1");
    assert!(add.contains(".TH vigie-hosts-add 1") && add.contains("report\\-seconds"), "{add}");
    assert!(!pages.join("vigie-script-host.1").exists(), "hidden commands have no page");

    for (shell_name, mark) in
        [("bash", "complete -F _vigie"), ("zsh", "#compdef vigie"), ("fish", "complete -c vigie")]
    {
        let output = vigie(&["self", "completions", shell_name]);
        assert!(out(&output).contains(mark), "{shell_name}");
    }
    let syntax = shell("\"$0\" self completions bash | bash -n");
    assert!(syntax.status.success(), "{}", err(&syntax));
    assert_eq!(vigie(&["self", "completions", "tcsh"]).status.code(), Some(2));
    let unwritable = vigie(&["self", "man", "/proc/nowhere"]);
    assert!(
        unwritable.status.code() == Some(1) && err(&unwritable).contains("/proc/nowhere"),
        "{}",
        err(&unwritable)
    );
}
