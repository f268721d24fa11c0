//! The state of an HTTP login, for further requests of the same check.

use std::sync::Arc;

use http::Method;
use http::header::HeaderValue;
use url::Url;

use super::auth::{AuthScheme, HttpCredentials};
use super::request_chain::RequestChain;

/// A login that a server requested, for further requests to the same origin.
#[derive(Debug)]
pub struct AuthState {
    credentials: Arc<HttpCredentials>,
    auth_scheme: AuthScheme,
}

impl AuthState {
    /// Returns the value of `Authorization` for a request of `method` to `url`; `None` for other origins.
    pub fn authorization_header(&mut self, method: &Method, url: &Url) -> Option<HeaderValue> {
        if !self.credentials.applies_to(url) {
            return None;
        }
        self.credentials.authorization_header(&mut self.auth_scheme, method, url, &[])
    }
}

impl RequestChain<'_> {
    /// Takes the state of the login, if the server requested one.
    pub fn take_auth_state(&mut self) -> Option<AuthState> {
        let credentials = Arc::clone(self.request.credentials.as_ref()?);
        Some(AuthState { credentials, auth_scheme: self.auth_scheme.take()? })
    }
}
