//! The `vigie` binary: parse, call, exit code.

use std::process::ExitCode;

/// Checks allocate on one thread and free on another. The allocator of libc keeps that memory in its arenas; this one
/// gives it back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    vigie::cli::run(std::env::args_os())
}
