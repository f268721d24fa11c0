//! HTTP/1.1 settings for connections to browsers and, on their behalf, to targets.

use std::time::Duration;

use hyper::{client, server};
use hyper_util::rt::TokioTimer;

/// Longest head of a request or response, in bytes.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Most header fields of a head.
const MAX_HEADER_FIELDS: usize = 256;
/// Time limit for the head of a request, and for connecting to a target.
pub(super) const HEAD_AND_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Builder for connections of browsers. Field names keep their case.
pub(super) fn browser_side_builder() -> server::conn::http1::Builder {
    let mut builder = server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_AND_CONNECT_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADER_FIELDS)
        .preserve_header_case(true)
        .auto_date_header(false);
    builder
}

/// Builder for connections to targets, with the same settings.
pub(super) fn target_side_builder() -> client::conn::http1::Builder {
    let mut builder = client::conn::http1::Builder::new();
    builder
        .max_buf_size(MAX_HEAD_BYTES)
        .max_header_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADER_FIELDS)
        // As browsers read them without a proxy (RFC 9112 5.1, 5.2).
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .preserve_header_case(true);
    builder
}
