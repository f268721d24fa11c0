//! The legacy API, base `/legacy-api` (interface.md 4.1, behaviour.md 2).

use axum::Router;

use super::ApiState;

/// The paths below `/legacy-api`.
pub fn router(_state: ApiState) -> Router {
    todo!()
}
