//! Header fields as a result keeps them.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

use super::message::is_secret;
use crate::domain::{HeaderList, from_utf8_lossy};
use crate::syntax::MASK;

/// Header fields that are told.
const FIELDS: usize = 64;

/// Bytes of a value that are told.
const VALUE: usize = 512;

/// The fields by name and value, with the values masked that let somebody in.
pub(super) fn told(headers: &HeaderMap) -> HeaderList {
    let fields = || headers.iter().take(FIELDS);
    let bytes = fields().map(|(name, value)| name.as_str().len() + value.len().min(VALUE)).sum();
    let mut list = HeaderList::with_capacity(headers.len().min(FIELDS), bytes);
    for (name, value) in fields() {
        list.push(name.as_str(), &told_value(name, value));
    }
    list
}

fn told_value<'v>(name: &HeaderName, value: &'v HeaderValue) -> Cow<'v, str> {
    let bytes = value.as_bytes();
    if is_secret(name) || value.is_sensitive() {
        return MASK.into();
    }
    match bytes.get(..VALUE) {
        Some(start) if bytes.len() > VALUE => {
            format!("{}… ({} bytes)", String::from_utf8_lossy(start), bytes.len()).into()
        }
        _ => from_utf8_lossy(bytes),
    }
}
