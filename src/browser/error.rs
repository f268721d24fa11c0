//! Errors of WebDriver commands.

use fantoccini::error::{CmdError, ErrorStatus};
use serde_json::Value;

use crate::domain::truncate;

/// Longest message of a driver that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 300;
/// Start of the text that Chromium's driver appends to its messages.
const DRIVER_SUFFIX: &str = "  (Session info";

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebDriverError {
    /// No response in time.
    #[error("the driver did not respond in time")]
    TimedOut,
    /// The page was not loaded in time; the driver stopped waiting for it.
    #[error("the page was not loaded in time")]
    PageTimedOut,
    /// A script did not end in time.
    #[error("the script did not end in time")]
    ScriptTimedOut,
    /// A dialog with this text is open, and must be answered first.
    #[error("a dialog is open: {0}")]
    DialogOpen(String),
    /// No dialog is open.
    #[error("no dialog is open")]
    NoDialog,
    /// The element or its document no longer exists.
    #[error("the element no longer exists")]
    StaleElement,
    /// The page was unloaded while a script ran in it.
    #[error("the page was left meanwhile")]
    PageUnloaded,
    /// The element, frame or window does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The element exists, but cannot be used like this: it is not visible, covered or disabled.
    #[error("{0}")]
    NotInteractable(String),
    /// A locator is invalid.
    #[error("{0}")]
    InvalidSelector(String),
    /// JavaScript threw an error.
    #[error("{0}")]
    JavaScript(String),
    /// The browser shows an error page of its own. Contains the browser's name of the error, such as
    /// `ERR_CONNECTION_REFUSED` or `connectionFailure`.
    #[error("the browser shows an error page: {0}")]
    ErrorPage(String),
    /// The page crashed, or the session, the browser or the driver ended.
    #[error("{0}")]
    SessionLost(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl WebDriverError {
    /// Converts the error of a command.
    #[must_use]
    pub fn from_command_error(error: CmdError) -> Self {
        let CmdError::Standard(response) = &error else {
            return match error {
                CmdError::Failed(_) | CmdError::FailedC(_) | CmdError::Lost(_) => {
                    Self::SessionLost("the driver ended or closed the connection".to_owned())
                }
                // Chromium's driver has no error code for it.
                CmdError::NotW3C(Value::String(text)) if text.contains("crashed") => {
                    Self::SessionLost("the tab crashed".to_owned())
                }
                _ => Self::Other(message_first_line(&error.to_string())),
            };
        };
        let message = message_first_line(&response.message);
        if let Some(code) = browser_error_name(&response.message) {
            return Self::ErrorPage(code);
        }
        if response.message.contains("tab crashed") {
            return Self::SessionLost("the tab crashed".to_owned());
        }
        if ["crashed", "not reachable", "disconnected"].iter().any(|text| response.message.contains(text)) {
            return Self::SessionLost(message);
        }
        // Each driver has its own messages for this, with different error codes.
        let unload_messages =
            ["unloaded", "context was destroyed", "Cannot find context", "aborted by navigation"];
        if unload_messages.iter().any(|text| response.message.contains(text)) {
            return Self::PageUnloaded;
        }
        match response.error {
            ErrorStatus::Timeout => Self::PageTimedOut,
            ErrorStatus::ScriptTimeout => Self::ScriptTimedOut,
            ErrorStatus::UnexpectedAlertOpen => Self::DialogOpen(dialog_text(&response.message)),
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
            _ => Self::Other(message),
        }
    }
}

/// Returns the browser's name of the error from the driver's message about an error page.
fn browser_error_name(message: &str) -> Option<String> {
    let leading_chars = |text: &str, is_allowed: fn(char) -> bool| -> Option<String> {
        Some(text.chars().take_while(|&c| is_allowed(c)).take(64).collect::<String>())
            .filter(|code| !code.is_empty())
    };
    if let Some((_, rest)) = message.split_once("net::") {
        return leading_chars(rest, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    }
    let (_, rest) =
        message.split_once("about:neterror?e=").or_else(|| message.split_once("about:certerror?e="))?;
    leading_chars(rest, |c| c.is_ascii_alphanumeric())
}

/// Returns the text of the dialog in the driver's message: `… {Alert text : Sure?}`, `… Dialog text: "Sure?"`.
fn dialog_text(message: &str) -> String {
    let message = message.split(DRIVER_SUFFIX).next().unwrap_or(message).trim_end();
    let text = message.split_once("Alert text : ").map(|(_, text)| text.trim_end_matches('}'));
    let text = text.or_else(|| message.split_once("with text: ").map(|(_, text)| text));
    message_first_line(text.unwrap_or_default().trim())
}

/// Returns the first line of `text`, truncated, without the driver's suffix.
fn message_first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(DRIVER_SUFFIX).next().unwrap_or(line).trim();
    truncate(line, MAX_MESSAGE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_dialog_is_extracted() {
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
