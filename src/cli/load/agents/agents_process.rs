//! The process of the agents: this same binary.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::orders::{AgentsOrder, AgentsReply};

/// How long it may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The process of the agents; it is killed on drop.
pub(super) struct AgentsProcess {
    child: Child,
    orders: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl AgentsProcess {
    /// Starts `count` agents, whose data folders are in `folder`.
    pub(super) fn start(folder: &Path, count: u32, config: Option<&Path>) -> anyhow::Result<Self> {
        let own_executable = std::env::current_exe().context("the path of this program is unknown")?;
        let mut command = Command::new(own_executable);
        command.arg("load-agents").arg(folder).arg(count.to_string());
        if let Some(config) = config {
            command.arg("--config").arg(config);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .process_group(0)
            .spawn()
            .context("the process of the agents cannot be started")?;
        let (Some(orders), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the process of the agents has no input and output");
        };
        Ok(Self { child, orders, replies: BufReader::new(replies).lines() })
    }

    /// Orders something and waits for the reply.
    pub(super) async fn order(&mut self, order: AgentsOrder) -> anyhow::Result<AgentsReply> {
        let line = serde_json::to_string(&order)? + "\n";
        self.orders.write_all(line.as_bytes()).await.context("the process of the agents has ended")?;
        let reply = self.replies.next_line().await?.context("the process of the agents has ended")?;
        serde_json::from_str(&reply).context("the process of the agents replied something unknown")
    }

    /// Ends it, and waits for that.
    pub(super) async fn stop(mut self) {
        if self.child.start_kill().is_ok() {
            let _ = tokio::time::timeout(STOP_TIMEOUT, self.child.wait()).await;
        }
    }
}
