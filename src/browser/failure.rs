//! Failures of starting a browser.

use fantoccini::error::{CmdError, NewSessionError};

use crate::domain::{Failure, FailureKind, Phase, replace_control_chars};

/// Longest message of the driver that a failure quotes, in bytes. The output of the driver is bounded by its log.
const MAX_MESSAGE_BYTES: usize = 600;

/// Creates a failure of `kind` while the browser was started.
pub(super) fn launch_failure(kind: FailureKind, detail: impl Into<String>) -> Failure {
    Failure::new(Phase::Launch, kind, detail)
}

/// Converts the error of a session that was not created, and adds the driver's output.
pub(super) fn session_not_created_failure(error: &NewSessionError, driver_output: &str) -> Failure {
    let message = match error {
        NewSessionError::SessionNotCreated(error) => error.message.to_string(),
        // The other errors are about the driver, and their messages come from the library.
        other => other.to_string(),
    };
    let message = truncated_first_line(&message);
    // Chromedriver says `only supports Chrome version 156`, geckodriver `Expected browser … 120.0`.
    let is_version_mismatch =
        message.contains("only supports") || message.contains("Unable to find a matching set");
    if is_version_mismatch {
        let detail = format!("the driver does not match the browser version: {message}");
        return launch_failure(FailureKind::BrowserNotInstalled, detail);
    }
    launch_failure(FailureKind::BrowserFailed, with_driver_output(&message, driver_output))
}

/// Converts the error of a command that prepared the session.
pub(super) fn prepare_session_failure(error: &CmdError, driver_output: &str) -> Failure {
    launch_failure(
        FailureKind::BrowserFailed,
        with_driver_output(&truncated_first_line(&error.to_string()), driver_output),
    )
}

/// Whether a driver with this output ended because its port was in use. Chromedriver looks for a port that is free in
/// one address family, and then uses it in the other.
pub(super) fn is_port_in_use(driver_output: &str) -> bool {
    driver_output.contains("Address already in use") || driver_output.contains("port not available")
}

/// Returns `message` with the driver's output, if there is any.
pub(super) fn with_driver_output(message: &str, driver_output: &str) -> String {
    if driver_output.is_empty() {
        message.to_owned()
    } else {
        format!("{message}; the driver printed: {driver_output}")
    }
}

fn truncated_first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut line = replace_control_chars(line.trim());
    if line.len() > MAX_MESSAGE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_MESSAGE_BYTES));
        line.push('…');
    }
    line
}
