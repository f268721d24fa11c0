//! What a login came to, for further requests of the same check.

use std::sync::Arc;

use http::Method;
use http::header::HeaderValue;
use url::Url;

use super::journey::Journey;
use super::login::{Login, Session};

/// A login that was asked for once, for further requests to the same origin.
#[derive(Debug)]
pub struct Pass {
    login: Arc<Login>,
    session: Session,
}

impl Pass {
    /// The value of `Authorization` for a request of `method` for `url`; `None` for other origins.
    pub fn authorization(&mut self, method: &Method, url: &Url) -> Option<HeaderValue> {
        if !self.login.is_for(url) {
            return None;
        }
        self.login.authorization(&mut self.session, method, url, &[])
    }
}

impl Journey<'_> {
    /// Takes what the login came to, when the server asked for one.
    pub fn take_pass(&mut self) -> Option<Pass> {
        let login = Arc::clone(self.request.login.as_ref()?);
        Some(Pass { login, session: self.session.take()? })
    }
}
