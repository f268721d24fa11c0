//! The import of one test of a project.

use super::convert;
use super::import_report::ImportReport;
use super::project::SideProject;

impl SideProject {
    /// The script of the test at `index` of `tests` of the project.
    #[must_use]
    pub fn import(&self, index: usize) -> ImportReport {
        convert::convert(self, index)
    }
}
