//! A file that a result holds as evidence: the head of an answer, a body, later a screenshot.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What is told of the file (behaviour.md 9 `captures`), and its content on the way into and out of the store.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Unique among those of its result; a file name without a path.
    pub name: String,
    /// Media type.
    pub mimetype: String,
    /// Bytes of its content.
    pub bytes: u64,
    /// Its content; `None` in what is told of results.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}

impl Capture {
    /// A file with its content.
    #[must_use]
    pub fn new(name: &str, mimetype: impl Into<String>, content: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            mimetype: mimetype.into(),
            bytes: content.len() as u64,
            content: Some(content.into()),
        }
    }

    /// Whether it is a picture of a kind that every browser shows.
    #[must_use]
    pub fn is_image(&self) -> bool {
        matches!(self.mimetype.as_str(), "image/png" | "image/jpeg")
    }

    /// Bytes that it takes in memory beside what is told of it.
    #[must_use]
    pub fn content_len(&self) -> usize {
        self.content.as_ref().map_or(0, |content| content.len())
    }
}

/// Shows no content: it is long, and may be anything.
impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("name", &self.name)
            .field("mimetype", &self.mimetype)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
