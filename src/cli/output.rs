//! Output to standard output and standard error.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use crate::syntax::ValidationError;

/// Wrong use of a command; the text describes the error and how to correct it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub(super) String);

impl UsageError {
    /// Creates an error with the message `message` and, when given, a hint on a line of its own.
    pub(super) fn with_hint(message: impl Into<String>, hint: Option<String>) -> anyhow::Error {
        let mut full_text = message.into();
        if let Some(hint) = hint {
            let _ = write!(full_text, "\nhint: {hint}");
        }
        Self(full_text).into()
    }
}

/// Errors in documents or settings.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nerror: ").replace("\n  hint:", "\nhint:"))]
pub(super) struct InvalidInput(pub(super) Vec<ValidationError>);

/// Writes `text` to standard output. A closed pipe, as after `head`, is not an error.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a line in addition to the result, to standard error.
pub(super) fn print_note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes `error`, its causes, and the hint at the end of its message.
pub(super) fn print_error(error: &anyhow::Error) {
    // When standard error is closed, nothing can report it.
    let _ = io::stderr().lock().write_all(format_error(error).as_bytes());
}

/// Formats `error` with its causes, and the hint at the end of its message.
pub(super) fn format_error(error: &anyhow::Error) -> String {
    let message = error.to_string();
    if error.chain().count() == 1 {
        return format!("error: {message}\n");
    }
    let (summary, hint) = message
        .split_once("\nhint: ")
        .map_or((message.as_str(), None), |(summary, hint)| (summary, Some(hint)));
    let mut text = format!("error: {summary}\n");
    for cause in error.chain().skip(1) {
        let _ = writeln!(text, "  because: {cause}");
    }
    if let Some(hint) = hint {
        let _ = writeln!(text, "hint: {hint}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_printed_with_its_cause_and_then_its_hint() {
        let cause = io::Error::other("connection refused");
        let error = anyhow::Error::new(cause).context("no server can be reached\nhint: start one");
        let expected = "error: no server can be reached\n  because: connection refused\nhint: start one\n";
        assert_eq!(format_error(&error), expected);
        assert_eq!(format_error(&UsageError::with_hint("`x` is unknown", None)), "error: `x` is unknown\n");
    }
}
