//! Runs scripts of others in QuickJS: without files, network, processes, environment or clock beyond `Date`, with limits
//! on time, memory, stack and output.
//!
//! A script runs in turns. Between two turns the host answers what the script asked for: requests, cookies, timers. The
//! script's side of this is JavaScript of our own in `js/`, which also provides `pm` and its older forms.

mod bootstrap;
mod outcome;
mod script_host;
mod script_sandbox;
mod time_limit;
mod turn_limits;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod library_tests;
#[cfg(test)]
mod sandbox_tests;

pub use outcome::{
    ConsoleLine, CookieAction, NextRequest, Operation, OperationKind, ScopeEntries, ScopeValues, ScriptError,
    ScriptOutcome, ScriptTest, Turn,
};
pub use script_host::{HostRequest, MAX_LINE_BYTES, serve_scripts};
pub use script_sandbox::{DynamicValues, MAX_MEMORY_BYTES, SCRIPT_TIME_LIMIT, ScriptSandbox};
pub use turn_limits::parse_reply;
