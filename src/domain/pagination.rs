//! Pages of lists.

use super::check_result::CheckResult;

/// The page of a list to return.
#[derive(Clone, Copy, Debug)]
pub struct Pagination {
    /// Most items to return.
    pub limit: u32,
    /// Number of items to skip.
    pub offset: u64,
}

impl Pagination {
    /// The whole list.
    pub const ALL: Self = Self { limit: u32::MAX, offset: 0 };
}

/// A page of a list, with the total number of matches.
#[derive(Clone, Debug)]
pub struct Paginated<T> {
    /// Number of all matches.
    pub total: u64,
    /// Items of this page.
    pub items: Vec<T>,
}

/// A page of matching results, with the total number of matches.
#[derive(Clone, Debug)]
pub struct PaginatedResults {
    /// Number of all matches.
    pub total: u64,
    /// Results of this page.
    pub results: Vec<CheckResult>,
}
