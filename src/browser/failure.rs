//! Why a browser could not be had, in words.

use fantoccini::error::{CmdError, NewSessionError};

use crate::domain::{Failure, FailureKind, Phase, replace_control_chars};

/// Bytes of what a driver says that are told.
const MAX_OUTPUT_BYTES: usize = 600;

/// A failure of `kind` while the browser was started.
pub(super) fn launch_failure(kind: FailureKind, detail: impl Into<String>) -> Failure {
    Failure::new(Phase::Launch, kind, detail)
}

/// What a session that was not made means, with what the driver printed.
pub(super) fn session_failure(error: &NewSessionError, printed: &str) -> Failure {
    let said = match error {
        NewSessionError::SessionNotCreated(said) => said.message.to_string(),
        // The other kinds are about the driver, and their words are of the library.
        other => other.to_string(),
    };
    let said = first_line(&said);
    // Chromedriver says `only supports Chrome version 156`, geckodriver `Expected browser … 120.0`.
    let other_version = said.contains("only supports") || said.contains("Unable to find a matching set");
    if other_version {
        let detail = format!("the driver does not fit the browser: {said}");
        return launch_failure(FailureKind::BrowserMissing, detail);
    }
    launch_failure(FailureKind::BrowserFailed, with_driver_output(&said, printed))
}

/// What a command that was refused while the session was set up means.
pub(super) fn command_failure(error: &CmdError, printed: &str) -> Failure {
    launch_failure(FailureKind::BrowserFailed, with_driver_output(&first_line(&error.to_string()), printed))
}

/// Whether a driver that `printed` this ended since its port was taken. Chromedriver looks for a free one for one family
/// of addresses, and takes it for the other then.
pub(super) fn is_port_taken(printed: &str) -> bool {
    printed.contains("Address already in use") || printed.contains("port not available")
}

/// `reply` with what the driver printed, when it printed something.
pub(super) fn with_driver_output(reply: &str, printed: &str) -> String {
    if printed.is_empty() { reply.to_owned() } else { format!("{reply}; the driver printed: {printed}") }
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut line = replace_control_chars(line.trim());
    if line.len() > MAX_OUTPUT_BYTES {
        line.truncate(line.floor_char_boundary(MAX_OUTPUT_BYTES));
        line.push('…');
    }
    line
}
