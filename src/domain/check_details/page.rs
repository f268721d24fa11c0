//! The objects of a page, and how they were loaded.

use serde::{Deserialize, Serialize};

use crate::domain::failure::Failure;
use crate::domain::phase::Phases;
use crate::domain::status::Status;

/// The objects of a page and how they were loaded (behaviour.md 4, full page).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageLoad {
    /// From the request for the page until the last object was loaded, in microseconds.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Size of the page and all objects after decoding, in bytes.
    #[serde(rename = "bytes")]
    pub decoded_bytes: u64,
    /// Number of objects that are not listed because there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "unlisted")]
    pub unlisted_objects: u32,
    /// The objects, in the order in which they were found.
    pub objects: Vec<PageObject>,
    /// Differences from the last passed run at the same location; set when the run is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PageObjectChange>,
}

/// The kind of an object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageObjectKind {
    /// `img`, `srcset`, `picture`, `poster`, images of style sheets.
    Image,
    /// `script`.
    Script,
    /// Style sheets, by `link` or `@import`.
    #[serde(rename = "style")]
    StyleSheet,
    /// `iframe` and `frame`.
    Frame,
    /// Fonts of style sheets.
    Font,
    /// `audio`, `video`, `source`, `track`.
    Media,
    /// Other resources, such as icons and manifests.
    Other,
    /// A page itself, including redirects to it, when a browser loaded it.
    Document,
}

/// One object of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageObject {
    /// URL where the object was found, before redirects, without credentials.
    pub url: String,
    /// Kind of the object.
    pub kind: PageObjectKind,
    /// Whether its registrable domain differs from that of the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub third_party: bool,
    /// Whether Vigie blocked it: its host is blocked, or the egress policy denies it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// Start of its request after the request for the page, in microseconds.
    #[serde(rename = "started_us")]
    pub start_offset_us: u64,
    /// Duration in microseconds.
    #[serde(rename = "total_us")]
    pub duration_us: u64,
    /// Duration of each phase; without resolve, connect and tls on a reused connection.
    pub phases: Phases,
    /// Status code of the response; 0 without a response.
    #[serde(default)]
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub http_version: String,
    /// Media type as declared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "mimetype")]
    pub media_type: String,
    /// Size over the wire, in bytes.
    #[serde(default)]
    pub body_wire_bytes: u64,
    /// Size after decompression, in bytes.
    #[serde(default)]
    pub body_bytes: u64,
    /// Why it failed to load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// A difference of an object from the previous run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageObjectChange {
    /// `7121` size changed, `7122` missing, `7123` new.
    pub status: Status,
    /// URL of the object.
    pub url: String,
    /// Size after decoding in the previous run, in bytes; `None` for a new object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "before")]
    pub previous_bytes: Option<u64>,
    /// Size after decoding now, in bytes; `None` for a missing object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "now")]
    pub current_bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
