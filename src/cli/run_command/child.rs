//! Runs the command of a job: passes its output and signals on, and keeps the end of its output.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::output_tail::{OutputStream, OutputTail};
use super::push_url;

/// Bytes of output that are passed on at once.
const CHUNK_BYTES: usize = 8 * 1024;
/// Time between SIGTERM and SIGKILL for a command that takes too long.
const KILL_DELAY: Duration = Duration::from_secs(10);
/// How long processes that a command leaves behind may keep its output open.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// How a command ended.
#[derive(Debug)]
pub(super) enum JobEnd {
    /// It could not be started.
    NotStarted(io::Error),
    /// It ended.
    Ended(ExitStatus),
    /// It took longer than this, and was ended.
    TimedOut(Duration),
}

impl JobEnd {
    /// Returns the exit code for it, as shells have it; 124 for a command that took too long, as `timeout` has it.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => 127,
            Self::NotStarted(_) => 126,
            Self::TimedOut(_) => 124,
            Self::Ended(status) => {
                let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
                code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
            }
        }
    }

    /// Returns it as one phrase.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::NotStarted(error) => format!("cannot be started: {error}"),
            Self::TimedOut(limit) => format!("took longer than {} s", limit.as_secs()),
            Self::Ended(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            },
        }
    }
}

