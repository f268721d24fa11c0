//! Versions of objects as `ETag` and `If-Match` (RFC 9110, section 8.8.3 and 13.1.1).

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::ApiError;
use crate::model::Revision;

/// The tag of `revision`.
pub(super) fn tag(revision: Revision) -> HeaderValue {
    HeaderValue::try_from(format!("\"{revision}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// The version that `If-Match` names; `None` without the header or for `*`.
pub(super) fn if_match(headers: &HeaderMap) -> Result<Option<Revision>, ApiError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let number =
        text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).and_then(|text| text.parse().ok());
    // A tag that we never gave fits no version.
    number.map(|number| Some(Revision(number))).ok_or_else(|| {
        ApiError::new(StatusCode::PRECONDITION_FAILED, "`If-Match` is not the `ETag` of any version of this")
    })
}
