//! The embedded manual: `vigie help SUBJECT` prints its pages, `/manual` serves them. A page is a Markdown file beside
//! this one.

mod manual_page;
mod pages;
mod search;

pub use manual_page::{ManualPage, ManualSection, heading_anchor};
pub use pages::{PAGES, find_page};
pub use search::{SearchHit, search_manual};
