//! The `vigie` binary: parse, call, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    vigie::cli::run(std::env::args_os())
}
