//! Windows of lists.

use super::check_result::CheckResult;

/// A window of a list.
#[derive(Clone, Copy, Debug)]
pub struct Pagination {
    /// At most so many.
    pub limit: u32,
    /// After so many.
    pub offset: u64,
}

/// A window of a list, with the number of all that match.
#[derive(Clone, Debug)]
pub struct Paginated<T> {
    /// How many match in all.
    pub total: u64,
    /// Those in the window.
    pub items: Vec<T>,
}

/// A window of the results that match, with the number of all that do.
#[derive(Clone, Debug)]
pub struct PaginatedResults {
    /// How many match in all.
    pub total: u64,
    /// Those in the window.
    pub results: Vec<CheckResult>,
}
