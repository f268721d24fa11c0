//! The processes of a browser. Dropping a `BrowserProcess` kills them and removes the profile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval};

use super::failure::with_driver_output;
use super::host::HostedBrowser;
use crate::domain::{Failure, FailureKind, Phase};
use crate::forward_proxy::SocketOwner;
use crate::net::{ProtectedService, protect_local_port};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::driver_log::DriverLog;
use crate::subprocess::process_group::ProcessGroup;
use crate::subprocess::process_table::{BrowserHealth, MAX_SCAN_AGE, ProcessTable};

/// The processes of one browser, with its profile and its permit.
#[derive(Debug)]
pub struct BrowserProcess {
    /// `None` for a remote browser, and after it was closed.
    resources: Option<ProcessResources>,
    driver_log: Option<DriverLog>,
    peak_memory_bytes: AtomicU64,
    max_memory_bytes: u64,
    /// Whether the driver has started its browser.
    is_opened: bool,
    /// When the browser was opened: earlier scans of the process table are ignored.
    opened_at: Instant,
    process_table: Arc<ProcessTable>,
    /// Set for a browser at a browser host.
    hosted: Option<HostedBrowser>,
    /// Its ports for `WebDriver`, `DevTools` and the like, which no check may reach.
    protected_ports: BTreeMap<u16, ProtectedService>,
}

/// The sockets of one browser and its driver.
#[derive(Debug)]
struct BrowserSockets {
    process_table: Arc<ProcessTable>,
    driver_pid: i32,
}

impl SocketOwner for BrowserSockets {
    fn owns_socket(&self, inode: u64) -> BoxFuture<'_, bool> {
        Box::pin(self.process_table.owns_socket(self.driver_pid, inode))
    }
}

/// What must be released with the browser. The permit is released last.
#[derive(Debug)]
pub(super) struct ProcessResources {
    pub(super) process_group: Option<ProcessGroup>,
    pub(super) profile: BrowserProfile,
    pub(super) browser_permit: OwnedSemaphorePermit,
}

impl ProcessResources {
    /// Kills the processes, waits for their end and removes the profile. Blocks for some milliseconds, or much longer
    /// when the kernel is slow to free their memory.
    fn terminate(self) {
        let profile_name = self.profile.name().to_owned();
        if self.process_group.is_some_and(|group| !group.kill_and_wait()) {
            tracing::warn!(profile = profile_name, "failed to end the processes of a browser");
        }
        if let Err(error) = self.profile.remove() {
            tracing::warn!(profile = profile_name, %error, "failed to remove the profile of a browser");
        }
        drop(self.browser_permit);
    }
}

impl BrowserProcess {
    pub(super) fn new(
        resources: ProcessResources,
        driver_log: Option<DriverLog>,
        max_memory_bytes: u64,
        process_table: Arc<ProcessTable>,
    ) -> Self {
        Self {
            resources: Some(resources),
            driver_log,
            peak_memory_bytes: AtomicU64::new(0),
            max_memory_bytes,
            is_opened: false,
            opened_at: Instant::now(),
            process_table,
            hosted: None,
            protected_ports: BTreeMap::new(),
        }
    }

    /// Creates the process of a browser at a remote end point, which manages it.
    pub(super) fn remote() -> Self {
        let process_table = Arc::default();
        Self {
            resources: None,
            driver_log: None,
            peak_memory_bytes: AtomicU64::new(0),
            max_memory_bytes: u64::MAX,
            is_opened: true,
            opened_at: Instant::now(),
            process_table,
            hosted: None,
            protected_ports: BTreeMap::new(),
        }
    }

    /// Creates the process of a browser at a browser host, which watches it and reports what happens.
    pub(super) fn hosted(browser: HostedBrowser) -> Self {
        let mut process = Self::remote();
        process.hosted = Some(browser);
        process
    }

    /// Records, and reports to a browser host, that the browser was started; protects its ports.
    pub(super) async fn mark_opened(&mut self) {
        (self.is_opened, self.opened_at) = (true, Instant::now());
        if let Some(hosted) = &mut self.hosted {
            hosted.report_opened().await;
        }
        self.block_checks_from_ports().await;
    }

    /// Returns what tells the sockets of these processes from others; `None` for a remote browser.
    pub(super) fn socket_owner(&self) -> Option<Arc<dyn SocketOwner>> {
        let group = self.resources.as_ref()?.process_group.as_ref()?;
        let process_table = Arc::clone(&self.process_table);
        Some(Arc::new(BrowserSockets { process_table, driver_pid: group.leader_id() }))
    }

    /// Keeps all checks from the ports that the driver and its browser listen on: they accept commands from every
    /// process of this host.
    pub(super) async fn block_checks_from_ports(&mut self) {
        let Some(group) = self.resources.as_ref().and_then(|resources| resources.process_group.as_ref())
        else {
            return;
        };
        for port in self.process_table.listening_ports(group.leader_id()).await {
            self.protected_ports.entry(port).or_insert_with(|| protect_local_port(port));
        }
    }

