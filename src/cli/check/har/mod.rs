//! HTTP exchanges as a HAR 1.2 file: a page for each check or browser step, an entry for each request. Credentials in
//! header fields, cookies among them, are masked as in results.

mod entry;
mod file;

pub(super) use file::HarFile;
