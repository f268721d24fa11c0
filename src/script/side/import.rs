//! The import of one test of a project.

use super::carry;
use super::imported::Imported;
use super::project::Project;

impl Project {
    /// The script of the test at `index` of [`Project::tests`].
    #[must_use]
    pub fn import(&self, index: usize) -> Imported {
        carry::carry(self, index)
    }
}
