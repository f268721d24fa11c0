//! `ftp` and `ftp-ssl`: login, a list, and when asked a file there and back (behaviour.md 4).

mod file;
mod probe;

pub(super) use probe::build;
