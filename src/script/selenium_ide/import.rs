//! Imports one test of a project.

use super::convert;
use super::import_report::ImportReport;
use super::project::SeleniumIdeProject;

impl SeleniumIdeProject {
    /// Converts the test at `index` of `tests` of the project.
    #[must_use]
    pub fn import(&self, index: usize) -> ImportReport {
        convert::convert(self, index)
    }
}
