//! What a driver refuses a command with.

use fantoccini::error::{CmdError, ErrorStatus};
use serde_json::Value;

use crate::domain::truncate;

/// Longest text of a driver that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 300;
/// Where Chromium's driver begins to speak of itself.
const DRIVER_SUFFIX: &str = "  (Session info";

/// Why a command came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebDriverError {
    /// No answer in time.
    #[error("the driver did not answer in time")]
    TimedOut,
    /// The page was not loaded in time; the driver stopped waiting for it.
    #[error("the page was not loaded in time")]
    PageTimedOut,
    /// A script did not end in time.
    #[error("the script did not end in time")]
    ScriptTimedOut,
    /// A dialog is open, with this text, and has to be answered first.
    #[error("a dialog is open: {0}")]
    DialogOpen(String),
    /// No dialog is open.
    #[error("no dialog is open")]
    NoDialog,
    /// The element or its document is gone.
    #[error("the element is gone")]
    StaleElement,
    /// The page was left while a script ran in it.
    #[error("the page was left meanwhile")]
    Unloaded,
    /// There is no such element, frame or window.
    #[error("{0}")]
    NotFound(String),
    /// The element is there and cannot be used so: not seen, covered, disabled.
    #[error("{0}")]
    NotInteractable(String),
    /// A locator is none.
    #[error("{0}")]
    InvalidSelector(String),
    /// JavaScript threw an error.
    #[error("{0}")]
    JavaScript(String),
    /// The browser shows an error page of its own; the word of the browser for why, such as
    /// `ERR_CONNECTION_REFUSED` or `connectionFailure`.
    #[error("the browser shows an error page: {0}")]
    ErrorPage(String),
    /// The page crashed, or the session, the browser or the driver is gone.
    #[error("{0}")]
    SessionLost(String),
    /// Any other refusal.
    #[error("{0}")]
    Refused(String),
}

impl WebDriverError {
    /// What `error` means.
    #[must_use]
    pub fn from_command_error(error: CmdError) -> Self {
        let CmdError::Standard(told) = &error else {
            return match error {
                CmdError::Failed(_) | CmdError::FailedC(_) | CmdError::Lost(_) => {
                    Self::SessionLost("the driver ended or closed the connection".to_owned())
                }
                // Chromium's driver has no error code for it.
                CmdError::NotW3C(Value::String(word)) if word.contains("crashed") => {
                    Self::SessionLost("the tab crashed".to_owned())
                }
                _ => Self::Refused(first_line(&error.to_string())),
            };
        };
        let message = first_line(&told.message);
        if let Some(word) = error_page_code(&told.message) {
            return Self::ErrorPage(word);
        }
        if told.message.contains("tab crashed") {
            return Self::SessionLost("the tab crashed".to_owned());
        }
        if ["crashed", "not reachable", "disconnected"].iter().any(|word| told.message.contains(word)) {
            return Self::SessionLost(message);
        }
        // Each driver has words of its own for it, under several error codes.
        let left = ["unloaded", "context was destroyed", "Cannot find context", "aborted by navigation"];
        if left.iter().any(|word| told.message.contains(word)) {
            return Self::Unloaded;
        }
        match told.error {
            ErrorStatus::Timeout => Self::PageTimedOut,
            ErrorStatus::ScriptTimeout => Self::ScriptTimedOut,
            ErrorStatus::UnexpectedAlertOpen => Self::DialogOpen(dialog_text(&told.message)),
            ErrorStatus::NoSuchAlert => Self::NoDialog,
            ErrorStatus::StaleElementReference | ErrorStatus::DetachedShadowRoot => Self::StaleElement,
            ErrorStatus::NoSuchElement | ErrorStatus::NoSuchFrame | ErrorStatus::NoSuchWindow => {
                Self::NotFound(message)
            }
            ErrorStatus::ElementClickIntercepted
            | ErrorStatus::ElementNotInteractable
            | ErrorStatus::ElementNotSelectable
            | ErrorStatus::InvalidElementState
            | ErrorStatus::MoveTargetOutOfBounds => Self::NotInteractable(message),
            ErrorStatus::InvalidSelector => Self::InvalidSelector(message),
            ErrorStatus::JavascriptError => Self::JavaScript(message),
            ErrorStatus::InsecureCertificate => Self::ErrorPage("ERR_CERT_INVALID".to_owned()),
            ErrorStatus::InvalidSessionId => Self::SessionLost(message),
            _ => Self::Refused(message),
        }
    }
}

/// The word for why the browser shows an error page of its own, as its driver tells it.
fn error_page_code(message: &str) -> Option<String> {
    let word = |text: &str, fits: fn(char) -> bool| -> Option<String> {
        Some(text.chars().take_while(|&c| fits(c)).take(64).collect::<String>())
            .filter(|word| !word.is_empty())
    };
    if let Some((_, behind)) = message.split_once("net::") {
        return word(behind, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    }
    let (_, behind) =
        message.split_once("about:neterror?e=").or_else(|| message.split_once("about:certerror?e="))?;
    word(behind, |c| c.is_ascii_alphanumeric())
}

/// The text of the dialog in the driver's message: `… {Alert text : Sure?}`, `… Dialog text: "Sure?"`.
fn dialog_text(message: &str) -> String {
    let message = message.split(DRIVER_SUFFIX).next().unwrap_or(message).trim_end();
    let behind = message.split_once("Alert text : ").map(|(_, text)| text.trim_end_matches('}'));
    let behind = behind.or_else(|| message.split_once("with text: ").map(|(_, text)| text));
    first_line(behind.unwrap_or_default().trim())
}

/// The first line of `text`, cut to a readable length, without what drivers say of themselves.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(DRIVER_SUFFIX).next().unwrap_or(line).trim();
    truncate(line, MAX_MESSAGE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_dialog_is_that_and_nothing_more() {
        for (message, text) in [
            ("unexpected alert open: {Alert text : again}\n  (Session info: chrome=156.0)", "again"),
            ("unexpected alert open: {Alert text : a {b}}", "a {b"),
            ("Unexpected alert dialog detected. Dismissed user prompt dialog: with text: Sure?", "Sure?"),
            ("no words", ""),
        ] {
            assert_eq!(dialog_text(message), text, "{message}");
        }
    }
}
