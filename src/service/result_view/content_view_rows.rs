//! Content views of a script.

use crate::domain::{ContentViewResult, Status};

/// One content view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentViewRow<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it passed.
    pub passed: bool,
    /// Its status code.
    pub status: Status,
    /// Time from the start of its first part to the end of its last.
    pub total_us: u64,
    /// Number of objects that belong to it.
    pub object_count: u32,
    /// Their decoded size in bytes.
    pub decoded_bytes: u64,
    /// The deciding reason.
    pub reason: Option<String>,
}

impl<'a> ContentViewRow<'a> {
    pub(super) fn new(view: &'a ContentViewResult) -> Self {
        Self {
            name: &view.name,
            passed: view.status == Status::OK,
            status: view.status,
            total_us: view.duration_us,
            object_count: view.object_count,
            decoded_bytes: view.decoded_bytes,
            reason: view.failures.first().map(ToString::to_string),
        }
    }
}
