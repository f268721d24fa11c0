//! Starts a driver of this host.

use std::net::SocketAddr;

use super::binaries::BrowserBinaries;
use super::chrome::LocalBrowser;
use super::driver_launch::DriverLaunchOptions;
use super::failure::launch_failure;
use super::process::BrowserProcess;
use super::session_options::BrowserKind;
use super::{chrome, failure, firefox};
use crate::domain::{Failure, FailureKind};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::driver_log::DriverLog;
use crate::subprocess::os_user::OsUser;
use crate::subprocess::process_group::ProcessGroup;

/// Maximum number of times that a driver is started when another process already uses its port.
const MAX_DRIVER_STARTS: usize = 3;

/// A driver that listens; its browser is not started yet.
#[derive(Debug)]
pub(super) struct StartedDriver {
    pub(super) process: BrowserProcess,
    pub(super) address: SocketAddr,
    pub(super) local_browser: LocalBrowser,
}

/// Starts one driver, again if its port was taken.
pub(super) struct DriverStarter<'a> {
    pub(super) binaries: &'a BrowserBinaries,
    pub(super) launch: DriverLaunchOptions,
    pub(super) os_user: OsUser,
    pub(super) niceness: u8,
}

impl DriverStarter<'_> {
    /// Starts the driver as the leader of a process group.
    pub(super) fn start(&self, profile: &BrowserProfile) -> Result<(ProcessGroup, DriverLog), Failure> {
        let program = match self.launch.browser_kind {
            BrowserKind::Chrome => chrome::driver_program(self.binaries),
            _ => firefox::driver_program(self.binaries, profile, self.launch.viewport),
        };
        ProcessGroup::spawn(&program, profile, &self.os_user, self.niceness).map_err(|error| {
            let detail = format!("`{}` cannot be started: {error}", program.path.display());
            launch_failure(FailureKind::BrowserFailed, detail)
        })
    }

    /// Returns the port of the driver, once it listens. A driver whose port was taken by another process meanwhile
    /// exits at once, and is restarted.
    pub(super) async fn wait_for_port(&self, process: &mut BrowserProcess) -> Result<u16, Failure> {
        for _ in 1..MAX_DRIVER_STARTS {
            match self.read_port(process).await {
                Err(_) if failure::is_port_in_use(&process.driver_output()) => {
                    process.restart_driver(|profile| self.start(profile)).await?;
                }
                other => return other,
            }
        }
        self.read_port(process).await
    }

    /// Reads the port from the driver's output.
    async fn read_port(&self, process: &mut BrowserProcess) -> Result<u16, Failure> {
        let parse_port = match self.launch.browser_kind {
            BrowserKind::Chrome => chrome::parse_driver_port,
            _ => firefox::parse_driver_port,
        };
        while let Some(log) = process.driver_log() {
            match log.next_line().await {
                Some(line) => {
                    if let Some(port) = parse_port(&line) {
                        return Ok(port);
                    }
                }
                None => break,
            }
        }
        let detail = format!("`{}` ended before it was ready", self.binaries.driver_path.display());
        Err(launch_failure(
            FailureKind::BrowserFailed,
            failure::with_driver_output(&detail, &process.driver_output()),
        ))
    }
}
