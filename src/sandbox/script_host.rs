//! The side of a process that runs scripts: reads requests as lines of JSON, and answers each with the turn that it led to.

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::outcome::Turn;
use super::script_sandbox::{DynamicValues, ScriptSandbox};

/// Longest line between the two processes, in bytes: a response of 10 MiB, escaped twice, with all variables.
pub const MAX_LINE_BYTES: u64 = 128 * 1024 * 1024;

/// What the process is asked for.
#[derive(Debug, Serialize, Deserialize)]
pub enum HostRequest {
    /// Begin a run: scripts that follow share one engine. Has no answer.
    Open {
        /// The time of dynamic variables, in microseconds since 1970.
        now_us: i64,
    },
    /// Begin a script.
    Begin {
        /// Its code.
        code: String,
        /// What it sees, as JSON.
        context: String,
        /// Longest duration of the turn, in microseconds.
        most_us: u64,
    },
    /// Answer what a script asked for.
    Answer {
        /// The operation.
        id: u64,
        /// The answer, as JSON.
        answer: String,
        /// Milliseconds since the script began.
        now_ms: f64,
        /// Longest duration of the turn, in microseconds.
        most_us: u64,
    },
    /// Run the timers that are due.
    Tick {
        /// Milliseconds since the script began.
        now_ms: f64,
        /// Longest duration of the turn, in microseconds.
        most_us: u64,
    },
}

impl HostRequest {
    /// Returns the size of its texts, in bytes.
    #[must_use]
    pub const fn text_bytes(&self) -> usize {
        match self {
            Self::Begin { code, context, .. } => code.len() + context.len(),
            Self::Answer { answer, .. } => answer.len(),
            Self::Open { .. } | Self::Tick { .. } => 0,
        }
    }
}

/// Answers the requests of `input` until it ends. `begin_turn` is called before each turn with its longest duration;
/// `dynamic_values` makes the dynamic variables of a time in microseconds since 1970.
///
/// # Errors
/// Fails when the other side is gone, or sends what is no request.
pub fn serve_scripts(
    mut input: impl BufRead,
    mut output: impl Write,
    begin_turn: &dyn Fn(Duration),
    dynamic_values: &dyn Fn(i64) -> DynamicValues,
) -> io::Result<()> {
    let no_engine = || Err("no run has begun".to_owned());
    let (mut sandbox, mut line): (Result<ScriptSandbox, String>, Vec<u8>) = (no_engine(), Vec::new());
    loop {
        line.clear();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let reply = match serde_json::from_slice(&line)? {
            HostRequest::Open { now_us } => {
                // The old engine goes first: both together may not have room.
                sandbox = no_engine();
                drop(std::mem::replace(&mut sandbox, ScriptSandbox::new(dynamic_values(now_us))));
                continue;
            }
            request => sandbox.as_mut().map(|sandbox| run_turn(sandbox, request, begin_turn)),
        };
        serde_json::to_writer(&mut output, &reply)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
}

fn run_turn(sandbox: &mut ScriptSandbox, request: HostRequest, begin_turn: &dyn Fn(Duration)) -> Turn {
    let most = |most_us: u64| {
        let most = Duration::from_micros(most_us);
        begin_turn(most);
        most
    };
    match request {
        HostRequest::Begin { code, context, most_us } => sandbox.begin(&code, &context, 0.0, most(most_us)),
        HostRequest::Answer { id, answer, now_ms, most_us } => {
            sandbox.answer(id, &answer, now_ms, most(most_us))
        }
        HostRequest::Tick { now_ms, most_us } => sandbox.tick(now_ms, most(most_us)),
        HostRequest::Open { .. } => sandbox.tick(0.0, Duration::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::sandbox_tests::context;
    use super::*;

    fn serve(requests: &[HostRequest]) -> Vec<Result<Turn, String>> {
        let lines: Vec<String> =
            requests.iter().map(|request| serde_json::to_string(request).unwrap()).collect();
        let mut output = Vec::new();
        let input = lines.join("\n");
        serve_scripts(input.as_bytes(), &mut output, &|_| {}, &|_| Arc::new(|_| None)).unwrap();
        output
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn turns_come_back_as_they_are_in_the_process() {
        let code = "pm.test('a\\nb', () => pm.expect(1).to.equal(2)); console.warn('ü'); pm.environment.set('k', [1]);
                    pm.execution.setNextRequest(null)";
        let begin = |code: &str| HostRequest::Begin {
            code: code.to_owned(),
            context: context().to_string(),
            most_us: 5_000_000,
        };
        let mut sandbox = ScriptSandbox::new(Arc::new(|_| None)).unwrap();
        let own = sandbox.begin(code, &context().to_string(), 0.0, Duration::from_secs(5));
        let waiting =
            sandbox.begin("setTimeout(() => {}, 70)", &context().to_string(), 0.0, Duration::from_secs(5));
        let replies = serve(&[
            begin(code),
            HostRequest::Open { now_us: 0 },
            begin(code),
            begin("setTimeout(() => {}, 70)"),
            HostRequest::Tick { now_ms: 70.0, most_us: 5_000_000 },
        ]);
        assert_eq!(replies[0].as_ref().unwrap_err(), "no run has begun");
        assert_eq!(replies[1].as_ref().unwrap(), &own);
        assert_eq!(replies[2].as_ref().unwrap(), &waiting);
        assert!(matches!(replies[3], Ok(Turn::Done(_))), "{replies:?}");
    }

    #[test]
    fn what_is_no_request_ends_the_process() {
        let broken = serve_scripts(&b"{}\n"[..], Vec::new(), &|_| {}, &|_| Arc::new(|_| None));
        assert!(broken.is_err());
    }
}
