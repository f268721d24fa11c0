//! Resource usage of this process.

use std::fs;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{SysconfVar, sysconf};

/// Returns the processor time of this process so far, user and system together.
pub(super) fn cpu_time() -> Duration {
    let to_duration = |time: TimeVal| {
        let seconds = u64::try_from(time.tv_sec()).unwrap_or_default();
        let micros = u64::try_from(time.tv_usec()).unwrap_or_default();
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    getrusage(UsageWho::RUSAGE_SELF)
        .map(|usage| to_duration(usage.user_time()) + to_duration(usage.system_time()))
        .unwrap_or_default()
}

/// Returns the resident memory of this process in bytes; 0 without `/proc`.
pub(super) fn resident_bytes() -> u64 {
    let resident_pages = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok())
        .unwrap_or_default();
    let page_bytes = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|size| u64::try_from(size).ok());
    resident_pages * page_bytes.unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_uses_memory_and_time() {
        assert!(resident_bytes() > 1024 * 1024);
        let before = cpu_time();
        while cpu_time() == before {
            std::hint::black_box((0..10_000_u64).sum::<u64>());
        }
        assert!(cpu_time() > before);
    }
}
