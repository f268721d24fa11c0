//! Records a session below suppaftp: transcript, times by phase, the last reply, and the failure.

use crate::sync::{Mutex, MutexGuard};
use std::sync::Arc;

use tokio::time::Instant;

use super::reply::Reply;
use crate::domain::{Failure, Phase, Phases};
use crate::protocol::line_session::LineSession;
use crate::protocol::transcript::Transcript;

/// A handle; clones share the same session.
#[derive(Clone, Debug)]
pub struct SessionRecorder(Arc<Mutex<RecorderState>>);

#[derive(Debug)]
struct RecorderState {
    transcript: Transcript,
    phases: Phases,
    phase: Phase,
    /// Start of the time that is not yet added to `phase`.
    phase_started: Instant,
    /// The name of the last command.
    last_command: String,
    last_reply: Option<Reply>,
    failure: Option<Failure>,
    password: Password,
    password_sent: bool,
}

/// Hides the password in debug output.
#[derive(Default)]
struct Password(String);

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

impl SessionRecorder {
    /// Continues the transcript of `session`. `password` is redacted from now on, and replaces the mask that suppaftp
    /// sends.
    #[must_use]
    pub fn from_session(session: &mut LineSession<'_>, password: &str) -> Self {
        let mut transcript = std::mem::take(&mut session.transcript);
        transcript.add_secret(password);
        Self(Arc::new(Mutex::new(RecorderState {
            transcript,
            phases: Phases::default(),
            phase: Phase::Auth,
            phase_started: Instant::now(),
            last_command: String::new(),
            last_reply: None,
            failure: None,
            password: Password(password.to_owned()),
            password_sent: false,
        })))
    }

    /// Returns transcript and times to `session`.
    pub fn restore_to(&self, session: &mut LineSession<'_>) {
        let mut state = self.lock();
        state.add_elapsed();
        session.transcript = std::mem::take(&mut state.transcript);
        session.connect_trace.phases.merge(&std::mem::take(&mut state.phases));
    }

    /// Whether the password was sent.
    #[must_use]
    pub fn password_sent(&self) -> bool {
        self.lock().password_sent
    }

    pub(super) fn phase(&self) -> Phase {
        self.lock().phase
    }

    /// Sets the phase that time counts for; returns the previous one.
    pub(super) fn set_phase(&self, phase: Phase) -> Phase {
        let mut state = self.lock();
        state.add_elapsed();
        std::mem::replace(&mut state.phase, phase)
    }

    /// Returns the name of the last command.
    pub(super) fn last_command(&self) -> String {
        self.lock().last_command.clone()
    }

    /// Returns the reply to the last command, once received.
    pub(super) fn last_reply(&self) -> Option<Reply> {
        self.lock().last_reply.clone()
    }

    /// Adds a note to the transcript.
    pub(super) fn add_note(&self, what: &str) {
        self.lock().transcript.add_note(what);
    }

    /// Records a failure of the session. Only the first is kept, since it causes later ones.
    pub(super) fn record_failure(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
    }

    /// Takes the failure.
    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.lock().failure.take()
    }

    /// Records the command `line`; returns the line to send instead.
    pub(super) fn on_command(&self, line: &str) -> String {
        let mut state = self.lock();
        let command = line.split(' ').next().unwrap_or_default();
        state.add_elapsed();
        state.phase = phase_for_command(command).unwrap_or(state.phase);
        command.clone_into(&mut state.last_command);
        state.last_reply = None;
        if command == "PASS" {
            state.password_sent = true;
            state.transcript.record_sent(&format!("PASS {}", crate::syntax::MASK));
            return format!("PASS {}", state.password.0);
        }
        state.transcript.record_sent(line);
        line.to_owned()
    }

    /// Records a received line.
    pub(super) fn on_line(&self, line: &str) {
        self.lock().transcript.record_received(line);
    }

    /// Records a complete reply.
    pub(super) fn on_reply(&self, reply: Reply) {
        let mut state = self.lock();
        state.add_elapsed();
        state.last_reply = Some(reply);
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock()
    }
}

impl RecorderState {
    fn add_elapsed(&mut self) {
        let now = Instant::now();
        self.phases.add(self.phase, now - self.phase_started);
        self.phase_started = now;
    }
}

/// Returns the phase that `command` starts. Opening a data connection is `passive`; the time from the transfer command
/// to its last reply is the phase of the transfer.
fn phase_for_command(command: &str) -> Option<Phase> {
    Some(match command {
        "PBSZ" | "PROT" => Phase::Starttls,
        "USER" | "PASS" => Phase::Auth,
        "EPSV" | "PASV" => Phase::Passive,
        "LIST" => Phase::List,
        "TYPE" | "STOR" => Phase::Upload,
        "RETR" => Phase::Download,
        "DELE" => Phase::Delete,
        "QUIT" => Phase::Quit,
        _ => return None,
    })
}
