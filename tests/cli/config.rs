//! `vigie config check` and `vigie fields`.

use crate::support::binary::{err, out, vigie};

#[test]
fn errors_have_positions_and_set_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("monitors.yaml");
    let text = "- key: a\n  type: tcp\n  name: x\n  billing_plancode: p\n  hostname: h.test\n  port: 0\n  intervall: 5\n";
    std::fs::write(&path, text).unwrap();
    for argument in [path.to_str().unwrap(), folder.path().to_str().unwrap()] {
        let output = vigie(&["config", "check", argument]);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        let output_text = out(&output);
        assert!(output_text.contains("monitors.yaml:6:"), "{output_text}");
        assert!(output_text.contains("monitors.yaml:7:3: "), "{output_text}");
        assert!(output_text.contains("did you mean `interval`?"), "{output_text}");
        assert!(output_text.ends_with("2 errors\n"), "{output_text}");
    }
    std::fs::write(&path, text.replace("port: 0\n  intervall: 5", "port: 1")).unwrap();
    let output = vigie(&["config", "check", path.to_str().unwrap()]);
    assert_eq!(
        (output.status.code(), out(&output).as_str()),
        (Some(0), "no errors in the settings and 1 monitor\n")
    );
}

#[test]
fn a_settings_file_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.yaml");
    std::fs::write(&path, "listne: 127.0.0.1:1\n").unwrap();
    let output = vigie(&["config", "check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("vigie.yaml:1:1: "), "{}", out(&output));
    assert!(out(&output).contains("`listen`"), "{}", out(&output));
}

#[test]
fn a_folder_may_hold_settings_and_monitors() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("monitors")).unwrap();
    // The second location exists only in the settings of the folder.
    write("vigie.yaml", "locations:\n- {id: 7, name: Lyon}\nlog: {level: info}\n");
    let monitor = "- key: a\n  type: tcp\n  name: x\n  billing_plancode: p\n  hostname: h.test\n  port: 1\n";
    write("monitors/shop.yaml", &format!("{monitor}  locations: [{{id: 7}}]\n  home_location: 7\n"));
    let check = || vigie(&["config", "check", folder.path().to_str().unwrap()]);
    let output = check();
    assert_eq!(
        (output.status.code(), out(&output).as_str()),
        (Some(0), "no errors in the settings and 1 monitor\n"),
        "{}",
        err(&output)
    );
    write("vigie.yaml", "log: {level: info}\nlistne: 1\n");
    let output = check();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out(&output).contains("vigie.yaml:2:1: ") && out(&output).contains("`listen`"),
        "{}",
        out(&output)
    );
}

#[test]
fn fields_are_listed_from_the_table() {
    let output = vigie(&["fields"]);
    assert_eq!(out(&output).lines().count(), 22, "{}", out(&output));
    let output = vigie(&["fields", "website"]);
    assert!(out(&output).contains("keyword_string"), "{}", out(&output));
    let output = vigie(&["fields", "website", "timeout"]);
    assert!(out(&output).contains("default  30"), "{}", out(&output));
    let output = vigie(&["fields", "website", "timeuot"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("did you mean `timeout`?"), "{}", err(&output));
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [
        vec!["serve"],
        vec!["check"],
        vec!["config", "check"],
        vec!["results"],
        vec!["monitors"],
        vec!["fields"],
        vec!["load"],
    ] {
        let output = vigie(&[command.clone(), vec!["--help"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert!(out(&output).contains("Examples:\n  vigie "), "{command:?}: {}", out(&output));
    }
    assert_eq!(vigie(&["no-such-command"]).status.code(), Some(2));
}

#[test]
fn the_shipped_configuration_is_valid() {
    for path in ["config/vigie.yaml", "config/monitors", "config/demo"] {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let output = vigie(&["config", "check", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    }
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    command.env("VIGIE_CONFIG", "").args(["config", "check"]).current_dir(folder.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    command.env("VIGIE_CONFIG", "no/such.yaml").args(["config", "check"]);
    assert!(out(&command.output().unwrap()).contains("no/such.yaml: cannot be read"));
}
