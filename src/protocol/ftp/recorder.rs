//! What is seen of a session below suppaftp: transcript, times by phase, the last reply, what went wrong.

use crate::sync::{Mutex, MutexGuard};
use std::sync::Arc;

use tokio::time::Instant;

use super::reply::Reply;
use crate::domain::{Failure, Phase, Phases};
use crate::protocol::line_session::LineSession;
use crate::protocol::transcript::Transcript;

/// A handle; all clones see the same session.
#[derive(Clone, Debug)]
pub struct SessionRecorder(Arc<Mutex<RecorderState>>);

#[derive(Debug)]
struct RecorderState {
    transcript: Transcript,
    phases: Phases,
    phase: Phase,
    /// Since when the time of `phase` runs.
    since: Instant,
    /// The command that was said last, its first word.
    asked: String,
    reply: Option<Reply>,
    failure: Option<Failure>,
    password: Password,
    password_went: bool,
}

/// Shows nothing of itself.
#[derive(Default)]
struct Password(String);

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

impl SessionRecorder {
    /// Goes on with the transcript of `session`; `password` is hidden from now on, and said in place of the
    /// one that suppaftp says.
    #[must_use]
    pub fn from_session(session: &mut LineSession<'_>, password: &str) -> Self {
        let mut transcript = std::mem::take(&mut session.transcript);
        transcript.add_secret(password);
        Self(Arc::new(Mutex::new(RecorderState {
            transcript,
            phases: Phases::default(),
            phase: Phase::Auth,
            since: Instant::now(),
            asked: String::new(),
            reply: None,
            failure: None,
            password: Password(password.to_owned()),
            password_went: false,
        })))
    }

    /// Gives transcript and times back to `session`.
    pub fn restore_to(&self, session: &mut LineSession<'_>) {
        let mut seen = self.lock();
        seen.add_elapsed();
        session.transcript = std::mem::take(&mut seen.transcript);
        session.trace.phases.merge(&std::mem::take(&mut seen.phases));
    }

    /// Whether the password was said.
    #[must_use]
    pub fn password_sent(&self) -> bool {
        self.lock().password_went
    }

    pub(super) fn phase(&self) -> Phase {
        self.lock().phase
    }

    /// From now on time counts for `phase`; answers what it counted for until now.
    pub(super) fn set_phase(&self, phase: Phase) -> Phase {
        let mut seen = self.lock();
        seen.add_elapsed();
        std::mem::replace(&mut seen.phase, phase)
    }

    /// The command that was said last.
    pub(super) fn last_command(&self) -> String {
        self.lock().asked.clone()
    }

    /// The reply to it, when one came.
    pub(super) fn last_reply(&self) -> Option<Reply> {
        self.lock().reply.clone()
    }

    /// Something that happened beside the lines.
    pub(super) fn add_note(&self, what: &str) {
        self.lock().transcript.add_note(what);
    }

    /// Keeps why the session fails: the first reason is the cause of later ones.
    pub(super) fn record_failure(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
    }

    /// The reason, once.
    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.lock().failure.take()
    }

    /// `line` is about to be said; answers what to say indeed.
    pub(super) fn on_command(&self, line: &str) -> String {
        let mut seen = self.lock();
        let command = line.split(' ').next().unwrap_or_default();
        seen.add_elapsed();
        seen.phase = phase_for_command(command).unwrap_or(seen.phase);
        command.clone_into(&mut seen.asked);
        seen.reply = None;
        if command == "PASS" {
            seen.password_went = true;
            seen.transcript.record_sent(&format!("PASS {}", crate::syntax::MASK));
            return format!("PASS {}", seen.password.0);
        }
        seen.transcript.record_sent(line);
        line.to_owned()
    }

    /// A line came.
    pub(super) fn on_line(&self, line: &str) {
        self.lock().transcript.record_received(line);
    }

    /// A reply is whole.
    pub(super) fn on_reply(&self, reply: Reply) {
        let mut seen = self.lock();
        seen.add_elapsed();
        seen.reply = Some(reply);
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock()
    }
}

impl RecorderState {
    fn add_elapsed(&mut self) {
        let now = Instant::now();
        self.phases.add(self.phase, now - self.since);
        self.since = now;
    }
}

/// The phase that begins with `command`. What a data connection takes is `passive`; from the command of the
/// transfer to its last reply it is the phase of the transfer, to the byte.
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
