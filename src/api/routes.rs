//! Collects operations with their handlers: the router asks for login and right before a handler runs.

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, on};
use axum::{Extension, Router};

use super::body::{BODY_BYTES, LARGE_BODY_BYTES};
use super::caller::{address, token};
use super::error::ApiError;
use super::operation::Operation;
use super::query::QueryNames;
use super::select::{SELECT, narrow};
use super::state::ApiState;
use crate::domain::Permission;

/// Operations and the router that serves them.
pub(super) struct Routes {
    state: ApiState,
    router: Router<ApiState>,
    operations: Vec<Operation>,
}

impl Routes {
    /// None yet.
    pub(super) fn new(state: ApiState) -> Self {
        Self { state, router: Router::new(), operations: Vec::new() }
    }

    /// With `operation`, done by `handler`. A handler takes the caller from `Extension<Caller>`, the body from
    /// [`super::body::JsonBody`].
    #[must_use]
    pub(super) fn on<H, T>(mut self, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, ApiState>,
        T: 'static,
    {
        let route = on(operation.method.filter(), handler);
        self.add(operation, route);
        self
    }

    /// As [`Routes::on`], with a body that may hold scripts or many monitors.
    #[must_use]
    pub(super) fn on_large<H, T>(mut self, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, ApiState>,
        T: 'static,
    {
        let route = on(operation.method.filter(), handler);
        self.add(operation, route.layer(DefaultBodyLimit::max(LARGE_BODY_BYTES)));
        self
    }

    /// Login and right are asked for before anything of the body is read.
    fn add(&mut self, operation: Operation, route: MethodRouter<ApiState>) {
        let (operation, route) = if operation.shows_one() {
            (operation.query(&[SELECT]), route.layer(middleware::from_fn(narrow)))
        } else {
            (operation, route)
        };
        let route = match operation.right {
            Some(right) => route.layer(middleware::from_fn_with_state((self.state.clone(), right), guard)),
            None => route,
        };
        let route = route.layer(Extension(QueryNames::from(operation.names())));
        self.router = std::mem::take(&mut self.router).route(operation.path, route);
        self.operations.push(operation);
    }

    /// The operations so far.
    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The router.
    pub(super) fn into_router(self) -> Router {
        self.router.layer(DefaultBodyLimit::max(BODY_BYTES)).with_state(self.state)
    }
}

async fn guard(
    State((state, right)): State<(ApiState, Permission)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (token, from) = (token(&request), address(&request));
    let caller = async { state.accounts.authenticate_bearer(&token?, from).await };
    match caller.await.and_then(|caller| caller.require_right(right).map(|()| caller)) {
        Ok(caller) => {
            request.extensions_mut().insert(caller.clone());
            let mut response = next.run(request).await;
            // For the log line of the call.
            response.extensions_mut().insert(caller);
            response
        }
        Err(refusal) => ApiError::from(refusal).into_response(),
    }
}
