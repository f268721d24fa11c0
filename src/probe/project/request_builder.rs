//! Builds the request of a step, as SoapUI sends it.

use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Version};
use url::Url;

use super::resolver::CaseResolver;
use crate::project::model::{Parameter, ParameterStyle, RequestProtocol, RequestStep};
use crate::project::property_owner::PropertyOwner;
use crate::project::request_text::{encode_parameter, join_location, split_values};
use crate::protocol::http as http_protocol;
use crate::protocol::http::client::{
    HttpCredentials, MAX_URL_BYTES, RedirectRule, RequestSpec, parse_request_url, remove_login_and_fragment,
};
use crate::redaction::sensitive_names::{is_sensitive_header, is_sensitive_variable, token_after_scheme};
use crate::syntax::escape::escape_expansions;

/// Largest query that is sent as the body, in bytes.
const MAX_POSTED_QUERY_BYTES: usize = 4 * 1024 * 1024;
/// Largest sum of the header fields of parameters and the step, each with 32 bytes more, in bytes.
const MAX_HEADER_BYTES: usize = 256 * 1024;
/// A request, ready to be sent.
pub(super) struct BuiltRequest {
    pub(super) spec: RequestSpec,
    /// Credentials in it, for redaction.
    pub(super) secrets: Vec<String>,
    /// Its body as text, which later steps read as `RawRequest`.
    pub(super) body_text: String,
    /// Longest duration in milliseconds.
    pub(super) timeout_ms: Option<u64>,
}

/// Builds the request of the step `step`.
///
/// # Errors
/// When an expansion cannot be evaluated, or its value is not allowed where it stands.
pub(super) fn build_request(
    resolver: &CaseResolver<'_>,
    step: usize,
    request: &RequestStep,
    user_agent: &HeaderValue,
) -> Result<BuiltRequest, String> {
    let property = |name: &str| {
        let value = resolver.property(PropertyOwner::Step(step), name)?;
        resolver.expand(&value.unwrap_or_default())
    };
    let mut parts = RequestParts { has_body: request.has_body(), ..RequestParts::default() };
    parts.location = join_location(&property("Endpoint")?, &resolver.expand(&request.path)?);
    check_url_bytes(parts.location.len())?;
    for parameter in &request.parameters {
        let value = property(&parameter.name)?;
        parts.add_parameter(request, parameter, &value)?;
    }
    let mut url = parts.to_url(request)?;
    let credentials = parts.credentials(request, &url, &property)?;
    remove_login_and_fragment(&mut url);
    let body_text = match (parts.has_body, request.post_query_string && !request.protocol.is_soap()) {
        (false, _) => String::new(),
        (true, true) => parts.query.clone(),
        (true, false) => {
            let body = resolver.property(PropertyOwner::Step(step), "Request")?.unwrap_or_default();
            if request.entitize_properties {
                resolver.expand_escaped(&body)?
            } else {
                resolver.expand(&body)?
            }
        }
    };
    let headers = parts.header_map(resolver, request, user_agent)?;
    let encoding = Encoding::for_label(request.encoding.trim().as_bytes()).unwrap_or(UTF_8);
    let body = parts.has_body.then(|| Bytes::from(encoding.encode(&body_text).0.into_owned()));
    let timeout = resolver.expand(&request.timeout_ms)?;
    let timeout_ms = match timeout.trim() {
        "" => None,
        timeout => Some(timeout.parse::<u64>().map_err(|_| "the timeout is no number of milliseconds")?),
    };
    Ok(BuiltRequest {
        spec: RequestSpec {
            url,
            method: Method::from_bytes(request.method.as_bytes())
                .map_err(|_| "the method is not one of HTTP".to_owned())?,
            version: Version::HTTP_11,
            headers,
            body,
            credentials,
            preemptive_auth: request.credentials.as_ref().is_some_and(|login| login.preemptive),
            redirects: RedirectRule::from_flag(request.follow_redirects),
            trace_id: None,
        },
        secrets: parts.secrets,
        body_text,
        timeout_ms: timeout_ms.filter(|&timeout_ms| timeout_ms > 0),
    })
}

/// The parts of a request while its parameters are added.
#[derive(Default)]
struct RequestParts {
    /// The URL without the query of its parameters.
    location: String,
    query: String,
    headers: Vec<(String, String)>,
    /// Size of the header fields, with 32 bytes more for each.
    header_bytes: usize,
    secrets: Vec<String>,
    has_body: bool,
}

/// Fails when a URL of `length` bytes is too long.
fn check_url_bytes(length: usize) -> Result<(), String> {
    if length > MAX_URL_BYTES {
        return Err(format!("the URL has more than {MAX_URL_BYTES} bytes"));
    }
    Ok(())
}

