//! The processes of this host, scanned once for all browsers and never on a thread of the runtime.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::process_sockets::{has_open_socket, listening_ports};
use super::procfs::{self, Process};
use crate::sync::Mutex;

/// Maximum age of a scan that is shared with another browser.
pub(crate) const MAX_SCAN_AGE: Duration = Duration::from_millis(400);

/// State of the processes of one browser.
#[derive(Debug)]
pub(crate) struct BrowserHealth {
    /// Memory of the processes, in bytes.
    pub(crate) memory_bytes: u64,
    /// Number of processes besides the driver.
    pub(crate) browser_process_count: usize,
    /// Whether the driver is stopped by a signal, and so does not respond.
    pub(crate) driver_is_stopped: bool,
    /// Whether any process besides the driver is stopped by a signal.
    pub(crate) browser_is_stopped: bool,
}

/// The last scan of `/proc`.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    last_scan: Mutex<Option<ProcessScan>>,
}

#[derive(Clone, Debug)]
struct ProcessScan {
    started_at: Instant,
    processes: Arc<[Process]>,
}

impl ProcessTable {
    /// Returns the state of the process group of the driver `driver_pid`, from a scan that is at most
    /// [`MAX_SCAN_AGE`] old and did not start before `not_before`; `None` when the runtime shuts down.
    pub(crate) async fn browser_health(
        self: &Arc<Self>,
        driver_pid: i32,
        not_before: Instant,
    ) -> Option<BrowserHealth> {
        let table = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            health_from_processes(&table.recent_processes(not_before), driver_pid)
        })
        .await
        .ok()
    }

    /// Returns the TCP ports that the processes of the driver `driver_pid` listen on; none when the runtime shuts down.
    pub(crate) async fn listening_ports(self: &Arc<Self>, driver_pid: i32) -> BTreeSet<u16> {
        let (table, now) = (Arc::clone(self), Instant::now());
        let find_ports = move || {
            let members = procfs::browser_processes(&table.recent_processes(now), Some(driver_pid), None);
            listening_ports(members.iter().map(|process| process.id))
        };
        tokio::task::spawn_blocking(find_ports).await.unwrap_or_default()
    }

    /// Whether a process of the driver `driver_pid` has the socket `inode` open; false when the runtime shuts down.
    pub(crate) async fn owns_socket(self: &Arc<Self>, driver_pid: i32, inode: u64) -> bool {
        let (table, now) = (Arc::clone(self), Instant::now());
        let find_owner = move || {
            let is_open_in = |not_before: Instant| {
                let processes = table.recent_processes(not_before);
                let members = procfs::browser_processes(&processes, Some(driver_pid), None);
                members.iter().any(|process| has_open_socket(process.id, inode))
            };
            // The process that connects is seldom newer than the last scan.
            is_open_in(now.checked_sub(MAX_SCAN_AGE).unwrap_or(now)) || is_open_in(now)
        };
        tokio::task::spawn_blocking(find_owner).await.unwrap_or(false)
    }

    /// Blocks: concurrent callers wait for the scan in progress, and share it.
    fn recent_processes(&self, not_before: Instant) -> Arc<[Process]> {
        let mut last_scan = self.last_scan.lock();
        if let Some(scan) = &*last_scan
            && scan.started_at >= not_before
            && scan.started_at.elapsed() < MAX_SCAN_AGE
        {
            return Arc::clone(&scan.processes);
        }
        let started = Instant::now();
        let processes: Arc<[Process]> = procfs::list_processes().into();
        *last_scan = Some(ProcessScan { started_at: started, processes: Arc::clone(&processes) });
        processes
    }
}

fn health_from_processes(processes: &[Process], driver_pid: i32) -> BrowserHealth {
    let members = procfs::browser_processes(processes, Some(driver_pid), None);
    let processes_besides_driver =
        || members.iter().filter(|process| process.id != driver_pid && !process.is_zombie);
    BrowserHealth {
        memory_bytes: procfs::memory_bytes(&members),
        browser_process_count: processes_besides_driver().count(),
        driver_is_stopped: members.iter().any(|process| process.id == driver_pid && process.is_stopped),
        browser_is_stopped: processes_besides_driver().any(|process| process.is_stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_share_a_scan_until_it_is_too_old_or_too_early() {
        let (table, start) = (ProcessTable::default(), Instant::now());
        let first = table.recent_processes(start);
        assert!(!first.is_empty());
        let shared = (0..20).filter(|_| Arc::ptr_eq(&first, &table.recent_processes(start))).count();
        assert!(shared == 20 || start.elapsed() >= MAX_SCAN_AGE, "{shared} of 20 calls shared the scan");
        let later = Instant::now();
        assert!(
            !Arc::ptr_eq(&first, &table.recent_processes(later)),
            "a scan from before `not_before` was used"
        );
        table.last_scan.lock().as_mut().unwrap().started_at -= MAX_SCAN_AGE;
        let old = table.last_scan.lock().as_ref().map(|scan| Arc::clone(&scan.processes)).unwrap();
        assert!(!Arc::ptr_eq(&old, &table.recent_processes(start)), "a scan that is too old was used");
    }

    #[tokio::test(flavor = "current_thread")]
    async fn scans_leave_the_thread_of_the_runtime_free() {
        let table = Arc::new(ProcessTable::default());
        // Locked as by a slow scan: the only thread of the runtime continues meanwhile.
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let locked = Arc::clone(&table);
        let scan = std::thread::spawn(move || {
            let _guard = locked.last_scan.lock();
            ready.send(()).unwrap();
            let _ = released.recv();
        });
        is_ready.recv().unwrap();
        let waiting = tokio::spawn({
            let table = Arc::clone(&table);
            async move { table.browser_health(1, Instant::now()).await }
        });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!waiting.is_finished());
        drop(release);
        scan.join().unwrap();
        assert!(waiting.await.unwrap().is_some());
    }
}
