//! Files that a result keeps as evidence: the head of a response, a body, a screenshot.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Name of the capture with the route to the target.
pub const TRACEROUTE_FILE_NAME: &str = "traceroute.txt";

/// Metadata of a captured file (behaviour.md 9 `captures`), with its content on the way into and out of the store.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedFile {
    /// File name without a path, unique within its result.
    pub name: String,
    /// Media type.
    #[serde(rename = "mimetype")]
    pub media_type: String,
    /// Size of the content in bytes.
    #[serde(rename = "bytes")]
    pub content_bytes: u64,
    /// The content; `None` where only the metadata of a result is shown.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}

impl CapturedFile {
    /// Creates a capture with its content.
    #[must_use]
    pub fn new(name: &str, media_type: impl Into<String>, content: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            media_type: media_type.into(),
            content_bytes: content.len() as u64,
            content: Some(content.into()),
        }
    }

    /// Whether it is an image of a type that every browser shows.
    #[must_use]
    pub fn is_image(&self) -> bool {
        matches!(self.media_type.as_str(), "image/png" | "image/jpeg")
    }

    /// Returns the bytes that the content takes in memory; 0 where only the metadata is loaded.
    #[must_use]
    pub fn loaded_content_bytes(&self) -> usize {
        self.content.as_ref().map_or(0, |content| content.len())
    }
}

/// Leaves the content out: it is long and may be anything.
impl fmt::Debug for CapturedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("name", &self.name)
            .field("mimetype", &self.media_type)
            .field("bytes", &self.content_bytes)
            .finish_non_exhaustive()
    }
}
