//! A part of the demo: a process that starts again when it ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::cluster_folder::ClusterFolder;
use crate::cli::output;

/// How long a part stays away after it has ended, so that its absence shows.
const RESTART_DELAY: Duration = Duration::from_secs(20);
/// How long a part may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// The processes of the parts.
#[derive(Clone)]
pub(super) struct Processes {
    folder: ClusterFolder,
    by_name: Rc<RefCell<BTreeMap<String, i32>>>,
}

impl Processes {
    pub(super) fn new(folder: ClusterFolder) -> Self {
        Self { folder, by_name: Rc::default() }
    }

    fn record(&self, name: &str, pid: i32) -> anyhow::Result<()> {
        self.by_name.borrow_mut().insert(name.to_owned(), pid);
        self.folder.store_processes(&self.by_name.borrow())
    }
}

/// A part of the demo.
pub(super) struct Member {
    pub(super) name: String,
    /// Its log.
    pub(super) log: PathBuf,
    /// The signal that ends it in an orderly way.
    pub(super) stop_signal: Signal,
    /// Makes its command.
    pub(super) command: Box<dyn Fn() -> Command>,
    pub(super) processes: Processes,
}

impl Member {
    /// Starts the part, which [`Self::keep`] then keeps running.
    pub(super) fn start(&self) -> anyhow::Result<Child> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("cannot write `{}`", self.log.display()))?;
        let child = (self.command)()
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Ctrl-C at the terminal reaches this command alone, which ends the parts in their order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("{} cannot be started", self.name))?;
        if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
            self.processes.record(&self.name, pid)?;
        }
        Ok(child)
    }

    /// Keeps the part running until `stop`, then ends it.
    pub(super) async fn keep(&self, mut child: Child, stop: &CancellationToken) -> anyhow::Result<()> {
        loop {
            tokio::select! {
                status = child.wait() => self.print_end(status?),
                () = stop.cancelled() => {
                    self.end(child).await;
                    return Ok(());
                }
            }
            tokio::select! {
                () = tokio::time::sleep(RESTART_DELAY) => {}
                () = stop.cancelled() => return Ok(()),
            }
            child = self.start()?;
            output::print_note(&format!("{} runs again", self.name));
        }
    }

    fn print_end(&self, status: ExitStatus) {
        let (name, seconds) = (&self.name, RESTART_DELAY.as_secs());
        let log = self.log.display();
        output::print_note(&format!(
            "{name} ended ({status}); it starts again in {seconds} s; its log is {log}"
        ));
    }

    async fn end(&self, mut child: Child) {
        if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(pid), self.stop_signal);
        }
        if tokio::time::timeout(STOP_TIMEOUT, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}
