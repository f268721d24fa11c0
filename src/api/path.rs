//! Extracts the ids of records from a path. Responds with 404 to anything that is not an id.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use super::error::ApiError;

/// The `{id}` of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdParam(pub(super) i64);

impl<S: Send + Sync> FromRequestParts<S> for IdParam {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| ApiError::not_found())?;
        let id_text = params.iter().find_map(|(name, value)| (name == "id").then_some(value));
        id_text.and_then(parse_id).map(Self).ok_or_else(ApiError::not_found)
    }
}

/// The `{id}` of a path and the id of its child, which is the last part of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct NestedId {
    pub(super) parent_id: i64,
    pub(super) child_id: i64,
}

impl<S: Send + Sync> FromRequestParts<S> for NestedId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| ApiError::not_found())?;
        let mut ids = params.iter().map(|(_, value)| parse_id(value));
        match (ids.next().flatten(), ids.next().flatten()) {
            (Some(id), Some(child_id)) => Ok(Self { parent_id: id, child_id }),
            _ => Err(ApiError::not_found()),
        }
    }
}

/// Parses an id in canonical form: no sign, no leading zeros.
pub(super) fn parse_id(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|id| *id > 0 && id.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_ids_are_parsed() {
        assert_eq!(parse_id("100001"), Some(100_001));
        for text in ["", "0", "-1", "+1", "01", "1.0", "1e3", " 1", "9223372036854775808", "abc", "\u{661}"] {
            assert_eq!(parse_id(text), None, "{text}");
        }
    }
}
