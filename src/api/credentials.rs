//! Who calls: the address of the client, and the bearer token of version 3 (behaviour.md 1 "Auth").

use std::net::IpAddr;

use axum::extract::Request;

use crate::service::{self, ClientConnection, ServiceError};

/// Returns the client's address; loopback for a request without a socket, as in tests.
pub(super) fn client_address(request: &Request) -> IpAddr {
    ClientConnection::from_extensions(request.extensions()).address
}

/// Returns the bearer token of `request`.
pub(super) fn bearer_token(request: &Request) -> Result<String, ServiceError> {
    let token = service::bearer_token(request.headers()).filter(|token| !token.is_empty());
    token.map(str::to_owned).ok_or_else(|| {
        ServiceError::Unauthenticated(
            "An access token is required: `Authorization: Bearer <token>`".to_owned(),
        )
    })
}
