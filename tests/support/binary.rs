//! Runs the built binary and reads its output.

use std::process::Output;

/// Runs the binary with `args`, without any `VIGIE_` environment variables.
pub fn vigie(args: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.args(args).output().unwrap()
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
