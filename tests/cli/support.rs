//! The built binary and targets for it.

use std::process::Output;

use assert_cmd::Command;
use vigie::responder::{Addresses, Responder, ResponderConfig};

/// The binary with `args`, in an environment without settings.
pub fn vigie(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("vigie").unwrap();
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

/// Running targets, on a runtime of their own.
pub struct Targets {
    pub responder: Responder,
    _runtime: tokio::runtime::Runtime,
}

impl Targets {
    pub fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let responder = runtime.block_on(Responder::start(ResponderConfig::default())).unwrap();
        Self { responder, _runtime: runtime }
    }

    pub fn at(&self) -> Addresses {
        self.responder.addresses()
    }
}
