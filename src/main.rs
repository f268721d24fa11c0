//! The `vigie` binary: parse, call, exit code.

fn main() {}
