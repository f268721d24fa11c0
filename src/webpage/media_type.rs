//! Media types that browsers support.

use crate::domain::PageObjectKind;

/// Returns the media type without its parameters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether browsers support images of this type.
pub(super) fn is_supported_image_type(media_type: &str) -> bool {
    let supported = ["avif", "webp", "jpeg", "jpg", "png", "apng", "gif", "svg+xml", "bmp", "x-icon"];
    let media_type = essence(media_type);
    media_type.is_empty()
        || media_type.strip_prefix("image/").is_some_and(|media_type| supported.contains(&media_type))
}

/// Whether browsers play media of this type.
pub(super) fn is_supported_av_type(media_type: &str) -> bool {
    let supported = [
        "mp4", "webm", "ogg", "mpeg", "mp3", "aac", "wav", "x-wav", "wave", "flac", "x-flac", "x-m4a", "opus",
    ];
    let media_type = essence(media_type);
    let subtype = media_type.strip_prefix("video/").or(media_type.strip_prefix("audio/"));
    media_type.is_empty()
        || media_type == "application/ogg"
        || subtype.is_some_and(|media_type| supported.contains(&media_type))
}

/// Whether scripts of this type are run (WHATWG HTML 4.12.1.1); others are data.
pub(super) fn is_executable_script_type(media_type: &str) -> bool {
    let media_type = essence(media_type);
    let subtype =
        media_type.strip_prefix("text/").or(media_type.strip_prefix("application/")).unwrap_or(&media_type);
    media_type.is_empty()
        || media_type == "module"
        || subtype.starts_with("javascript")
        || matches!(subtype, "ecmascript" | "x-javascript" | "x-ecmascript" | "jscript" | "livescript")
}

/// Returns the kind of an object whose element declares this type.
pub(super) fn object_kind_from_media_type(media_type: Option<&str>) -> PageObjectKind {
    match essence(media_type.unwrap_or_default()).split_once('/') {
        Some(("image", _)) => PageObjectKind::Image,
        Some(("audio" | "video", _)) => PageObjectKind::Media,
        Some(("text", "html")) => PageObjectKind::Frame,
        _ => PageObjectKind::Other,
    }
}