impl RequestParts {
    fn add_parameter(
        &mut self,
        request: &RequestStep,
        parameter: &Parameter,
        value: &str,
    ) -> Result<(), String> {
        let (name, encodes) = (&*parameter.name, !parameter.disable_url_encoding);
        if !value.is_empty() && is_sensitive_variable(name) {
            self.secrets.push(value.to_owned());
        }
        let query_limit = match (request.post_query_string, self.has_body) {
            (true, true) => MAX_POSTED_QUERY_BYTES,
            _ => MAX_URL_BYTES,
        };
        let encoded = |text: &str| if encodes { encode_parameter(text) } else { text.to_owned() };
        match parameter.style {
            ParameterStyle::Query => {
                if value.is_empty() && !request.send_empty_parameters && !parameter.required {
                    return Ok(());
                }
                for part in split_values(value, &request.multi_value_delimiter) {
                    let separator = if self.query.is_empty() { "" } else { "&" };
                    if self.query.len() + name.len() + part.len() > query_limit {
                        return Err(format!("the query has more than {query_limit} bytes"));
                    }
                    self.query.push_str(separator);
                    self.query.push_str(&encode_parameter(name));
                    self.query.push('=');
                    self.query.push_str(&encoded(part));
                }
            }
            ParameterStyle::Header => {
                let values = split_values(value, &request.multi_value_delimiter);
                for part in values.filter(|part| !part.is_empty()) {
                    self.count_header(name, part)?;
                    self.headers.push((name.to_owned(), part.to_owned()));
                }
            }
            ParameterStyle::Template => {
                if matches!(value, "." | "..") {
                    return Err(format!("the value of `{name}` is a step to another path"));
                }
                check_url_bytes(value.len())?;
                let (pattern, value) = (format!("{{{name}}}"), encoded(value));
                let count = self.location.matches(&pattern).count();
                check_url_bytes(self.location.len() - count * pattern.len() + count * value.len())?;
                self.location = self.location.replace(&pattern, &value);
            }
            ParameterStyle::Matrix if parameter.is_boolean => {
                check_url_bytes(self.location.len() + name.len())?;
                if matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1") {
                    self.location = format!("{};{name}", self.location);
                }
            }
            ParameterStyle::Matrix => {
                check_url_bytes(self.location.len() + name.len() + value.len())?;
                let value = if value.is_empty() { String::new() } else { format!("={}", encoded(value)) };
                self.location = format!("{};{name}{value}", self.location);
            }
            ParameterStyle::Plain => {}
        }
        Ok(())
    }

    /// Counts a header field. Fails when there are too many.
    fn count_header(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.header_bytes += name.len() + value.len() + 32;
        if self.header_bytes > MAX_HEADER_BYTES {
            return Err(format!("the header fields have more than {MAX_HEADER_BYTES} bytes"));
        }
        Ok(())
    }

    fn to_url(&self, request: &RequestStep) -> Result<Url, String> {
        let mut location = self.location.clone();
        let is_body = request.post_query_string && self.has_body;
        if !self.query.is_empty() && !is_body {
            location.push(if location.contains('?') { '&' } else { '?' });
            location.push_str(&self.query);
        }
        parse_request_url(&location).map_err(|reason| format!("the URL cannot be used: {reason}"))
    }

    /// Returns the login of the step, or else that in the URL.
    fn credentials(
        &mut self,
        request: &RequestStep,
        url: &Url,
        property: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Option<Arc<HttpCredentials>>, String> {
        let (username, password) = match request.credentials {
            Some(_) => (property("Username")?, property("Password")?),
            None => (String::new(), String::new()),
        };
        let credentials = HttpCredentials::from_user_or_url(&username, &password, url);
        let passwords = [password, url.password().unwrap_or_default().to_owned()];
        self.secrets.extend(passwords.into_iter().filter(|password| !password.is_empty()));
        Ok(credentials.map(Arc::new))
    }

    /// Builds the header fields. A header of the step replaces the standard one of the same name.
    fn header_map(
        &mut self,
        resolver: &CaseResolver<'_>,
        request: &RequestStep,
        user_agent: &HeaderValue,
    ) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::with_capacity(8 + self.headers.len() + request.headers.len());
        headers.insert(HOST, HeaderValue::from_static(""));
        headers.insert(USER_AGENT, user_agent.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(http_protocol::ACCEPT_ENCODING));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if self.has_body
            && let Some(media_type) =
                request.content_type(&escape_expansions(resolver.expand(&request.soap_action)?.into()))
        {
            headers.insert(CONTENT_TYPE, to_header_value(&resolver.expand(&media_type)?)?);
        }
        if request.protocol == RequestProtocol::Soap11 && !request.skip_soap_action {
            let action = format!("\"{}\"", resolver.expand(&request.soap_action)?);
            headers.insert(HeaderName::from_static("soapaction"), to_header_value(&action)?);
        }
        let mut own_headers: Vec<(String, String)> = std::mem::take(&mut self.headers);
        for (name, value) in &request.headers {
            let (name, value) = (resolver.expand(name)?, resolver.expand(value)?);
            self.count_header(&name, &value)?;
            own_headers.push((name, value));
        }
        let mut replaced: Vec<HeaderName> = Vec::new();
        for (name, value) in own_headers {
            let header = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| {
                format!("the header `{}` cannot be set", crate::syntax::truncate_value(&name))
            })?;
            if is_sensitive_header(header.as_str()) {
                self.secrets.extend(token_after_scheme(&value).map(str::to_owned));
                self.secrets.push(value.clone());
            }
            let value = to_header_value(&value)?;
            if replaced.contains(&header) {
                headers.append(header, value);
            } else {
                headers.insert(header.clone(), value);
                replaced.push(header);
            }
        }
        self.secrets.retain(|secret| !secret.is_empty());
        Ok(headers)
    }
}

/// Returns the value of a header. The error does not quote it, since it may be a secret.
fn to_header_value(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_bytes(text.trim().as_bytes())
        .map_err(|_| "a header has a character that is not allowed in its value".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_fields_are_bounded() {
        let mut parts = RequestParts::default();
        let count = (0..40_000).take_while(|_| parts.count_header("a", "b").is_ok()).count();
        assert_eq!(count, MAX_HEADER_BYTES / 34, "fewer than a header map can hold");
        assert!(RequestParts::default().count_header("a", &"b".repeat(MAX_HEADER_BYTES)).is_err());
    }
}
