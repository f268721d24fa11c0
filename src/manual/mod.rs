//! The embedded manual: `vigie help SUBJECT` prints its pages, `/manual` serves them. A page is a Markdown file beside
//! this one.

mod page;
mod pages;
mod search;

pub use page::{Page, Section, anchor};
pub use pages::{PAGES, find};
pub use search::{Hit, search};
