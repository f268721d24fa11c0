//! HTTP exchanges as a HAR 1.2 file: a page for each check or step in a browser, an entry for each request. Values of header fields
//! that let somebody in are masked as in results, cookies among them.

mod entry;
mod file;

pub(super) use file::HarFile;
