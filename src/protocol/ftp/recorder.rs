//! Records a session below suppaftp: transcript, times by phase, the last reply, and the failure.

use crate::sync::{Mutex, MutexGuard};
use std::sync::Arc;

use tokio::time::Instant;

use super::reply::FtpReply;
use crate::domain::{Failure, Phase, Phases};
use crate::protocol::line_session::LineSession;
use crate::protocol::transcript::Transcript;

/// The record of one session; clones share it.
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
    last_reply: Option<FtpReply>,
    failure: Option<Failure>,
    password: Password,
    was_password_sent: bool,
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
            was_password_sent: false,
        })))
    }

    /// Returns transcript and times to `session`.
    pub fn restore_to(&self, session: &mut LineSession<'_>) {
        let mut state = self.lock();
        state.add_phase_time();
        session.transcript = std::mem::take(&mut state.transcript);
        session.connect_trace.phases.merge(&std::mem::take(&mut state.phases));
    }

    /// Whether the password was sent.
    #[must_use]
    pub fn was_password_sent(&self) -> bool {
        self.lock().was_password_sent
    }

    pub(super) fn phase(&self) -> Phase {
        self.lock().phase
    }

    /// Sets the phase that time counts for; returns the previous one.
    pub(super) fn set_phase(&self, phase: Phase) -> Phase {
        let mut state = self.lock();
        state.add_phase_time();
        std::mem::replace(&mut state.phase, phase)
    }

    /// Returns the name of the last command.
    pub(super) fn last_command(&self) -> String {
        self.lock().last_command.clone()
    }

    /// Returns the reply to the last command, once received.
    pub(super) fn last_reply(&self) -> Option<FtpReply> {
        self.lock().last_reply.clone()
    }

    /// Adds a note to the transcript.
    pub(super) fn add_note(&self, note: &str) {
        self.lock().transcript.add_note(note);
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
    pub(super) fn record_and_unmask_command(&self, line: &str) -> String {
        let mut state = self.lock();
        let command = line.split(' ').next().unwrap_or_default();
        state.add_phase_time();
        state.phase = phase_for_command(command).unwrap_or(state.phase);
        command.clone_into(&mut state.last_command);
        state.last_reply = None;
        if command == "PASS" {
            state.was_password_sent = true;
            state.transcript.record_sent(&format!("PASS {}", crate::syntax::MASK));
            return format!("PASS {}", state.password.0);
        }
        state.transcript.record_sent(line);
        line.to_owned()
    }

    /// Records a received line.
    pub(super) fn record_line(&self, line: &str) {
        self.lock().transcript.record_received(line);
    }

    /// Records a complete reply.
    pub(super) fn record_reply(&self, reply: FtpReply) {
        let mut state = self.lock();
        state.add_phase_time();
        state.last_reply = Some(reply);
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock()
    }
}

impl RecorderState {
    fn add_phase_time(&mut self) {
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
        "EPSV" | "PASV" => Phase::OpenDataConnection,
        "LIST" => Phase::List,
        "TYPE" | "STOR" => Phase::Upload,
        "RETR" => Phase::Download,
        "DELE" => Phase::Delete,
        "QUIT" => Phase::Quit,
        _ => return None,
    })
}
