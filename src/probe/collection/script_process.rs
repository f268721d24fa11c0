//! A process that runs the scripts of one run, and those that wait for the next run of their account.
//!
//! Scripts run in a process of their own since the engine cannot stop each native loop: a process can be ended. Accounts
//! share none, so that nothing that a run leaves in it reaches another account.

use std::collections::HashMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::{self, Handle};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use crate::domain::{CustomerId, Failure, FailureKind, Phase, Timestamp};
use crate::net::Deadline;
use crate::sandbox::{
    HostRequest, MAX_LINE_BYTES, SCRIPT_TIME_LIMIT, ScriptError, ScriptOutcome, Turn, parse_reply,
};
use crate::sync::Mutex;

/// Processes of one account at the same time; further runs wait.
const MAX_PROCESSES_PER_ACCOUNT: usize = 8;
/// Processes of all accounts at the same time.
const MAX_PROCESSES: usize = 64;
/// Processes that wait for their next run, of all accounts.
const MAX_IDLE_PROCESSES: usize = 8;
/// How long a process waits for its next run.
const MAX_IDLE_TIME: Duration = Duration::from_mins(2);
/// Longest message that is read and written on the async thread, in bytes.
const INLINE_BYTES: usize = 64 * 1024;
/// Time by which a turn may exceed its own limit before its process is ended.
const TURN_GRACE: Duration = Duration::from_secs(1);

/// The permits for processes, by account.
static PERMITS: LazyLock<Mutex<HashMap<CustomerId, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);
/// The permits for processes of all accounts.
static ALL_PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_PROCESSES)));
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
    child: Child,
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
    _permits: [OwnedSemaphorePermit; 2],
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
        let waiting_since = Instant::now();
        let both = async {
            let own = permits.acquire_owned().await?;
            Ok::<_, AcquireError>([own, Arc::clone(&ALL_PERMITS).acquire_owned().await?])
        };
        let permits = deadline.enforce(Phase::Validate, both).await;
        // What is left would be too little to tell the target's time from this.
        let Some(permits) =
            permits.ok().and_then(Result::ok).filter(|_| waiting_since.elapsed() < deadline.timeout / 2)
        else {
            let waited = waiting_since.elapsed().as_secs_f64();
            return Err(internal(format!("it waited {waited:.1} s for other runs with scripts to end")));
        };
        let own = Self {
            process: HostProcess::take_idle(program, customer_id)
                .map_or_else(|| HostProcess::start(program), Ok)
                .map_err(|error| not_started(&error))?,
            customer_id,
            program: Arc::clone(program),
            is_ready: true,
            _permits: permits,
        };
        own.opened(now).await
    }

    async fn opened(mut self, now: Timestamp) -> Result<Self, Failure> {
        let open = || HostRequest::Open { now_us: now.as_micros() };
        if self.process.send(open()).await.is_err() {
            // It ended while it was idle.
            self.process = HostProcess::start(&self.program).map_err(|error| not_started(&error))?;
            self.process.send(open()).await.map_err(|error| not_started(&error))?;
        }
        Ok(self)
    }

    /// Runs a turn of at most `most`. `None` when the process had to be ended; the turn says so then.
    ///
    /// # Errors
    /// Fails with [`FailureKind::Internal`] when the process has ended for a reason that is not the script's.
    pub(super) async fn turn(
        mut self,
        request: HostRequest,
        most: Duration,
    ) -> Result<(Turn, Option<Self>), Failure> {
        self.is_ready = false;
        let most = most.min(SCRIPT_TIME_LIMIT);
        let exchange = async {
            self.process.send(request).await?;
            self.process.receive().await
        };
        match timeout(most + TURN_GRACE, exchange).await {
            Ok(Ok(Ok(turn))) => {
                self.is_ready = true;
                Ok((turn, Some(self)))
            }
            Ok(Ok(Err(reason))) => Err(internal(reason)),
            Ok(Err(error)) if matches!(error.kind(), io::ErrorKind::Other | io::ErrorKind::InvalidData) => {
                Ok((failed_turn(format!("its result cannot be read: {error}"), false), None))
            }
            Ok(Err(error)) => self.process.describe_end(&error).await.map(|turn| (turn, None)),
            Err(_) => {
                let text = format!("it did not stop within {:.1} s, and was ended", most.as_secs_f64());
                Ok((failed_turn(text, true), None))
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
        drop(idle);
        tokio::spawn(async {
            sleep(MAX_IDLE_TIME).await;
            IDLE.lock().retain(|other| other.since.elapsed() < MAX_IDLE_TIME);
        });
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
        Ok(Self { child, input, output })
    }

    async fn send(&mut self, request: HostRequest) -> io::Result<()> {
        let mut line = if request.text_bytes() <= INLINE_BYTES {
            serde_json::to_vec(&request)?
        } else {
            spawn_blocking(move || serde_json::to_vec(&request)).await.map_err(io::Error::other)??
        };
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
        if line.len() <= INLINE_BYTES {
            return parse_reply(&line);
        }
        spawn_blocking(move || parse_reply(&line)).await.map_err(io::Error::other)?
    }

    /// Returns what the end of the process means for a script: one that used up processor time, or broke the engine, is told so.
    /// Fails when something else has ended it.
    async fn describe_end(&mut self, error: &io::Error) -> Result<Turn, Failure> {
        let status = timeout(TURN_GRACE, self.child.wait()).await;
        let signal = status.ok().and_then(Result::ok).and_then(|status| status.signal());
        match signal.and_then(|signal| Signal::try_from(signal).ok()) {
            Some(Signal::SIGXCPU) => Ok(failed_turn("it did not stop, and was ended".to_owned(), true)),
            Some(signal @ (Signal::SIGABRT | Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGILL)) => {
                Ok(failed_turn(format!("it broke the script engine ({signal})"), false))
            }
            Some(signal) => Err(internal(format!("the process for scripts was ended by {signal}"))),
            None => Err(internal(format!("the process for scripts has ended: {error}"))),
        }
    }
}

fn failed_turn(message: String, is_timeout: bool) -> Turn {
    let error = ScriptError { name: "Error".to_owned(), message, line: None, is_timeout };
    Turn::Done(Box::new(ScriptOutcome { error: Some(error), ..ScriptOutcome::default() }))
}

fn internal(detail: String) -> Failure {
    Failure::new(Phase::Validate, FailureKind::Internal, detail)
}

fn not_started(error: &io::Error) -> Failure {
    internal(format!("the process for scripts cannot be started: {error}"))
}
