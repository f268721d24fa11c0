//! Runs the built binary and reads its output.

use std::ffi::OsString;
use std::process::Output;

/// Returns the program that the tests run: the one built with them, or that of `CARGO_BIN_EXE_vigie` in the environment.
pub fn program() -> OsString {
    std::env::var_os("CARGO_BIN_EXE_vigie").unwrap_or_else(|| env!("CARGO_BIN_EXE_vigie").into())
}

/// Runs the binary with `args`, without any `VIGIE_` environment variables.
pub fn vigie(args: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.args(args).output().unwrap()
}

/// Runs the binary as a client of the server at `url` with `token`, while the test serves it.
pub async fn vigie_at(url: &str, token: &str, args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_vigie"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    command.env("VIGIE_SERVER", url).env("VIGIE_TOKEN", token);
    command.args(args).kill_on_drop(true).output().await.unwrap()
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
