//! The texts of a request, as SoapUI writes them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::model::{RequestProtocol, RequestStep};

/// The characters that are encoded in parameters: all but those that `java.net.URLEncoder` leaves.
const PARAMETER_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');
/// Methods whose requests have a body.
const METHODS_WITH_BODY: [&str; 6] = ["POST", "PUT", "PATCH", "DELETE", "PROPFIND", "LOCK"];

impl RequestStep {
    /// Whether the request has a body.
    pub(crate) fn has_body(&self) -> bool {
        METHODS_WITH_BODY.contains(&self.method.as_str())
    }

    /// Returns the media type of the body; `None` when the step has none.
    pub(crate) fn content_type(&self, soap_action: &str) -> Option<String> {
        let charset = self.encoding.trim();
        match self.protocol {
            RequestProtocol::Soap11 => Some(format!("text/xml;charset={charset}")),
            RequestProtocol::Soap12 if self.skip_soap_action || soap_action.is_empty() => {
                Some(format!("application/soap+xml;charset={charset}"))
            }
            RequestProtocol::Soap12 => {
                Some(format!("application/soap+xml;charset={charset};action=\"{soap_action}\""))
            }
            RequestProtocol::Rest | RequestProtocol::Http => {
                let media_type = self.media_type.trim();
                (!media_type.is_empty()).then(|| format!("{media_type};charset={charset}"))
            }
        }
    }
}

/// Joins endpoint and path; an endpoint without a scheme is one of `http`.
pub(crate) fn join_location(endpoint: &str, path: &str) -> String {
    let endpoint = endpoint.trim();
    let scheme = if endpoint.contains("://") { "" } else { "http://" };
    match path {
        "" => format!("{scheme}{endpoint}"),
        path => format!("{scheme}{}{path}", endpoint.trim_end_matches('/')),
    }
}

/// Splits the value of a parameter that stands for several.
pub(crate) fn split_values<'v>(value: &'v str, delimiter: &'v str) -> Box<dyn Iterator<Item = &'v str> + 'v> {
    if delimiter.is_empty() { Box::new(std::iter::once(value)) } else { Box::new(value.split(delimiter)) }
}

/// Returns `text` encoded for a URL.
pub(crate) fn encode_parameter(text: &str) -> String {
    utf8_percent_encode(text, PARAMETER_ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_joined() {
        assert_eq!(join_location("h:1/", "/a"), "http://h:1/a");
        assert_eq!(join_location(" https://h ", ""), "https://h");
        assert_eq!(encode_parameter("a b&c*~"), "a%20b%26c*%7E");
        assert_eq!(split_values("a,b", ",").collect::<Vec<_>>(), ["a", "b"]);
    }
}
