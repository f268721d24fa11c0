//! The routes of version 3.

use std::any::Any;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;

use crate::api::error::ApiError;
use crate::api::operation_router::OperationRouter;
use crate::api::path;
use crate::api::state::ApiState;

/// Builds the routes below `/api/v3`.
pub fn router(state: ApiState) -> Router {
    let operation_router = build_operation_router(state);
    let openapi_router = super::openapi::openapi_router(operation_router.operations());
    with_error_handlers(operation_router.into_router().merge(openapi_router))
}

/// Adds the error body for unknown paths and methods and for panics to `router`.
fn with_error_handlers(router: Router) -> Router {
    router
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CatchPanicLayer::custom(panic_response))
}

/// Returns every operation, for the OpenAPI document and the tests.
#[must_use]
pub fn operations(state: ApiState) -> Vec<crate::api::operation::Operation> {
    build_operation_router(state).operations().to_vec()
}

fn build_operation_router(state: ApiState) -> OperationRouter {
    let route_groups = [
        super::access_tokens::add_routes,
        super::sign_in_links::add_routes,
        super::monitors::add_routes,
        super::monitor_edits::add_routes,
        super::bulk_edit_and_apply::add_routes,
        super::export::add_routes,
        super::on_demand_tests::add_routes,
        super::results::add_routes,
        super::result_shares::add_routes,
        super::status_by_location::add_routes,
        super::sla_report::add_routes,
        super::usage::add_routes,
        super::rollups::add_routes,
        super::records::add_routes,
        super::agents::add_routes,
        super::hosts::add_routes,
        super::push_tokens::add_routes,
        super::event_series::add_routes,
        super::episodes::add_routes,
        super::notifications::add_routes,
        super::account::add_routes,
        super::customers::add_routes,
        super::audit::add_routes,
    ];
    route_groups.into_iter().fold(OperationRouter::new(state), |routes, add| add(routes))
}

/// Handles an unsupported method of a known path. The router sets `Allow`.
async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let segment = uri.path().strip_prefix("/monitors/").filter(|segment| !segment.contains('/'));
    match segment {
        // An unknown monitor type, rather than a monitor.
        Some(segment) if method == Method::POST && path::parse_id(segment).is_none() => {
            ApiError::not_found().into_response()
        }
        _ => {
            let message = format!("`{method}` is not allowed here");
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, message).into_response()
        }
    }
}

/// Builds the response to a call whose handler panicked. The panic is logged already.
fn panic_response(_: Box<dyn Any + Send>) -> Response {
    let message = "Internal error; see the server log";
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_returns_the_error_body_and_the_next_call_works() {
        let panicking_handler = async || -> StatusCode { panic!("a fault of the test") };
        let router = with_error_handlers(
            Router::new().route("/broken", get(panicking_handler)).route("/fine", get(async || "ok")),
        );
        let send = |path: &str| router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap());
        let response = send("/broken").await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["errors"][0]["code"], 500);
        assert!(!body.to_string().contains("a fault of the test"));
        assert_eq!(send("/fine").await.unwrap().status(), StatusCode::OK);
    }
}
