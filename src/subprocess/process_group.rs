//! A driver with its browser: a process group of its own, which is removed completely at the end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;

use super::browser_profile::{BrowserProfile, PROFILE_ENV_VARIABLE};
use super::driver_log::DriverLog;
use super::os_user::OsUser;
use super::procfs::{self, Process};

/// Time for killed processes to exit; they cannot refuse, but the kernel may be slow to free their memory.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two checks whether they have exited.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A program with its arguments and environment.
pub(crate) struct DriverProgram<'a> {
    pub(crate) path: &'a Path,
    pub(crate) arguments: Vec<String>,
    /// Variables in addition to those of every driver.
    pub(crate) extra_environment: Vec<(&'static str, String)>,
}

/// The processes of one browser.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    leader: Pid,
    env_marker: String,
}

impl ProcessGroup {
    /// Starts `program` as the leader of a group, with a clean environment whose home is in `profile`.
    pub(crate) fn spawn(
        program: &DriverProgram<'_>,
        profile: &BrowserProfile,
        run_as: &OsUser,
        niceness: u8,
    ) -> io::Result<(Self, DriverLog)> {
        become_subreaper();
        let (reader, writer) = io::pipe()?;
        let log = DriverLog::new(reader)?;
        let mut command = nice_command(program.path, niceness);
        command
            .args(&program.arguments)
            .env_clear()
            .envs(base_environment(profile))
            .envs(program.extra_environment.iter().map(|(name, value)| (name, value)))
            .current_dir(profile.temp_dir())
            .stdin(Stdio::from(File::open("/dev/null")?))
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        if !run_as.is_current {
            // This drops the supplementary groups of root too.
            command.uid(run_as.uid).gid(run_as.gid);
        }
        // The child is reaped in [`Self::kill_and_wait`], when its descendants are gone.
        let child = command.spawn()?;
        drop(command);
        let leader = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
        Ok((Self { leader, env_marker: profile.env_marker() }, log))
    }

    /// How the driver ended; `None` while it runs. It stays a zombie, so that its id remains the id of the group.
    pub(crate) fn exit_description(&self) -> Option<String> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.leader), flags) {
            Ok(WaitStatus::Exited(_, code)) => Some(format!("ended with code {code}")),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(format!("was ended by {signal}")),
            _ => None,
        }
    }

    /// Process id of the driver, which is the id of the group.
    pub(crate) const fn leader_id(&self) -> i32 {
        self.leader.as_raw()
    }

    /// Kills the group at once; [`Self::kill_and_wait`] finds the processes that left the group.
    pub(crate) fn kill(&self) {
        // Fails only when there is nothing to kill.
        let _ = killpg(self.leader, Signal::SIGKILL);
    }

    /// Kills all processes and waits for their exit; false on a timeout.
    pub(crate) fn kill_and_wait(&self) -> bool {
        self.kill();
        let all_exited = kill_members(Some(self.leader), &self.env_marker);
        // The leader is reaped last, so that the id of the group stays reserved until here.
        all_exited && reap_with_timeout(self.leader)
    }
}

/// Kills the processes of an orphaned browser, found by its `profile`; false when some remain.
pub(crate) fn kill_orphans(profile: &BrowserProfile) -> bool {
    kill_members(None, &profile.env_marker())
}

fn kill_members(leader: Option<Pid>, env_marker: &str) -> bool {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let own_id = i32::try_from(std::process::id()).unwrap_or_default();
    // Once found, a process stays a member, even when its parent exits.
    let mut member_ids = BTreeSet::new();
    loop {
        let processes = procfs::list_processes();
        let members =
            procfs::browser_processes(&processes, leader.map(Pid::as_raw), Some(env_marker.as_bytes()));
        member_ids.extend(members.iter().map(|process| process.id));
        let mut remaining = 0;
        for process in processes.iter().filter(|process| member_ids.contains(&process.id)) {
            let id = Pid::from_raw(process.id);
            if Some(id) == leader && process.is_zombie {
                continue;
            }
            remaining += 1;
            if !process.is_zombie {
                // It may have exited meanwhile.
                let _ = kill(id, Signal::SIGKILL);
            } else if process.is_child_of(own_id) {
                let _ = waitpid(id, Some(WaitPidFlag::WNOHANG));
            } else if leader.is_none() {
                // Another process reaps it.
                remaining -= 1;
            }
        }
        if remaining == 0 {
            reap_inherited_zombies(&processes);
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Waits for a process that was killed; false on a timeout. It becomes a zombie as soon as its first thread ends, some
/// time before it can be reaped.
fn reap_with_timeout(process_id: Pid) -> bool {
    let deadline = Instant::now() + KILL_TIMEOUT;
    while matches!(waitpid(process_id, Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive)) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Reaps the zombies that this process inherited through [`become_subreaper`]. Processes that exit together with their
/// browser, such as crash handlers, cannot be recognised otherwise: a zombie has no environment.
fn reap_inherited_zombies(processes: &[Process]) {
    let own_id = i32::try_from(std::process::id()).unwrap_or_default();
    for process in processes.iter().filter(|process| process.is_zombie && process.is_child_of(own_id)) {
        // Processes that this process starts itself are in its own group, or lead one.
        if process.is_in_foreign_group() {
            let _ = waitpid(Pid::from_raw(process.id), Some(WaitPidFlag::WNOHANG));
        }
    }
}

/// Makes this process the parent of orphaned descendants: the remains of a killed driver must be reaped, and in a
/// container the first process may not do it.
fn become_subreaper() {
    static ONCE: Once = Once::new();
    // If it fails, the first process of the host inherits the zombies.
    ONCE.call_once(|| {
        let _ = set_child_subreaper(true);
    });
}

fn nice_command(program: &Path, niceness: u8) -> Command {
    let nice_program = Path::new("/usr/bin/nice");
    if niceness == 0 || !nice_program.exists() {
        return Command::new(program);
    }
    let mut command = Command::new(nice_program);
    command.arg("-n").arg(niceness.to_string()).arg(program);
    command
}

/// Returns the environment of a driver and its browser: nothing of this process but the time zone and, to show windows,
/// the display.
fn base_environment(profile: &BrowserProfile) -> Vec<(String, std::ffi::OsString)> {
    let home = profile.home_dir();
    let entry = |name: &str, value: &OsStr| (name.to_owned(), value.to_owned());
    let mut variables = vec![
        entry(PROFILE_ENV_VARIABLE, OsStr::new(profile.name())),
        entry("PATH", OsStr::new("/usr/local/bin:/usr/bin:/bin")),
        entry("LANG", OsStr::new("C.UTF-8")),
        entry("HOME", home.as_os_str()),
        entry("XDG_CONFIG_HOME", home.join(".config").as_os_str()),
        entry("XDG_CACHE_HOME", home.join(".cache").as_os_str()),
        entry("XDG_DATA_HOME", home.join(".local").as_os_str()),
        entry("TMPDIR", profile.temp_dir().as_os_str()),
        entry("DBUS_SESSION_BUS_ADDRESS", OsStr::new("disabled:")),
    ];
    for name in ["TZ", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"] {
        variables.extend(std::env::var_os(name).map(|value| (name.to_owned(), value)));
    }
    variables
}
