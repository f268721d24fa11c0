//! A process that runs the scripts of one run, and those that wait for the next run of their account.
//!
//! Scripts run in a process of their own since the engine cannot stop each native loop: a process can be ended. Accounts
//! share none: what a script might do to its process concerns its own account alone.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::{self, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use crate::domain::{CustomerId, Failure, FailureKind, Phase, Timestamp};
use crate::net::Deadline;
use crate::sandbox::{HostRequest, MAX_LINE_BYTES, SCRIPT_TIME_LIMIT, ScriptError, ScriptOutcome, Turn};
use crate::sync::Mutex;

/// Processes of one account at the same time; further runs wait.
const MAX_PROCESSES_PER_ACCOUNT: usize = 8;
/// Processes that wait for their next run, of all accounts.
const MAX_IDLE_PROCESSES: usize = 8;
/// How long a process waits for its next run.
const MAX_IDLE_TIME: Duration = Duration::from_mins(2);
/// Time by which a turn may exceed its own limit before its process is ended.
const TURN_GRACE: Duration = Duration::from_secs(1);

/// The permits for processes, by account.
static PERMITS: LazyLock<Mutex<HashMap<CustomerId, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);
/// Processes without a run, the longest idle first.
static IDLE: Mutex<Vec<IdleProcess>> = Mutex::new(Vec::new());

struct IdleProcess {
    process: HostProcess,
    customer_id: CustomerId,
    program: Arc<Path>,
    /// The runtime that its pipes belong to: no other can use them.
    runtime_id: runtime::Id,
    since: Instant,
}

/// A process with its pipes; it ends when this is dropped.
struct HostProcess {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The process of a run.
pub(super) struct ScriptProcess {
    process: HostProcess,
    customer_id: CustomerId,
    program: Arc<Path>,
    /// Whether it waits for a request.
    is_ready: bool,
    _permit: OwnedSemaphorePermit,
}

impl ScriptProcess {
    /// Returns a process for a run of `customer_id` that begins at `now`.
    ///
    /// # Errors
    /// Fails with [`FailureKind::Internal`] when none can be started before `deadline`.
    pub(super) async fn open(
        program: &Arc<Path>,
        customer_id: CustomerId,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let permits = PERMITS
            .lock()
            .entry(customer_id)
            .or_insert_with(|| Arc::new(Semaphore::new(MAX_PROCESSES_PER_ACCOUNT)))
            .clone();
        let Ok(Ok(permit)) = deadline.enforce(Phase::Validate, permits.acquire_owned()).await else {
            let detail = format!(
                "{MAX_PROCESSES_PER_ACCOUNT} other runs of the account had scripts until the timeout"
            );
            return Err(internal(detail));
        };
        let open = HostRequest::Open { now_us: now.as_micros() };
        let own = Self {
            process: HostProcess::take_idle(program, customer_id)
                .map_or_else(|| HostProcess::start(program), Ok)
                .map_err(|error| internal(format!("the process for scripts cannot be started: {error}")))?,
            customer_id,
            program: Arc::clone(program),
            is_ready: true,
            _permit: permit,
        };
        own.opened(&open).await
    }

    async fn opened(mut self, open: &HostRequest) -> Result<Self, Failure> {
        if self.process.send(open).await.is_err() {
            // It ended while it was idle.
            self.process = HostProcess::start(&self.program)
                .map_err(|error| internal(format!("the process for scripts cannot be started: {error}")))?;
            self.process
                .send(open)
                .await
                .map_err(|error| internal(format!("the process for scripts has ended: {error}")))?;
        }
        Ok(self)
    }

    /// Runs a turn of at most `most`. `None` when the process had to be ended, or ended; the turn says so then.
    pub(super) async fn turn(mut self, request: &HostRequest, most: Duration) -> (Turn, Option<Self>) {
        self.is_ready = false;
        let limit = most.min(SCRIPT_TIME_LIMIT) + TURN_GRACE;
        let exchange = async {
            self.process.send(request).await?;
            self.process.receive().await
        };
        match timeout(limit, exchange).await {
            Ok(Ok(Ok(turn))) => {
                self.is_ready = true;
                (turn, Some(self))
            }
            Ok(Ok(Err(reason))) => (failed_turn(reason, false), None),
            Ok(Err(error)) => {
                (failed_turn(format!("the process that ran it has ended: {error}"), false), None)
            }
            Err(_) => {
                let text = format!("it did not stop after {} s, and was ended", SCRIPT_TIME_LIMIT.as_secs());
                (failed_turn(text, true), None)
            }
        }
    }

    /// Keeps the process for the next run of the account.
    pub(super) fn release(self) {
        if !self.is_ready {
            return;
        }
        let Self { process, customer_id, program, .. } = self;
        let mut idle = IDLE.lock();
        idle.retain(|other| other.since.elapsed() < MAX_IDLE_TIME);
        if idle.len() == MAX_IDLE_PROCESSES {
            idle.remove(0);
        }
        let runtime_id = Handle::current().id();
        idle.push(IdleProcess { process, customer_id, program, runtime_id, since: Instant::now() });
    }
}

impl HostProcess {
    /// Returns an idle process of `customer_id`.
    fn take_idle(program: &Path, customer_id: CustomerId) -> Option<Self> {
        let mut idle = IDLE.lock();
        idle.retain(|other| other.since.elapsed() < MAX_IDLE_TIME);
        let runtime_id = Handle::current().id();
        let fits = |other: &IdleProcess| {
            other.customer_id == customer_id && *other.program == *program && other.runtime_id == runtime_id
        };
        let index = idle.iter().rposition(fits)?;
        Some(idle.remove(index).process)
    }

    fn start(program: &Path) -> io::Result<Self> {
        // Without environment: it may hold secrets of the settings.
        let mut child = Command::new(program)
            .arg("script-host")
            .env_clear()
            // In KiB: the allocator reserves a gibibyte at once otherwise, which counts as the memory of the process.
            .env("MIMALLOC_ARENA_RESERVE", "65536")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let no_pipe = || io::Error::other("it has no pipes");
        let input = child.stdin.take().ok_or_else(no_pipe)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(no_pipe)?);
        Ok(Self { _child: child, input, output })
    }

    async fn send(&mut self, request: &HostRequest) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.input.write_all(&line).await?;
        self.input.flush().await
    }

    async fn receive(&mut self) -> io::Result<Result<Turn, String>> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.output).take(MAX_LINE_BYTES);
        if bounded.read_until(b'\n', &mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_slice(&line)?)
    }
}

fn failed_turn(message: String, is_timeout: bool) -> Turn {
    let error = ScriptError { name: "Error".to_owned(), message, line: None, is_timeout };
    Turn::Done(Box::new(ScriptOutcome { error: Some(error), ..ScriptOutcome::default() }))
}

fn internal(detail: String) -> Failure {
    Failure::new(Phase::Validate, FailureKind::Internal, detail)
}
