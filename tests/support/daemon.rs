//! Daemons packaged by Debian that tests start and stop themselves.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Whether `program` is installed.
pub fn has(program: &str) -> bool {
    ["/usr/sbin", "/usr/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Ports below those that Linux gives to connections and to listeners that ask for any (`ip_local_port_range`).
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// Returns a free port for a daemon that needs a fixed one. No connection of another test gets it meanwhile.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let chance = RandomState::new();
    let free = |port| {
        let at = ("127.0.0.1", port);
        GIVEN.lock().unwrap().insert(port) && TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok()
    };
    // Random, so that other test processes choose different ports.
    (0..10_000_u64)
        .map(|turn| PORTS.start + u16::try_from(chance.hash_one(turn) % PORTS.len() as u64).unwrap())
        .find(|&port| free(port))
        .expect("a port that nobody has")
}

/// Creates a folder that daemons can still read after they dropped their privileges.
pub fn open_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Waits until `port` accepts connections.
pub fn wait_for(port: u16) {
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "nothing listens at {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that runs in the foreground until it is dropped.
pub struct Daemon {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Daemon {
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Returns the next line of output that `matches`.
    pub fn line(&self, matches: impl Fn(&str) -> bool) -> String {
        self.try_line(matches).expect("such a line in time")
    }

    /// Like [`Daemon::line`]; an error when the program ended, or took too long.
    pub fn try_line(&self, matches: impl Fn(&str) -> bool) -> Result<String, RecvTimeoutError> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))?;
            if matches(&line) {
                return Ok(line);
            }
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM);
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
