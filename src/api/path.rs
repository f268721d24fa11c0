//! The number of a record in a path: anything else is no record (404).

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use super::error::ApiError;

/// `{id}` of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Id(pub(super) i64);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| ApiError::not_found())?;
        let text = params.iter().find_map(|(name, value)| (name == "id").then_some(value));
        text.and_then(number).map(Self).ok_or_else(ApiError::not_found)
    }
}

/// `{id}` of the path, and the number of what it has: the last part of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Under {
    pub(super) id: i64,
    pub(super) inner: i64,
}

impl<S: Send + Sync> FromRequestParts<S> for Under {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| ApiError::not_found())?;
        let mut numbers = params.iter().map(|(_, value)| number(value));
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(id), Some(inner)) => Ok(Self { id, inner }),
            _ => Err(ApiError::not_found()),
        }
    }
}

/// Written as we write it: no sign, no leading zeros.
pub(super) fn number(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| *number > 0 && number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_as_we_write_them_are_numbers() {
        assert_eq!(number("100001"), Some(100_001));
        for text in ["", "0", "-1", "+1", "01", "1.0", "1e3", " 1", "9223372036854775808", "abc", "\u{661}"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
