//! A response that a scan judges.

use std::borrow::Cow;

use url::Url;

use crate::domain::from_utf8_lossy;

/// A response that a scan judges; its body is bounded by whoever read it.
#[derive(Clone, Debug)]
pub struct ScannedResponse {
    /// URL of the request.
    pub url: Url,
    /// Status code.
    pub status: u16,
    /// Header fields in their order, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, or its beginning.
    pub body: Vec<u8>,
}

impl ScannedResponse {
    /// Returns the first field called `name`, in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())
    }

    /// Returns all fields called `name`, in lower case.
    pub fn headers_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.trim())
    }

    /// Whether it came over https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether it is a page.
    #[must_use]
    pub fn is_html(&self) -> bool {
        self.header("content-type").is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.starts_with("text/html") || value.starts_with("application/xhtml")
        })
    }

    /// Returns the body as text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        from_utf8_lossy(&self.body)
    }

    /// Returns the target of a redirect.
    #[must_use]
    pub fn redirect_target(&self) -> Option<Url> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        self.header("location").filter(|_| is_redirect).and_then(|location| self.url.join(location).ok())
    }
}

#[cfg(test)]
pub(super) mod test_response {
    use super::ScannedResponse;

    /// Returns a response from `url` with these header fields.
    pub(in crate::evaluate::security) fn response(url: &str, headers: &[(&str, &str)]) -> ScannedResponse {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        ScannedResponse { url: url.parse().unwrap(), status: 200, headers, body: Vec::new() }
    }
}
