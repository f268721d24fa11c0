//! What goes to standard output and standard error.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use crate::syntax::ValidationError;

/// The command was asked for something that cannot be: the words say what and how to put it right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub(super) String);

impl UsageError {
    /// What is wrong, with a hint on a line of its own when there is one.
    pub(super) fn with_hint(what: impl Into<String>, hint: Option<String>) -> anyhow::Error {
        let mut text = what.into();
        if let Some(hint) = hint {
            let _ = write!(text, "\nhint: {hint}");
        }
        Self(text).into()
    }
}

/// What is wrong with documents or settings, one complaint each.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nerror: ").replace("\n  hint:", "\nhint:"))]
pub(super) struct InvalidInput(pub(super) Vec<ValidationError>);

/// Writes `text` to standard output. A reader that has gone away, such as `head`, is no failure.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes one line beside the result, to standard error.
pub(super) fn print_note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes `error`, what caused it, and the hint that its words end with.
pub(super) fn print_error(error: &anyhow::Error) {
    // There is nobody left to tell when standard error is closed.
    let _ = io::stderr().lock().write_all(error_text(error).as_bytes());
}

fn error_text(error: &anyhow::Error) -> String {
    let words = error.to_string();
    if error.chain().count() == 1 {
        return format!("error: {words}\n");
    }
    let (what, hint) =
        words.split_once("\nhint: ").map_or((words.as_str(), None), |(what, hint)| (what, Some(hint)));
    let mut text = format!("error: {what}\n");
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
    fn a_complaint_says_what_then_why_then_what_to_do() {
        let cause = io::Error::other("connection refused");
        let error = anyhow::Error::new(cause).context("no server can be reached\nhint: start one");
        let expected = "error: no server can be reached\n  because: connection refused\nhint: start one\n";
        assert_eq!(error_text(&error), expected);
        assert_eq!(error_text(&UsageError::with_hint("`x` is unknown", None)), "error: `x` is unknown\n");
    }
}
