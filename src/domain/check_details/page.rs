//! The objects of a page, and how they were loaded.

use serde::{Deserialize, Serialize};

use crate::domain::failure::Failure;
use crate::domain::phase::Phases;
use crate::domain::status::Status;

/// The objects that a page consists of, and how they were loaded (behaviour.md 4, full page).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FullPage {
    /// From the request for the page until the last object was there, in microseconds.
    pub total_us: u64,
    /// Decoded bytes of the page and all objects.
    pub bytes: u64,
    /// Objects that were found and are not listed, since there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u32,
    /// The objects, in the order in which they were found.
    pub objects: Vec<PageObject>,
    /// How they differ from the last good run of the same location; set when the run is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PageObjectChange>,
}

/// What an object of a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageObjectKind {
    /// `img`, `srcset`, `picture`, `poster`, images of style sheets.
    Image,
    /// `script`.
    Script,
    /// Style sheets, by `link` or `@import`.
    Style,
    /// `iframe` and `frame`.
    Frame,
    /// Fonts of style sheets.
    Font,
    /// `audio`, `video`, `source`, `track`.
    Media,
    /// Other resources, such as icons and manifests.
    Other,
    /// A page itself, redirects to it among them, where a browser loaded it.
    Document,
}

/// One object of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageObject {
    /// Where it is, without credentials; where it was found, before redirects.
    pub url: String,
    /// What it is for.
    pub kind: PageObjectKind,
    /// Whether it belongs to another registrable domain than the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub third_party: bool,
    /// Whether Vigie itself did not let it through: its host is blocked, or the egress policy denies it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// From the request for the page until it was asked for, in microseconds.
    pub started_us: u64,
    /// How long it took, in microseconds.
    pub total_us: u64,
    /// Where the time went; without resolve, connect and tls on a connection that stood.
    pub phases: Phases,
    /// Status code of the answer; 0 when none came.
    #[serde(default)]
    pub http_status: u16,
    /// `HTTP/1.1`, `HTTP/2`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub http_version: String,
    /// Media type as declared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mimetype: String,
    /// Bytes over the wire.
    #[serde(default)]
    pub body_wire_bytes: u64,
    /// Bytes after decompression.
    #[serde(default)]
    pub body_bytes: u64,
    /// Why it could not be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// How an object differs from the run before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageObjectChange {
    /// `7121` size changed, `7122` missing, `7123` new.
    pub status: Status,
    /// The object.
    pub url: String,
    /// Decoded bytes before; none of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Decoded bytes now; none of a missing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
