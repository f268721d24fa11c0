//! The `vigie` binary: runs the command line and returns its exit code.

use std::process::ExitCode;

/// Checks allocate on one thread and free on another. The allocator of libc keeps that memory in its arenas; this one
/// returns it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    vigie::cli::run(std::env::args_os())
}
