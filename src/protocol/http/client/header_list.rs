//! Header fields in the form of results.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

use super::build_request::is_secret_header;
use crate::domain::{HeaderList, from_utf8_lossy};
use crate::syntax::MASK;

/// Maximum number of header fields that are kept.
const MAX_KEPT_FIELDS: usize = 64;

/// Longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// Returns the names and values of header fields, with credentials redacted.
pub(super) fn to_header_list(headers: &HeaderMap) -> HeaderList {
    let fields = || headers.iter().take(MAX_KEPT_FIELDS);
    let bytes = fields().map(|(name, value)| name.as_str().len() + value.len().min(MAX_VALUE_BYTES)).sum();
    let mut list = HeaderList::with_capacity(headers.len().min(MAX_KEPT_FIELDS), bytes);
    for (name, value) in fields() {
        list.push(name.as_str(), &redacted_value(name, value));
    }
    list
}

fn redacted_value<'v>(name: &HeaderName, value: &'v HeaderValue) -> Cow<'v, str> {
    let bytes = value.as_bytes();
    if is_secret_header(name) || value.is_sensitive() {
        return MASK.into();
    }
    match bytes.get(..MAX_VALUE_BYTES) {
        Some(start) if bytes.len() > MAX_VALUE_BYTES => {
            format!("{}… ({} bytes)", String::from_utf8_lossy(start), bytes.len()).into()
        }
        _ => from_utf8_lossy(bytes),
    }
}
