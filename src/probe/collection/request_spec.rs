//! The message that a rendered request is sent as.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
    USER_AGENT,
};
use http::{HeaderMap, Method, Version};

use crate::collection::{ProtocolBehavior, RenderedRequest};
use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::http::client::{
    HttpCredentials, RedirectMethod, RedirectRule, RequestSpec, parse_request_url, remove_login_and_fragment,
};

/// Methods that say nothing of a body when they have none; others send `Content-Length: 0`.
const METHODS_WITHOUT_LENGTH: [&str; 6] = ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
/// What is sent where the request does not say otherwise, besides `User-Agent` and `Host`.
const SYSTEM_HEADERS: [(HeaderName, &str); 4] = [
    (ACCEPT, "*/*"),
    (CACHE_CONTROL, "no-cache"),
    (ACCEPT_ENCODING, "gzip, deflate, br"),
    (CONNECTION, "keep-alive"),
];

/// Builds the message.
///
/// # Errors
/// Fails with [`FailureKind::VariableInvalid`] when URL, method or a header field cannot be sent as it is.
pub(super) fn build_spec(
    request: &RenderedRequest,
    behavior: &ProtocolBehavior,
    user_agent: &HeaderValue,
) -> Result<RequestSpec, Failure> {
    let invalid = |text: String| Failure::new(Phase::Prepare, FailureKind::VariableInvalid, text);
    let mut url = parse_request_url(&request.url)
        .map_err(|reason| invalid(format!("the URL cannot be used: {reason}")))?;
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| invalid("the method is not one of HTTP".to_owned()))?;
    let (user, password) = match &request.digest {
        Some((user, password)) => (user.as_str(), password.as_str()),
        None => ("", ""),
    };
    let credentials = HttpCredentials::from_user_or_url(user, password, &url).map(Arc::new);
    remove_login_and_fragment(&mut url);
    let headers = header_map(request, behavior, user_agent).map_err(invalid)?;
    let body = request.body.as_ref().map(|body| Bytes::from(body.content.clone()));
    let body = body.or_else(|| (!METHODS_WITHOUT_LENGTH.contains(&method.as_str())).then(Bytes::new));
    Ok(RequestSpec {
        url,
        // A login in the URL is sent at once, one with a challenge is not.
        preemptive_auth: request.digest.is_none(),
        method,
        version: Version::HTTP_11,
        headers,
        body,
        credentials,
        trace_id: None,
        redirects: RedirectRule {
            max: behavior.max_redirects,
            followed: behavior.follow_redirects,
            method: if behavior.follow_original_method { RedirectMethod::Keep } else { RedirectMethod::Get },
            sends_referer: true,
        },
    })
}

fn header_map(
    request: &RenderedRequest,
    behavior: &ProtocolBehavior,
    user_agent: &HeaderValue,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::with_capacity(SYSTEM_HEADERS.len() + request.headers.len() + 4);
    let is_enabled =
        |name: &HeaderName| !behavior.disabled_headers.iter().any(|disabled| disabled == name.as_str());
    headers.insert(HOST, HeaderValue::from_static(""));
    if is_enabled(&USER_AGENT) {
        headers.insert(USER_AGENT, user_agent.clone());
    }
    for (name, value) in SYSTEM_HEADERS {
        if is_enabled(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    let body_type = request.body.as_ref().and_then(|body| body.content_type.as_deref());
    if let Some(content_type) = body_type.filter(|_| is_enabled(&CONTENT_TYPE)) {
        let value =
            HeaderValue::from_str(content_type).map_err(|_| "the media type cannot be sent".to_owned())?;
        headers.insert(CONTENT_TYPE, value);
    }
    for (index, (name, text)) in request.headers.iter().enumerate() {
        let shown = crate::syntax::truncate_value(name);
        let field = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            format!("the header field `{shown}` has a character that is not allowed in its name")
        })?;
        // The value may be a secret: it is not quoted.
        let value =
            HeaderValue::from_str(text).or_else(|_| HeaderValue::from_bytes(text.as_bytes())).map_err(
                |_| format!("the header field `{shown}` has a character that is not allowed in its value"),
            )?;
        // The same name several times is sent several times; in another case it replaces the one before.
        if request.headers[..index].iter().any(|(earlier, _)| earlier == name) {
            headers.append(field, value);
        } else {
            headers.insert(field, value);
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::RenderedBody;

    fn request(headers: &[(&str, &str)]) -> RenderedRequest {
        RenderedRequest {
            method: "POST".to_owned(),
            url: "http://u:p@a.test/x?y#z".to_owned(),
            headers: headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: Some(RenderedBody { content: b"{}".to_vec(), content_type: Some("text/plain".to_owned()) }),
            digest: None,
            secrets: Vec::new(),
        }
    }

    fn spec(headers: &[(&str, &str)], behavior: &ProtocolBehavior) -> Result<RequestSpec, Failure> {
        build_spec(&request(headers), behavior, &HeaderValue::from_static("vigie"))
    }

    #[test]
    fn system_headers_are_added_unless_disabled_or_replaced() {
        let headers = spec(
            &[("accept", "x/y"), ("X-A", "1"), ("X-A", "2"), ("x-a", "3")],
            &ProtocolBehavior::default(),
        )
        .unwrap()
        .headers;
        assert_eq!(headers[ACCEPT], "x/y");
        assert_eq!(headers.get_all("x-a").iter().collect::<Vec<_>>(), ["3"]);
        assert_eq!(
            (&headers[CONTENT_TYPE], &headers[USER_AGENT]),
            (&HeaderValue::from_static("text/plain"), &HeaderValue::from_static("vigie"))
        );
        let disabled_headers =
            ["user-agent", "accept", "accept-encoding", "connection", "cache-control", "content-type"];
        let behavior = ProtocolBehavior {
            disabled_headers: disabled_headers.map(str::to_owned).to_vec(),
            ..ProtocolBehavior::default()
        };
        assert_eq!(spec(&[], &behavior).unwrap().headers.len(), 1);
    }

    #[test]
    fn urls_lose_login_and_fragment_and_must_be_http() {
        let spec = spec(&[], &ProtocolBehavior::default()).unwrap();
        assert_eq!(spec.url.as_str(), "http://a.test/x?y");
        assert!(spec.credentials.is_some() && spec.preemptive_auth);
        for (url, expected) in [
            ("file:///etc/passwd", "must begin"),
            ("http://", "cannot be used"),
            ("{{base}}/x", "cannot be used"),
        ] {
            let request = RenderedRequest { url: url.to_owned(), ..request(&[]) };
            let failure = build_spec(&request, &ProtocolBehavior::default(), &HeaderValue::from_static("v"))
                .unwrap_err();
            assert!(failure.detail.contains(expected), "{url}: {failure}");
        }
        let failure = super::tests::spec(&[("X-A", "a\r\nb: c")], &ProtocolBehavior::default()).unwrap_err();
        assert!(failure.detail.contains("`X-A`") && !failure.detail.contains("b: c"), "{failure}");
    }
}
