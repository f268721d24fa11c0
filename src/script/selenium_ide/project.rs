//! The JSON file of a project.

use serde::Deserialize;

use crate::syntax::node::Position;
use crate::syntax::truncate_value;

/// A project.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "struct Project")]
pub struct SeleniumIdeProject {
    #[serde(default)]
    version: String,
    /// The display name.
    #[serde(default)]
    pub name: String,
    /// The base of relative URLs.
    #[serde(default)]
    #[serde(rename = "url")]
    pub(super) base_url: String,
    pub(super) tests: Vec<SeleniumIdeTest>,
}

/// A test of a project.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SeleniumIdeTest {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) commands: Vec<SeleniumIdeCommand>,
}

/// A command of a test.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeleniumIdeCommand {
    #[serde(default)]
    pub(super) comment: String,
    /// The name of the command; disabled when it starts with `//`.
    #[serde(default)]
    pub(super) command: String,
    #[serde(default)]
    pub(super) target: String,
    /// Alternative locators of the target, each with its kind.
    #[serde(default)]
    #[serde(rename = "targets")]
    pub(super) recorded_locators: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) value: String,
    /// Whether it opens a window, whose handle is stored in a variable.
    #[serde(default)]
    pub(super) opens_window: bool,
    #[serde(default)]
    pub(super) window_handle_name: String,
}

/// Why a file is not a project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SeleniumIdeProjectError {
    /// The position in its text.
    pub position: Position,
    /// The message, without a full stop.
    pub message: String,
}

impl SeleniumIdeProject {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Fails with position and reason when it is not a project of Selenium IDE.
    pub fn parse(text: &str) -> Result<Self, SeleniumIdeProjectError> {
        let project: Self = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
            let to_u32 = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let position = Position { line: to_u32(error.line()), column: to_u32(error.column()) };
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            SeleniumIdeProjectError {
                position,
                message: format!("not a Selenium IDE project: {}", truncate_value(message)),
            }
        })?;
        match project.version.split('.').next() {
            Some("" | "1" | "2" | "3") => Ok(project),
            _ => Err(SeleniumIdeProjectError {
                position: Position::default(),
                message: format!("unsupported project version {}", truncate_value(&project.version)),
            }),
        }
    }

    /// Returns the names of its tests, in order.
    pub fn test_names(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().map(|test| test.name.as_str())
    }
}
