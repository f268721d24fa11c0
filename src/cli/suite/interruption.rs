//! Ctrl-C and the signal by which CI systems end a job.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for SIGINT and SIGTERM.
pub(super) struct Interruption {
    interrupt: Signal,
    terminate: Signal,
}

impl Interruption {
    /// Takes the signals from now on.
    pub(super) fn install() -> anyhow::Result<Self> {
        let install = |kind| signal(kind).context("signals cannot be handled");
        Ok(Self {
            interrupt: install(SignalKind::interrupt())?,
            terminate: install(SignalKind::terminate())?,
        })
    }

    /// Waits for a signal; returns the exit code of a shell for it.
    pub(super) async fn wait(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
        }
    }
}