    /// Returns the ports of the driver and its browser that no check may reach.
    pub(super) fn protected_ports(&self) -> impl Iterator<Item = u16> {
        self.protected_ports.keys().copied()
    }

    /// Kills the driver before it has started a browser, and starts another one with `start_driver` in the same
    /// profile.
    pub(super) async fn restart_driver(
        &mut self,
        start_driver: impl FnOnce(&BrowserProfile) -> Result<(ProcessGroup, DriverLog), Failure>,
    ) -> Result<(), Failure> {
        let Some(resources) = &mut self.resources else { return Ok(()) };
        if let Some(group) = resources.process_group.take() {
            // It completes even if this future is dropped.
            drop(tokio::task::spawn_blocking(move || group.kill_and_wait()).await);
        }
        let (group, log) = start_driver(&resources.profile)?;
        resources.process_group = Some(group);
        self.driver_log = Some(log);
        Ok(())
    }

    pub(super) fn driver_log(&mut self) -> Option<&mut DriverLog> {
        self.driver_log.as_mut()
    }

    /// Returns the last lines that the driver printed.
    pub(super) fn driver_output(&self) -> String {
        self.driver_log.as_ref().map(DriverLog::joined_last_lines).unwrap_or_default()
    }

    /// Waits until the browser is lost: it or its driver exited or was stopped ([`FailureKind::BrowserFailed`]), or it
    /// exceeded its memory limit and was killed ([`FailureKind::BrowserOutOfMemory`]). Stays pending until then. Also
    /// reads the driver's output, so it must be polled while the driver is in use.
    pub async fn wait_for_failure(&mut self) -> Failure {
        if let Some(hosted) = &mut self.hosted {
            return hosted.wait_for_failure(&self.peak_memory_bytes).await;
        }
        let mut scan_interval = interval(MAX_SCAN_AGE);
        scan_interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            match &mut self.driver_log {
                Some(log) => tokio::select! {
                    () = log.drain_forever() => {}
                    _ = scan_interval.tick() => {}
                },
                None => drop(scan_interval.tick().await),
            }
            if !self.is_opened {
                // A starting browser opens its ports one after another.
                self.block_checks_from_ports().await;
            }
            if let Some(failure) = self.check_processes_and_memory().await {
                return failure;
            }
        }
    }

    /// Returns why the browser is lost, if it is. Kills it over its memory limit, and updates the peak memory.
    async fn check_processes_and_memory(&mut self) -> Option<Failure> {
        let group = self.resources.as_ref()?.process_group.as_ref()?;
        if let Some(exit) = group.exit_description() {
            let detail = with_driver_output(&format!("the driver {exit}"), &self.driver_output());
            return Some(Failure::new(Phase::RunScript, FailureKind::BrowserFailed, detail));
        }
        let health = self.process_table.browser_health(group.leader_id(), self.opened_at).await?;
        let BrowserHealth { memory_bytes, browser_process_count, driver_is_stopped, browser_is_stopped } =
            health;
        let failed = |what: &str| Some(Failure::new(Phase::RunScript, FailureKind::BrowserFailed, what));
        if self.is_opened && browser_process_count == 0 {
            return failed("the browser ended");
        }
        // A stopped process would make the site appear slow.
        if driver_is_stopped {
            return failed("the driver is stopped");
        }
        if browser_is_stopped {
            return failed("the browser is stopped");
        }
        self.peak_memory_bytes.fetch_max(memory_bytes, Ordering::Relaxed);
        if memory_bytes <= self.max_memory_bytes {
            return None;
        }
        group.kill();
        let mib = |memory_bytes: u64| memory_bytes >> 20;
        let detail = format!(
            "it used {} MiB; `browser.memory_mb` is {}",
            mib(memory_bytes),
            mib(self.max_memory_bytes)
        );
        Some(Failure::new(Phase::RunScript, FailureKind::BrowserOutOfMemory, detail))
    }

    /// Returns the highest measured memory usage, in bytes; `None` when it was not measured.
    #[must_use]
    pub fn peak_memory_bytes(&self) -> Option<u64> {
        Some(self.peak_memory_bytes.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
    }

    /// Kills the browser, and waits until all of it is removed. The session must be closed before.
    pub async fn kill_and_remove(mut self) {
        if let Some(resources) = self.resources.take() {
            // It completes even if this future is dropped.
            drop(tokio::task::spawn_blocking(move || resources.terminate()).await);
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        let Some(resources) = self.resources.take() else { return };
        if let Some(group) = &resources.process_group {
            group.kill();
        }
        // Do not block the caller: this may be a thread of the runtime.
        let spawned =
            std::thread::Builder::new().name("browser-end".to_owned()).spawn(move || resources.terminate());
        if let Err(error) = spawned {
            // The next start removes what is left.
            tracing::warn!(%error, "failed to start a thread that ends a browser; the next start of Vigie ends it");
        }
    }
}
