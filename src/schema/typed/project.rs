//! The settings of `api`.

use serde::Deserialize;

use super::browser::CaptureSettings;

/// A case of a project.
#[derive(Clone, Debug, Deserialize)]
pub struct ProjectSettings<'a> {
    /// The project, as XML.
    pub script: &'a str,
    /// Name of the suite of the case.
    pub test_suite: &'a str,
    /// Name of the case that is run.
    pub test_case: &'a str,
    /// What is captured of responses.
    pub capture: CaptureSettings,
    /// Maximum number of steps of the case.
    pub transaction_steps_allowed: i64,
}
