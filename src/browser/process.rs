//! Who holds a browser: its processes, its profile, its place. With this, all of it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval};

use super::failure::with_driver_output;
use crate::domain::{Failure, FailureKind, Phase};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::driver_log::DriverLog;
use crate::subprocess::process_group::ProcessGroup;
use crate::subprocess::process_table::{BrowserHealth, MAX_SCAN_AGE, ProcessTable};

/// Holds the processes of one browser, its profile and its place among the others.
#[derive(Debug)]
pub struct BrowserProcess {
    /// `None` for a browser on another host, and when it has been ended.
    guard: Option<ProcessGuard>,
    driver_log: Option<DriverLog>,
    memory: AtomicU64,
    limit: u64,
    /// Whether the driver has a browser that can be missed.
    is_opened: bool,
    /// Scans of the processes from before this say nothing of the browser.
    since: Instant,
    processes: Arc<ProcessTable>,
}

/// All that has to go. The place is free again when the rest is gone.
#[derive(Debug)]
pub(super) struct ProcessGuard {
    pub(super) group: Option<ProcessGroup>,
    pub(super) profile: BrowserProfile,
    pub(super) permit: OwnedSemaphorePermit,
}

impl ProcessGuard {
    /// Ends the processes, waits until they are gone and removes the profile. Blocks for some milliseconds; much
    /// longer when the kernel is slow to free their memory.
    fn terminate(self) {
        let token = self.profile.name().to_owned();
        if self.group.is_some_and(|group| !group.kill_and_wait()) {
            tracing::warn!(profile = token, "failed to end the processes of a browser");
        }
        if let Err(error) = self.profile.remove() {
            tracing::warn!(profile = token, %error, "failed to remove the profile of a browser");
        }
        drop(self.permit);
    }
}

impl BrowserProcess {
    pub(super) fn new(
        held: ProcessGuard,
        log: Option<DriverLog>,
        limit: u64,
        processes: Arc<ProcessTable>,
    ) -> Self {
        Self {
            guard: Some(held),
            driver_log: log,
            memory: AtomicU64::new(0),
            limit,
            is_opened: false,
            since: Instant::now(),
            processes,
        }
    }

    /// Of a browser at an end point elsewhere, where somebody else takes care of it.
    pub(super) fn remote() -> Self {
        let processes = Arc::default();
        Self {
            guard: None,
            driver_log: None,
            memory: AtomicU64::new(0),
            limit: u64::MAX,
            is_opened: true,
            since: Instant::now(),
            processes,
        }
    }

    /// From now on a browser is there.
    pub(super) fn mark_opened(&mut self) {
        (self.is_opened, self.since) = (true, Instant::now());
    }

    /// Ends the driver, of which no browser has come yet, and has `start` start another in the same profile.
    pub(super) async fn restart(
        &mut self,
        start: impl FnOnce(&BrowserProfile) -> Result<(ProcessGroup, DriverLog), Failure>,
    ) -> Result<(), Failure> {
        let Some(held) = &mut self.guard else { return Ok(()) };
        if let Some(group) = held.group.take() {
            // It runs to its end also when nobody waits for it any more.
            drop(tokio::task::spawn_blocking(move || group.kill_and_wait()).await);
        }
        let (group, log) = start(&held.profile)?;
        held.group = Some(group);
        self.driver_log = Some(log);
        Ok(())
    }

    pub(super) fn driver_log(&mut self) -> Option<&mut DriverLog> {
        self.driver_log.as_mut()
    }

    /// The last that the driver printed.
    pub(super) fn driver_output(&self) -> String {
        self.driver_log.as_ref().map(DriverLog::last_lines).unwrap_or_default()
    }

    /// Waits until the browser is lost: it or its driver ended or was stopped ([`FailureKind::BrowserFailed`]), or it
    /// took more memory than it may ([`FailureKind::BrowserTooLarge`]), and was ended. Stays pending until then. It
    /// also reads what the driver prints, and is to be polled as long as the driver is asked for something.
    pub async fn wait_for_failure(&mut self) -> Failure {
        let mut looks = interval(MAX_SCAN_AGE);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            match &mut self.driver_log {
                Some(log) => tokio::select! {
                    () = log.drain() => {}
                    _ = looks.tick() => {}
                },
                None => drop(looks.tick().await),
            }
            if let Some(failure) = self.check_health().await {
                return failure;
            }
        }
    }

    async fn check_health(&mut self) -> Option<Failure> {
        let group = self.guard.as_ref()?.group.as_ref()?;
        if let Some(how) = group.exit_description() {
            let detail = with_driver_output(&format!("the driver {how}"), &self.driver_output());
            return Some(Failure::new(Phase::Play, FailureKind::BrowserFailed, detail));
        }
        let seen = self.processes.health(group.leader(), self.since).await?;
        let BrowserHealth {
            memory_bytes: bytes,
            browser_processes: others,
            driver_is_stopped,
            browser_is_stopped,
        } = seen;
        let failed = |what: &str| Some(Failure::new(Phase::Play, FailureKind::BrowserFailed, what));
        if self.is_opened && others == 0 {
            return failed("the browser ended");
        }
        // It would look as if the site were slow.
        if driver_is_stopped {
            return failed("the driver is stopped");
        }
        if browser_is_stopped {
            return failed("the browser is stopped");
        }
        self.memory.fetch_max(bytes, Ordering::Relaxed);
        if bytes <= self.limit {
            return None;
        }
        group.kill();
        let mib = |bytes: u64| bytes >> 20;
        let detail = format!("{} MiB, and `browser.memory_mb` is {}", mib(bytes), mib(self.limit));
        Some(Failure::new(Phase::Play, FailureKind::BrowserTooLarge, detail))
    }

    /// Most bytes of memory that it was seen to take; `None` when nobody looked.
    #[must_use]
    pub fn peak_memory_bytes(&self) -> Option<u64> {
        Some(self.memory.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
    }

    /// Ends it, and waits until nothing of it is left. The session is closed by now.
    pub async fn close(mut self) {
        if let Some(held) = self.guard.take() {
            // It runs to its end also when nobody waits for it any more.
            drop(tokio::task::spawn_blocking(move || held.terminate()).await);
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        let Some(held) = self.guard.take() else { return };
        if let Some(group) = &held.group {
            group.kill();
        }
        // Whoever drops it must not be held up: this may be the runtime's own thread.
        let ending =
            std::thread::Builder::new().name("browser-end".to_owned()).spawn(move || held.terminate());
        if let Err(error) = ending {
            // The next start finds what is left.
            tracing::warn!(%error, "failed to start a thread that ends a browser; the next start of Vigie ends it");
        }
    }
}
