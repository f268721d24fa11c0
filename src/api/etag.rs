//! Revisions of objects as `ETag` and `If-Match` (RFC 9110, section 8.8.3 and 13.1.1).

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::domain::Revision;
use crate::service::SavedObject;

/// Returns the entity tag of `revision`.
pub(super) fn etag_value(revision: Revision) -> HeaderValue {
    HeaderValue::try_from(format!("\"{revision}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// Builds the response with `object` and the entity tag of its revision.
pub(super) fn json_with_etag(revision: Revision, object: &Map<String, Value>) -> Response {
    ([(header::ETAG, etag_value(revision))], Json(object)).into_response()
}

/// Builds the response to a create or edit (behaviour.md 1): 200 `{"id":"…"}`, with warnings if any and with the
/// fields that no other response contains.
pub(super) fn saved_response(saved: SavedObject) -> Response {
    let SavedObject { id, revision, warnings, create_response_fields } = saved;
    let mut object = Map::new();
    object.insert("id".to_owned(), Value::from(id.to_string()));
    if !warnings.is_empty() {
        object.insert("warnings".to_owned(), Value::from(warnings));
    }
    object.extend(create_response_fields);
    json_with_etag(Revision(revision), &object)
}

/// Reads the revision in `If-Match`; `None` without the header or for `*`. RFC 9110 allows several tags; of these,
/// the newest revision is returned.
pub(super) fn expected_revision(headers: &HeaderMap) -> Result<Option<Revision>, ApiError> {
    let Some(header_value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = header_value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let parse_tag = |tag: &str| {
        let text = tag.trim().strip_prefix('"')?.strip_suffix('"')?;
        text.parse::<i64>().ok().filter(|revision| *revision > 0)
    };
    // A tag that Vigie never issued, or a weak one, matches no revision.
    text.split(',').filter_map(parse_tag).max().map(|revision| Some(Revision(revision))).ok_or_else(|| {
        ApiError::new(StatusCode::PRECONDITION_FAILED, "`If-Match` is not an `ETag` of this object")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_reads_a_revision_or_any_and_refuses_foreign_tags() {
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_MATCH, HeaderValue::from_static(text));
            expected_revision(&headers)
        };
        assert_eq!(expected_revision(&HeaderMap::new()), Ok(None));
        assert_eq!(read("*"), Ok(None));
        assert_eq!(read("\"7\""), Ok(Some(Revision(7))));
        assert_eq!(read("\"x\", \"7\",\"3\""), Ok(Some(Revision(7))));
        for foreign_tag in ["7", "W/\"7\"", "\"0\"", "\"seven\"", "", "\"99999999999999999999\""] {
            assert!(read(foreign_tag).is_err(), "{foreign_tag}");
        }
        assert_eq!(etag_value(Revision(7)), "\"7\"");
    }
}
