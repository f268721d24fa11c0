//! `ftp` and `ftp-ssl`: login, a list, and when asked a file there and back (behaviour.md 4).

mod probe;
mod test_file;

pub(super) use probe::build;
