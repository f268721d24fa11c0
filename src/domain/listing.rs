//! Windows of lists.

use super::result::CheckResult;

/// A window of a list.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// At most so many.
    pub limit: u32,
    /// After so many.
    pub offset: u64,
}

/// A window of a list, with the number of all that match.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// How many match in all.
    pub count: u64,
    /// Those in the window.
    pub rows: Vec<T>,
}

/// A window of the results that match, with the number of all that do.
#[derive(Clone, Debug)]
pub struct ResultPage {
    /// How many match in all.
    pub count: u64,
    /// Those in the window.
    pub results: Vec<CheckResult>,
}
