//! Header fields as a result keeps them.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

use super::build_request::is_secret_header;
use crate::domain::{HeaderList, from_utf8_lossy};
use crate::syntax::MASK;

/// Header fields that are told.
const MAX_FIELDS: usize = 64;

/// Bytes of a value that are told.
const MAX_VALUE_BYTES: usize = 512;

/// The fields by name and value, with the values masked that let somebody in.
pub(super) fn to_header_list(headers: &HeaderMap) -> HeaderList {
    let fields = || headers.iter().take(MAX_FIELDS);
    let bytes = fields().map(|(name, value)| name.as_str().len() + value.len().min(MAX_VALUE_BYTES)).sum();
    let mut list = HeaderList::with_capacity(headers.len().min(MAX_FIELDS), bytes);
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
