//! Pure decisions about what was seen.

mod verdict;

pub use verdict::verdict;