/// Runs `program` with `arguments` to its end, at most for `limit`, and passes `signals` on to it.
pub(super) async fn run_job(
    program: &OsString,
    arguments: &[OsString],
    limit: Option<Duration>,
    signals: &mut JobSignals,
) -> (JobEnd, OutputTail) {
    let mut command = Command::new(program);
    command.args(arguments).env_remove(push_url::VARIABLE);
    command.stdin(Stdio::inherit()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let is_in_terminal = is_foreground_of_terminal();
    if !is_in_terminal {
        // A group of its own, so that all of it can be ended. In a terminal it could then not read from it.
        command.process_group(0);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return (JobEnd::NotStarted(error), OutputTail::default()),
    };
    let (sender, receiver) = mpsc::channel(16);
    let ended = CancellationToken::new();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let pass_stdout = pass_on(stdout, own_stream(io::stdout()), OutputStream::Stdout, sender.clone(), &ended);
    let pass_stderr = pass_on(stderr, own_stream(io::stderr()), OutputStream::Stderr, sender, &ended);
    let wait_for_end = async {
        let end = wait(&mut child, signals, is_in_terminal, limit).await;
        ended.cancel();
        end
    };
    let (end, (), (), tail) = tokio::join!(wait_for_end, pass_stdout, pass_stderr, collect(receiver));
    (end, tail)
}

/// Waits for the end of `child`; passes signals on, and ends it when it takes longer than `limit`.
async fn wait(
    child: &mut Child,
    signals: &mut JobSignals,
    is_in_terminal: bool,
    limit: Option<Duration>,
) -> JobEnd {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
    let send = |signal: Signal, to_group: bool| {
        if let Some(pid) = pid {
            // One that has just ended needs no signal.
            let _ = if to_group && !is_in_terminal { killpg(pid, signal) } else { kill(pid, signal) };
        }
    };
    let mut end_at = limit.map(|limit| (Instant::now() + limit, Signal::SIGTERM));
    let mut timed_out = None;
    loop {
        let wake_at = end_at.map_or_else(Instant::now, |(at, _)| at);
        tokio::select! {
            status = child.wait() => return match (timed_out, status) {
                (Some(limit), _) => JobEnd::TimedOut(limit),
                (None, Ok(status)) => JobEnd::Ended(status),
                (None, Err(error)) => JobEnd::NotStarted(error),
            },
            signal = signals.next() => {
                // The terminal sends these to all processes in its foreground.
                if !(is_in_terminal && matches!(signal, Signal::SIGINT | Signal::SIGQUIT)) {
                    send(signal, false);
                }
            }
            () = sleep_until(wake_at), if end_at.is_some() => {
                let signal = end_at.map_or(Signal::SIGKILL, |(_, signal)| signal);
                timed_out = limit;
                send(signal, true);
                end_at = (signal == Signal::SIGTERM).then(|| (Instant::now() + KILL_DELAY, Signal::SIGKILL));
            }
        }
    }
}

/// Passes the output of a command on, and to `tail`. Once nobody reads it here, the command finds its own end closed.
/// A process that the command leaves behind may keep it open for [`OUTPUT_GRACE`] after it `ended`; what was written
/// until then is passed on, however slowly it is read.
async fn pass_on(
    from: Option<impl AsyncRead + Unpin>,
    to: io::Result<tokio::fs::File>,
    stream: OutputStream,
    tail: mpsc::Sender<(OutputStream, Vec<u8>)>,
    ended: &CancellationToken,
) {
    let (Some(mut from), Ok(mut to)) = (from, to) else { return };
    let grace_is_over = async {
        ended.cancelled().await;
        tokio::time::sleep(OUTPUT_GRACE).await;
    };
    let mut grace_is_over = std::pin::pin!(grace_is_over);
    let (mut chunk, mut is_over) = (vec![0; CHUNK_BYTES], false);
    loop {
        let read = tokio::select! {
            biased;
            read = from.read(&mut chunk) => read,
            () = &mut grace_is_over, if !is_over => {
                is_over = true;
                continue;
            }
            () = std::future::ready(()), if is_over => return,
        };
        let Ok(length @ 1..) = read else { return };
        let bytes = &chunk[..length];
        // Fails only once the job is over.
        let _ = tail.send((stream, bytes.to_vec())).await;
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

/// Returns a stream of this process as a file that is written on another thread.
fn own_stream(stream: impl AsFd) -> io::Result<tokio::fs::File> {
    Ok(tokio::fs::File::from_std(stream.as_fd().try_clone_to_owned()?.into()))
}

async fn collect(mut chunks: mpsc::Receiver<(OutputStream, Vec<u8>)>) -> OutputTail {
    let mut tail = OutputTail::default();
    while let Some((stream, bytes)) = chunks.recv().await {
        tail.push(stream, &bytes);
    }
    tail
}

/// The signals that are passed on.
pub(super) struct JobSignals([(tokio::signal::unix::Signal, Signal); 4]);

impl JobSignals {
    /// From now on they do not end this process.
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self([
            (signal(SignalKind::terminate())?, Signal::SIGTERM),
            (signal(SignalKind::interrupt())?, Signal::SIGINT),
            (signal(SignalKind::hangup())?, Signal::SIGHUP),
            (signal(SignalKind::quit())?, Signal::SIGQUIT),
        ]))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Signal {
        let waits = self.0.iter_mut().map(|(stream, signal)| {
            Box::pin(async move {
                stream.recv().await;
                *signal
            })
        });
        futures::future::select_all(waits).await.0
    }
}

/// Whether this process is in the foreground of a terminal, which then sends signals to the command itself.
fn is_foreground_of_terminal() -> bool {
    let terminal = File::open("/dev/tty").ok();
    terminal.and_then(|terminal| tcgetpgrp(&terminal).ok()) == Some(getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_shells() {
        let ended = |raw| JobEnd::Ended(ExitStatus::from_raw(raw));
        for (end, code, text) in [
            (ended(0), 0, "exit code 0"),
            (ended(3 << 8), 3, "exit code 3"),
            (ended(9), 137, "ended by signal 9"),
            (JobEnd::TimedOut(Duration::from_mins(1)), 124, "took longer than 60 s"),
            (JobEnd::NotStarted(io::ErrorKind::NotFound.into()), 127, "cannot be started: entity not found"),
            (
                JobEnd::NotStarted(io::ErrorKind::PermissionDenied.into()),
                126,
                "cannot be started: permission denied",
            ),
        ] {
            assert_eq!((end.exit_code(), &*end.describe()), (code, text));
        }
    }
}
