//! Collects operations with their handlers. The router checks login and permission before a handler runs.

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, on};
use axum::{Extension, Router};

use super::body::{MAX_BODY_BYTES, MAX_LARGE_BODY_BYTES};
use super::credentials::{bearer_token, client_address};
use super::error::ApiError;
use super::field_selection::select_fields;
use super::operation::{Operation, SELECT_PARAM};
use super::query::KnownParams;
use super::state::ApiState;
use crate::domain::Permission;

/// Operations and the router that serves them.
pub(super) struct OperationRouter {
    state: ApiState,
    router: Router<ApiState>,
    operations: Vec<Operation>,
}

impl OperationRouter {
    /// Creates a router without operations.
    pub(super) fn new(state: ApiState) -> Self {
        Self { state, router: Router::new(), operations: Vec::new() }
    }

    /// Adds `operation`, served by `handler`. A handler takes the caller from `Extension<Caller>` and the body from
    /// [`super::body::JsonBody`].
    #[must_use]
    pub(super) fn route<H, T>(mut self, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, ApiState>,
        T: 'static,
    {
        let route = on(operation.method.to_method_filter(), handler);
        self.add_route(operation, route);
        self
    }

    /// Like [`OperationRouter::route`], for a body that may hold scripts or many monitors.
    #[must_use]
    pub(super) fn route_with_large_body<H, T>(mut self, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, ApiState>,
        T: 'static,
    {
        let route = on(operation.method.to_method_filter(), handler);
        self.add_route(operation, route.layer(DefaultBodyLimit::max(MAX_LARGE_BODY_BYTES)));
        self
    }

    /// Adds a route that checks login and permission before any of the body is read.
    fn add_route(&mut self, operation: Operation, route: MethodRouter<ApiState>) {
        let (operation, route) = if operation.returns_single_object() {
            (operation.with_query_params(&[SELECT_PARAM]), route.layer(middleware::from_fn(select_fields)))
        } else {
            (operation, route)
        };
        let route = match operation.required_permission {
            Some(permission) => {
                route.layer(middleware::from_fn_with_state((self.state.clone(), permission), authorize))
            }
            None => route,
        };
        let route = route.layer(Extension(KnownParams::from(operation.query_param_names())));
        self.router = std::mem::take(&mut self.router).route(operation.path, route);
        self.operations.push(operation);
    }

    /// Returns the operations added so far.
    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the finished router.
    pub(super) fn into_router(self) -> Router {
        self.router.layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(self.state)
    }
}

async fn authorize(
    State((state, permission)): State<(ApiState, Permission)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (token, client_address) = (bearer_token(&request), client_address(&request));
    let authentication = async { state.account_service.authenticate_bearer(&token?, client_address).await };
    match authentication.await.and_then(|caller| caller.require_permission(permission).map(|()| caller)) {
        Ok(caller) => {
            request.extensions_mut().insert(caller.clone());
            // Held until the handler ends, since the parsed body takes as much memory.
            let _permit = state.upload_permits.acquire(caller.customer, &request).await;
            let mut response = next.run(request).await;
            // The middleware that logs calls reads the caller from here.
            response.extensions_mut().insert(caller);
            response
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}
