//! Resource usage of the process, read when metrics are collected. Names are those of every Prometheus client library.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
use nix::unistd::{SysconfVar, sysconf};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Reads `/proc/self`; values that the host does not provide are left out.
#[derive(Debug)]
pub(super) struct ProcessCollector {
    start_time_s: f64,
}

impl ProcessCollector {
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start_time_s: now.as_secs_f64() }
    }
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        encode_gauge(
            &mut encoder,
            "process_start_time_seconds",
            "Start of the process, Unix time",
            self.start_time_s,
        )?;
        if let Some(bytes) = resident_bytes() {
            encode_gauge(&mut encoder, "process_resident_memory_bytes", "Memory in use", bytes)?;
        }
        if let Ok(fd_entries) = fs::read_dir("/proc/self/fd") {
            encode_gauge(
                &mut encoder,
                "process_open_fds",
                "Open file descriptors",
                fd_entries.count() as f64,
            )?;
        }
        if let Ok((soft_limit, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
            encode_gauge(
                &mut encoder,
                "process_max_fds",
                "File descriptors that may be open",
                soft_limit as f64,
            )?;
        }
        if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
            let cpu_seconds = usage.user_time().tv_sec() as f64
                + usage.system_time().tv_sec() as f64
                + (usage.user_time().tv_usec() + usage.system_time().tv_usec()) as f64 / 1e6;
            let counter = ConstCounter::new(cpu_seconds);
            let kind = counter.metric_type();
            let help = "Processor time used, user and system";
            counter.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, kind)?)?;
        }
        Ok(())
    }
}

fn encode_gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: f64) -> std::fmt::Result {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

fn resident_bytes() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    let page_size = sysconf(SysconfVar::PAGE_SIZE).ok()??;
    Some(pages as f64 * page_size as f64)
}
