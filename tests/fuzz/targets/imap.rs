//! Runs the body of the same name on inputs from the fuzzer.
#![no_main]

#[path = "../bodies/imap.rs"]
mod body;
#[path = "../play.rs"]
#[allow(dead_code, reason = "nobody logs in here")]
mod play;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
