//! How HTTP/1.1 is spoken with a browser and, on its behalf, with targets.

use std::time::Duration;

use hyper::{client, server};
use hyper_util::rt::TokioTimer;

/// Bytes of the head of a request or answer at most.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Header fields of it at most.
const MAX_HEADER_FIELDS: usize = 256;
/// Time for the head of a request to be complete, and for a target to let us connect.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// With the browser. Names of fields keep their case.
pub(super) fn server_builder() -> server::conn::http1::Builder {
    let mut builder = server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(CONNECT_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADER_FIELDS)
        .preserve_header_case(true)
        .auto_date_header(false);
    builder
}

/// With a target, in the same way.
pub(super) fn client_builder() -> client::conn::http1::Builder {
    let mut builder = client::conn::http1::Builder::new();
    builder
        .max_buf_size(MAX_HEAD_BYTES)
        .max_header_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADER_FIELDS)
        .preserve_header_case(true);
    builder
}
