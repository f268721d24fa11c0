//! HTTP status codes as they are stored.

/// Converts a stored status code, where 0 means no response.
pub(super) fn http_status_from_stored(http_status: u16) -> Option<u16> {
    (http_status > 0).then_some(http_status)
}
