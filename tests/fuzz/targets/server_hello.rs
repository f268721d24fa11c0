//! Runs the body of the same name on inputs from the fuzzer.
#![no_main]

#[path = "../bodies/server_hello.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
