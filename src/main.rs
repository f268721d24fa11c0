//! The `vigie` binary: its allocator; parse, call, exit code.

use std::process::ExitCode;

/// The system's allocator keeps an arena for each of the threads that take turns at the work, and what is
/// freed in one is not used by another: a server's memory would creep up for hours.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    vigie::cli::run(std::env::args_os())
}
