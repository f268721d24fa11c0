//! A NATS server of this command alone, on loopback, set up as by `vigie nats init --no-tls`.

use std::fs::File;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::cli::nats::set_up;
use crate::cli::output::UsageError;
use crate::service::agents::{NatsServerOptions, TrustFile};
use crate::settings::Settings;

/// Names of the program: in `PATH`, and where Debian installs it.
const PROGRAMS: [&str; 2] = ["nats-server", "/usr/sbin/nats-server"];
/// How long it may take to accept clients.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two looks at it while it starts.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// How long it may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The server; it is killed on drop.
pub(super) struct PrivateNatsServer {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl PrivateNatsServer {
    /// Starts a server with its data in `folder`, whose keys are in the data folder of `settings`. Returns it with those
    /// keys.
    pub(super) async fn start(folder: &Path, settings: &Settings) -> anyhow::Result<(Self, TrustFile)> {
        // The settings of the server name the port, so it is chosen before the server starts.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let options = NatsServerOptions { hosts: Vec::new(), port, has_tls: false };
        let trust_file = set_up(folder, &options, settings).await?;
        let log = folder.join("log");
        let child = spawn(folder, &log)?;
        let mut server = Self { child, port, log };
        server.wait_until_ready().await?;
        Ok((server, trust_file))
    }

    /// Ends it, and waits for that.
    pub(super) async fn stop(mut self) {
        if self.child.start_kill().is_ok() {
            let _ = tokio::time::timeout(STOP_TIMEOUT, self.child.wait()).await;
        }
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let give_up_at = Instant::now() + START_TIMEOUT;
        while !self.is_ready().await {
            let has_ended = self.child.try_wait()?.is_some();
            if has_ended || Instant::now() >= give_up_at {
                let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                bail!("`nats-server` does not start: {}", log.lines().last().unwrap_or("it logged nothing"));
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Ok(())
    }

    /// Whether it greets clients.
    async fn is_ready(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)).await else { return false };
        let mut greeting = [0; 5];
        let read = tokio::time::timeout(START_TIMEOUT, stream.read_exact(&mut greeting)).await;
        matches!(read, Ok(Ok(_))) && greeting == *b"INFO "
    }
}

fn spawn(folder: &Path, log: &Path) -> anyhow::Result<Child> {
    for program in PROGRAMS {
        let output = File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
        let spawned = Command::new(program)
            .args(["-c", "nats.conf"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .kill_on_drop(true)
            // Ctrl-C at the terminal reaches the command, which ends the server.
            .process_group(0)
            .spawn();
        match spawned {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            spawned => return spawned.with_context(|| format!("`{program}` cannot be started")),
        }
    }
    let hint = Some("`apt-get install nats-server` installs it on Debian".to_owned());
    Err(UsageError::with_hint("there is no program `nats-server`, which agents need", hint))
}
