//! `vigie script-host`: runs scripts of collections for a location, in a process that it can end.

use std::io::BufReader;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::resource::{RLIM_INFINITY, Resource, UsageWho, getrusage, setrlimit};
use nix::sys::signal::{SigSet, Signal};

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::collection::dynamic_value;
use crate::domain::Timestamp;
use crate::sandbox::serve_scripts;

/// Memory of the process, in bytes: several times what scripts may use.
const MAX_DATA_BYTES: u64 = 512 * 1024 * 1024;
/// Time by which a turn may exceed its own limit, in seconds; the kernel ends the process then.
const EXTRA_CPU_SECONDS: u64 = 5;

/// Run scripts that come as lines of JSON, until standard input closes
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    // The location ends this process when it is done: checks that run go on while it stops itself.
    let signals = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];
    SigSet::from_iter(signals).thread_block()?;
    // When memory is short, the kernel ends this process rather than the location. Elsewhere than on Linux there is no such file.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    // Scripts open no files; three are standard input, output and errors. Where a unit of systemd refuses to change limits,
    // those of the engine and of the location remain.
    for (resource, limit) in [
        (Resource::RLIMIT_DATA, MAX_DATA_BYTES),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_NOFILE, 8),
    ] {
        let _ = setrlimit(resource, limit, limit);
    }
    nix::sys::prctl::set_no_new_privs()?;
    drop_capabilities();
    let dynamic_values = |now_us: i64| -> crate::sandbox::DynamicValues {
        Arc::new(move |name| dynamic_value(name, Timestamp::from_micros(now_us)))
    };
    serve_scripts(
        BufReader::new(std::io::stdin()),
        std::io::stdout(),
        &limit_processor_time,
        &dynamic_values,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Gives up what this user or a unit grants it: scripts need no rights. The units of Vigie refuse the call; there, the right
/// to open raw sockets remains.
fn drop_capabilities() {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    let _ = rustix::thread::clear_ambient_capability_set();
    let _ = rustix::thread::set_capabilities(None, sets);
}

/// Has the kernel end this process when a turn of at most `most` takes much longer: also when the location that would do so
/// is gone.
fn limit_processor_time(most: Duration) {
    let used = getrusage(UsageWho::RUSAGE_SELF)
        .map_or(0, |usage| usage.user_time().tv_sec() + usage.system_time().tv_sec());
    let limit = used.unsigned_abs() + most.as_secs() + EXTRA_CPU_SECONDS;
    // Without the limit, the location still ends the process.
    let _ = setrlimit(Resource::RLIMIT_CPU, limit, RLIM_INFINITY);
}
