//! Versions of objects as `ETag` and `If-Match` (RFC 9110, section 8.8.3 and 13.1.1).

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::domain::Revision;
use crate::service::SavedObject;

/// The tag of `revision`.
pub(super) fn etag_value(revision: Revision) -> HeaderValue {
    HeaderValue::try_from(format!("\"{revision}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// `object` with the tag of its version.
pub(super) fn json_with_etag(revision: Revision, object: &Map<String, Value>) -> Response {
    ([(header::ETAG, etag_value(revision))], Json(object)).into_response()
}

/// The answer to a create or edit (behaviour.md 1): 200 `{"id":"…"}`, the warnings when there are any, and
/// what only this answer shows.
pub(super) fn saved_response(saved: SavedObject) -> Response {
    let SavedObject { id, revision, warnings, shown_once: once } = saved;
    let mut object = Map::new();
    object.insert("id".to_owned(), Value::from(id.to_string()));
    if !warnings.is_empty() {
        object.insert("warnings".to_owned(), Value::from(warnings));
    }
    object.extend(once);
    json_with_etag(Revision(revision), &object)
}

/// The version that `If-Match` names; `None` without the header or for `*`. Of several tags, as RFC 9110
/// allows them, the newest version counts.
pub(super) fn if_match(headers: &HeaderMap) -> Result<Option<Revision>, ApiError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let number = |tag: &str| {
        let text = tag.trim().strip_prefix('"')?.strip_suffix('"')?;
        text.parse::<i64>().ok().filter(|number| *number > 0)
    };
    // A tag that we never gave, and a weak one, fit no version.
    text.split(',').filter_map(number).max().map(|number| Some(Revision(number))).ok_or_else(|| {
        ApiError::new(StatusCode::PRECONDITION_FAILED, "`If-Match` is not the `ETag` of any version of this")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_is_a_version_any_or_none_of_ours() {
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_MATCH, HeaderValue::from_static(text));
            if_match(&headers)
        };
        assert_eq!(if_match(&HeaderMap::new()), Ok(None));
        assert_eq!(read("*"), Ok(None));
        assert_eq!(read("\"7\""), Ok(Some(Revision(7))));
        assert_eq!(read("\"x\", \"7\",\"3\""), Ok(Some(Revision(7))));
        for stranger in ["7", "W/\"7\"", "\"0\"", "\"seven\"", "", "\"99999999999999999999\""] {
            assert!(read(stranger).is_err(), "{stranger}");
        }
        assert_eq!(etag_value(Revision(7)), "\"7\"");
    }
}
