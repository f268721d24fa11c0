//! Collects operations with their handlers: the router asks for login and right before a handler runs.

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};

use super::caller::{address, token};
use super::{ApiError, ApiState, Operation};
use crate::model::Right;

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
        let method = filter(&operation.method);
        let route = on(method, handler);
        let route = match operation.right {
            Some(right) => route.layer(middleware::from_fn_with_state((self.state.clone(), right), guard)),
            None => route,
        };
        self.router = self.router.route(operation.path, route);
        self.operations.push(operation);
        self
    }

    /// The operations so far.
    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The router.
    pub(super) fn into_router(self) -> Router {
        self.router.with_state(self.state)
    }
}

async fn guard(
    State((state, right)): State<(ApiState, Right)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (token, from) = (token(&request), address(&request));
    let caller = async { state.accounts.bearer(&token?, from).await };
    match caller.await.and_then(|caller| caller.require(right).map(|()| caller)) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => ApiError::from(refusal).into_response(),
    }
}

fn filter(method: &Method) -> MethodFilter {
    match *method {
        Method::POST => MethodFilter::POST,
        Method::PATCH => MethodFilter::PATCH,
        Method::DELETE => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    }
}
