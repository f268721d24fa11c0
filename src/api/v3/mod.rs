//! Version 3, base `/api/v3` (behaviour.md 1). One file per group of paths; each adds its operations with
//! their handlers.

mod account;
mod audit;
mod bulk;
mod edits;
mod monitors;
mod openapi;
mod records;
mod results;
mod site_status;
mod tests_on_demand;
mod tokens;

use axum::Router;
use axum::http::{Method, StatusCode};

use super::routes::Routes;
use super::{ApiError, ApiState};

/// The paths below `/api/v3`.
pub fn router(state: ApiState) -> Router {
    let groups = [
        tokens::routes,
        monitors::routes,
        edits::routes,
        bulk::routes,
        tests_on_demand::routes,
        results::routes,
        site_status::routes,
        records::routes,
        account::routes,
        audit::routes,
    ];
    let routes = groups.into_iter().fold(Routes::new(state), |routes, add| add(routes));
    let document = openapi::routes(routes.operations());
    routes.into_router().merge(document).fallback(async || ApiError::not_found()).method_not_allowed_fallback(
        async |method: Method| {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, format!("`{method}` is not possible here"))
        },
    )
}
