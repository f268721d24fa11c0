//! Media types that browsers support.

use crate::domain::PageObjectKind;

/// Returns the media type without its parameters.
fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether browsers support images of this type.
pub(super) fn is_supported_image_type(kind: &str) -> bool {
    let known = ["avif", "webp", "jpeg", "jpg", "png", "apng", "gif", "svg+xml", "bmp", "x-icon"];
    let kind = essence(kind);
    kind.is_empty() || kind.strip_prefix("image/").is_some_and(|kind| known.contains(&kind))
}

/// Whether browsers play media of this type.
pub(super) fn is_supported_av_type(kind: &str) -> bool {
    let known = [
        "mp4", "webm", "ogg", "mpeg", "mp3", "aac", "wav", "x-wav", "wave", "flac", "x-flac", "x-m4a", "opus",
    ];
    let kind = essence(kind);
    let bare = kind.strip_prefix("video/").or(kind.strip_prefix("audio/"));
    kind.is_empty() || kind == "application/ogg" || bare.is_some_and(|kind| known.contains(&kind))
}

/// Whether scripts of this type are run (WHATWG HTML 4.12.1.1); others are data.
pub(super) fn is_executable_script_type(kind: &str) -> bool {
    let kind = essence(kind);
    let bare = kind.strip_prefix("text/").or(kind.strip_prefix("application/")).unwrap_or(&kind);
    kind.is_empty()
        || kind == "module"
        || bare.starts_with("javascript")
        || matches!(bare, "ecmascript" | "x-javascript" | "x-ecmascript" | "jscript" | "livescript")
}

/// Returns the kind of an object whose element declares this type.
pub(super) fn object_kind_from_media_type(kind: Option<&str>) -> PageObjectKind {
    match essence(kind.unwrap_or_default()).split_once('/') {
        Some(("image", _)) => PageObjectKind::Image,
        Some(("audio" | "video", _)) => PageObjectKind::Media,
        Some(("text", "html")) => PageObjectKind::Frame,
        _ => PageObjectKind::Other,
    }
}
