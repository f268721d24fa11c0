//! One request of a visit.

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue,
};
use http::{Method, Request, Uri, Version};
use http_body_util::Full;
use url::{Position, Url};

use super::options::Options;
use super::redirect::shown;
use crate::model::{Failure, FailureKind, Phase};

/// What changes from one request of a visit to the next.
pub(super) struct Ask<'a> {
    pub(super) url: &'a Url,
    pub(super) method: &'a Method,
    /// As negotiated.
    pub(super) version: Version,
    pub(super) cookies: Option<HeaderValue>,
    pub(super) authorization: Option<HeaderValue>,
}

/// Whether a field of this name carries something that lets its sender in. There is no list of such names:
/// `Authorization`, `Cookie`, `X-Api-Key`, `X-Auth-Token` and their like are told by the words in them.
fn is_secret(name: &HeaderName) -> bool {
    const WORDS: [&str; 9] =
        ["auth", "cookie", "credential", "key", "passw", "secret", "session", "signature", "token"];
    WORDS.iter().any(|word| name.as_str().contains(word))
}

impl Ask<'_> {
    /// The request of `options`.
    ///
    /// # Errors
    /// Ours, when the URL is longer than a request line may be.
    pub(super) fn request(self, options: &Options) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = self.uri()?;
        *request.version_mut() = self.version;
        let headers = request.headers_mut();
        *headers = options.headers.map();
        if self.version == Version::HTTP_2 {
            // RFC 9113 8.2.2 forbids the fields of a connection; the pseudo fields name the host.
            headers.remove(HOST);
            headers.remove(CONNECTION);
        } else {
            let host = &self.url[Position::BeforeHost..Position::AfterPort];
            headers.insert(HOST, HeaderValue::from_str(host).map_err(|_| self.unaskable())?);
        }
        if self.url.origin() != options.url.origin() {
            // What the monitor says of itself is meant for its own server.
            let secrets: Vec<HeaderName> = headers.keys().filter(|name| is_secret(name)).cloned().collect();
            for secret in secrets {
                headers.remove(secret);
            }
        }
        if let Some(cookies) = self.cookies {
            headers.append(COOKIE, cookies);
        }
        if let Some(authorization) = self.authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        if self.method == Method::POST {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(options.body.len()));
            *request.body_mut() = Full::new(options.body.clone());
        } else {
            headers.remove(CONTENT_TYPE);
        }
        *request.method_mut() = self.method.clone();
        Ok(request)
    }

    /// The target of the request line (RFC 9112 3.2.1), or of the pseudo fields in HTTP/2.
    fn uri(&self) -> Result<Uri, Failure> {
        let part = match self.version {
            Version::HTTP_2 => &self.url[..Position::AfterQuery],
            _ => &self.url[Position::BeforePath..Position::AfterQuery],
        };
        part.parse().map_err(|_| self.unaskable())
    }

    fn unaskable(&self) -> Failure {
        let detail = format!("`{}` cannot be put into a request", shown(self.url));
        Failure::new(Phase::Prepare, FailureKind::Internal, detail)
    }
}
