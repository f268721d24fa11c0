//! Connections beyond the limit: they are served liveness and readiness only, so that a crowd of clients never makes
//! the server look dead. A new one replaces the oldest.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::limits::MAX_HEALTH_CONNECTIONS;
use crate::sync::Mutex;

/// The open connections beyond the limit, the oldest first.
#[derive(Clone, Default)]
pub(super) struct HealthConnections {
    open: Arc<Mutex<VecDeque<CancellationToken>>>,
}

/// A connection beyond the limit.
pub(super) struct HealthConnection {
    /// Cancelled when a newer one takes its place.
    pub(super) replaced: CancellationToken,
    /// Cancels `replaced` when the connection ends, so that it no longer counts as open.
    _cancel_on_drop: DropGuard,
}

impl HealthConnections {
    /// Adds a connection; ends the oldest one when there are too many.
    pub(super) fn add(&self) -> HealthConnection {
        let token = CancellationToken::new();
        let mut open = self.open.lock();
        // Those that have ended are cancelled too.
        open.retain(|connection| !connection.is_cancelled());
        if open.len() >= MAX_HEALTH_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.cancel();
        }
        open.push_back(token.clone());
        HealthConnection { replaced: token.clone(), _cancel_on_drop: token.drop_guard() }
    }
}

/// Passes on requests for liveness and readiness, and refuses all others.
pub(super) async fn serve_health_only(request: Request, next: Next) -> Response {
    if matches!(request.uri().path(), "/healthz" | "/readyz") {
        return next.run(request).await;
    }
    let message = "The server has too many connections; try again in a second";
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_connection_replaces_the_oldest() {
        let connections = HealthConnections::default();
        let mut open: Vec<_> = (0..MAX_HEALTH_CONNECTIONS).map(|_| connections.add()).collect();
        drop(open.pop());
        let newer = connections.add();
        assert!(!open[0].replaced.is_cancelled(), "one had ended");
        let newest = connections.add();
        assert!(open[0].replaced.is_cancelled());
        assert!(![&open[1], &newer, &newest].iter().any(|connection| connection.replaced.is_cancelled()));
    }
}
