//! The import of one test of a project.

use super::carry;
use super::imported::ImportReport;
use super::project::SideProject;

impl SideProject {
    /// The script of the test at `index` of [`SideProject::tests`].
    #[must_use]
    pub fn import(&self, index: usize) -> ImportReport {
        carry::convert(self, index)
    }
}
