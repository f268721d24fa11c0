//! Who calls: the address of the client, and the bearer token of version 3 (behaviour.md 1 "Auth").

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header;

use crate::service::{ClientConnection, ServiceError};

/// Returns the client's address; loopback for a request without a socket, as in tests.
pub(super) fn client_address(request: &Request) -> IpAddr {
    ClientConnection::from_extensions(request.extensions()).address
}

/// Returns the bearer token of `request`.
pub(super) fn bearer_token(request: &Request) -> Result<String, ServiceError> {
    let missing_token_error = || {
        ServiceError::Unauthenticated(
            "An access token is required: `Authorization: Bearer <token>`".to_owned(),
        )
    };
    let header_value = request.headers().get(header::AUTHORIZATION).ok_or_else(missing_token_error)?;
    let text = header_value.to_str().map_err(|_| missing_token_error())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(missing_token_error)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(missing_token_error());
    }
    Ok(token.trim().to_owned())
}
