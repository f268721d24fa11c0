//! An agent on a host of its own, with a disk that can be full and a clock that can be wrong.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use super::ballast::Ballast;
use crate::agents::network::{AgentProcess, Host, enrol};
use crate::support::binary::program;
use crate::support::small_disk::SmallDisk;

/// MiB of the spool of an agent that can be filled, and of the others: what is committed stays there for 10 minutes.
const SMALL_SPOOL: &str = "1";
const SPOOL: &str = "8";
/// Where Debian's package `faketime` has its library.
const FAKE_CLOCK: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
/// The disk of an agent.
const DISK: &str = "12m";

pub struct AgentHost {
    pub host: Host,
    pub process: AgentProcess,
    spool_mib: &'static str,
    /// What its clock is ahead, as libfaketime reads it; only with a clock that can be wrong.
    clock_file: Option<PathBuf>,
    _disk: SmallDisk,
}

impl AgentHost {
    /// Enrols an agent with `secret` and starts it on a new host.
    pub fn start(number: u8, url: &str, secret: &str, has_fake_clock: bool, has_small_spool: bool) -> Self {
        let host = Host::new(number);
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let disk = SmallDisk::mount(&data, DISK).expect("a test in a mount namespace may mount");
        enrol(url, secret, folder.path());
        // Without it, the loader would warn, and the clock be right.
        assert!(!has_fake_clock || Path::new(FAKE_CLOCK).exists(), "the package `faketime` is installed");
        let clock_file = has_fake_clock.then(|| folder.path().join("clock"));
        if let Some(file) = &clock_file {
            fs::write(file, "+0").unwrap();
        }
        let spool_mib = if has_small_spool { SMALL_SPOOL } else { SPOOL };
        let process = AgentProcess::spawn(folder, &host, &settings(spool_mib, clock_file.as_ref()));
        let mut agent = Self { host, process, spool_mib, clock_file, _disk: disk };
        agent.process.daemon.wait_for_log("the agent runs");
        agent
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        self.process.daemon.signal(Signal::SIGKILL);
        self.process.daemon.wait_for_exit();
    }

    /// Starts the process again over its data.
    pub fn start_again(&mut self) {
        self.start_again_as(&program());
    }

    /// Has the process end in an orderly way.
    pub fn begin_to_end(&self) {
        self.process.daemon.signal(Signal::SIGTERM);
    }

    /// Waits until the process has ended, and has `program` go on over its data.
    pub fn go_on_as(&mut self, program: &OsStr) {
        self.process.daemon.wait_for_exit();
        self.start_again_as(program);
    }

    fn start_again_as(&mut self, program: &OsStr) {
        let settings = settings(self.spool_mib, self.clock_file.as_ref());
        self.process.start_again_as(program, &self.host, &settings);
    }

    /// Returns the last bytes of its log, and the files of its data with their bytes.
    pub fn end_of_log(&mut self, bytes: usize) -> String {
        let data = self.process.daemon.folder.path().join("data");
        let files =
            Command::new("find").arg(data).args(["-type", "f", "-printf", "%s %P\n"]).output().unwrap();
        let log = self.process.daemon.log_text();
        let end = &log[log.floor_char_boundary(log.len().saturating_sub(bytes))..];
        format!("{}{end}", String::from_utf8_lossy(&files.stdout))
    }

    /// Fills its disk until the return value is dropped.
    pub fn fill_disk(&self) -> Ballast {
        Ballast::fill(&self.process.daemon.folder.path().join("data"))
    }

    /// Sets how many seconds its clock is ahead.
    pub fn set_clock(&self, seconds: i64) {
        let file = self.clock_file.as_ref().expect("an agent with a clock that can be wrong");
        // The library may read it at any moment: it is there as a whole or as it was.
        let new = file.with_extension("new");
        fs::write(&new, format!("{seconds:+}")).unwrap();
        fs::rename(new, file).unwrap();
    }
}

fn settings<'a>(spool_mib: &'static str, clock_file: Option<&'a PathBuf>) -> Vec<(&'static str, &'a str)> {
    let mut settings = vec![("VIGIE_STORE_SPOOL_MIB", spool_mib)];
    if let Some(file) = clock_file {
        settings.extend([
            ("LD_PRELOAD", FAKE_CLOCK),
            ("FAKETIME_TIMESTAMP_FILE", file.to_str().unwrap()),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ]);
    }
    settings
}
