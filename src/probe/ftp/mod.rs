//! `ftp` and `ftp-ssl`: login, a directory list and optionally a file upload and download (behaviour.md 4).

mod probe;
mod test_file;

pub(super) use probe::build;
