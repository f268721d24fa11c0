//! One step of an API monitor, and the request that is built from it once its variables are set.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderName,
    HeaderValue, PRAGMA, USER_AGENT,
};
use http::{HeaderMap, Method, Version};
use url::Url;

use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::assertion::AssertionTemplate;
use crate::evaluate::template::{EscapeContext, Template, Variables};
use crate::evaluate::variable::VariableExtractor;
use crate::protocol::http as http_protocol;
use crate::protocol::http::client::{
    HttpCredentials, RedirectRule, RequestSpec, parse_request_url, remove_login_and_fragment,
};
use crate::redaction::sensitive_names::{is_sensitive_header, token_after_scheme};
use crate::schema::typed::api_steps::{ApiStepSettings, StepBodySettings, StepMethod};
use crate::schema::typed::website::HeaderSettings;

/// A step of an API monitor, with its templates parsed.
pub(super) struct StepPlan {
    pub(super) number: u32,
    pub(super) name: Box<str>,
    url: UrlTemplate,
    method: Method,
    headers: Box<[(HeaderName, Template)]>,
    content_type: Option<HeaderValue>,
    body: Option<Template>,
    /// User name and `password` of Basic or Digest authentication.
    user: Template,
    password: Template,
    /// The value of `Authorization` with the bearer token.
    authorization: Option<Template>,
    preemptive_auth: bool,
    pub(super) follow_redirects: bool,
    pub(super) assertions: Box<[AssertionTemplate]>,
    pub(super) variable_extractors: Box<[VariableExtractor]>,
}

/// The URL of a step: fixed, or with placeholders.
enum UrlTemplate {
    Fixed(Url),
    Template(Template),
}

impl UrlTemplate {
    fn parse(text: &str) -> Result<Self, String> {
        let template = Template::new(text, EscapeContext::Url);
        if template.has_placeholders() {
            Ok(Self::Template(template))
        } else {
            parse_request_url(text.trim()).map(Self::Fixed)
        }
    }

    fn render(&self, variables: &Variables) -> Result<Url, Failure> {
        match self {
            Self::Fixed(url) => Ok(url.clone()),
            Self::Template(template) => {
                parse_request_url(template.render(variables)?.trim()).map_err(|reason| {
                    invalid_variable_failure(format!("the URL with its variables cannot be used: {reason}"))
                })
            }
        }
    }
}

fn invalid_variable_failure(text: impl Into<String>) -> Failure {
    Failure::new(Phase::Prepare, FailureKind::VariableInvalid, text)
}

impl StepPlan {
    /// Creates the step `number` from its settings (interface.md 2.3).
    pub(super) fn new(number: u32, step: &ApiStepSettings<'_>) -> Result<Self, String> {
        let name = step.step_name;
        let invalid_field = |field: &str, reason: &dyn std::fmt::Display| {
            format!("`{field}` of step {number} `{name}` cannot be used: {reason}")
        };
        let header_settings = &step.head;
        let method = match step.http_method {
            StepMethod::Get => "GET",
            StepMethod::Post => "POST",
            StepMethod::Head => "HEAD",
            StepMethod::Custom => step.custom_method.unwrap_or_default(),
        };
        let post = step.post.as_ref().map(PostBody::new);
        let login_template =
            |text: Option<&str>| Template::new(text.unwrap_or_default(), EscapeContext::Login);
        let bearer = header_settings.bearer_token.filter(|token| !token.is_empty());
        let assertions = step.assertions.iter().map(AssertionTemplate::new).collect::<Result<_, _>>();
        let variables = step.variables.iter().map(VariableExtractor::new).collect::<Result<_, _>>();
        let content_type = post.as_ref().map(|post| HeaderValue::from_str(&post.content_type)).transpose();
        Ok(Self {
            number,
            name: name.into(),
            url: UrlTemplate::parse(step.url).map_err(|reason| invalid_field("url", &reason))?,
            method: Method::from_bytes(method.as_bytes())
                .map_err(|error| invalid_field("http_method", &error))?,
            headers: parse_headers(&header_settings.headers)
                .map_err(|reason| invalid_field("head.headers", &reason))?,
            content_type: content_type.map_err(|error| invalid_field("post.content_type", &error))?,
            body: post
                .map(|post| Template::new(&post.body, EscapeContext::from_content_type(&post.content_type))),
            user: login_template(header_settings.http_basic_auth_username),
            password: login_template(header_settings.http_basic_auth_password),
            authorization: bearer
                .map(|token| Template::new(&format!("Bearer {token}"), EscapeContext::Header)),
            preemptive_auth: header_settings.preemptive_authentication,
            follow_redirects: step.follow_redirects,
            assertions: assertions.map_err(|error| invalid_field("assertions", &error))?,
            variable_extractors: variables.map_err(|error| invalid_field("variables", &error))?,
        })
    }

    /// Returns the host of the request, unless the URL has placeholders.
    pub(super) fn fixed_host(&self) -> Option<Box<str>> {
        match &self.url {
            UrlTemplate::Fixed(url) => url.host_str().map(Box::from),
            UrlTemplate::Template(_) => None,
        }
    }

    /// Whether an assertion or variable reads the response body.
    pub(super) fn reads_body(&self) -> bool {
        self.assertions.iter().any(AssertionTemplate::reads_body)
            || self.variable_extractors.iter().any(VariableExtractor::reads_body)
    }

    /// Whether an assertion or variable reads the response headers.
    pub(super) fn reads_headers(&self) -> bool {
        self.assertions.iter().any(AssertionTemplate::reads_headers)
            || self.variable_extractors.iter().any(VariableExtractor::reads_headers)
    }

    /// Whether an assertion or variable applies a regular expression or a schema to a response of this media type.
    pub(super) fn is_slow_to_evaluate(&self, content_type: &str) -> bool {
        self.assertions.iter().any(AssertionTemplate::is_slow)
            || self.variable_extractors.iter().any(|variable| variable.is_regex(content_type))
    }

    /// Builds the request. Also returns the credentials that it contains, for redaction.
    ///
    /// # Errors
    /// Fails when a variable is not set, or when its value is not allowed where it is used.
    pub(super) fn build_request(
        &self,
        user_agent: &HeaderValue,
        variables: &Variables,
    ) -> Result<(RequestSpec, Vec<String>), Failure> {
        let mut url = self.url.render(variables)?;
        let (user, password) = (self.user.render(variables)?, self.password.render(variables)?);
        let credentials = HttpCredentials::from_user_or_url(&user, &password, &url).map(Arc::new);
        remove_login_and_fragment(&mut url);
        let (headers, mut secrets) = self.header_map(user_agent, variables)?;
        if !password.is_empty() {
            secrets.push(password);
        }
        let body = self.body.as_ref().map(|body| body.render(variables)).transpose()?;
        // A POST without a body sends `Content-Length: 0`.
        let body = body.map(Bytes::from).or((self.method == Method::POST).then(Bytes::new));
        let request = RequestSpec {
            url,
            method: self.method.clone(),
            version: Version::HTTP_11,
            headers,
            body,
            credentials,
            preemptive_auth: self.preemptive_auth,
            redirects: RedirectRule::from_flag(self.follow_redirects),
            trace_id: None,
        };
        Ok((request, secrets))
    }

    /// Builds the header fields. A header of the step replaces the standard one of the same name.
    /// Returns them with the credentials in them.
    fn header_map(
        &self,
        user_agent: &HeaderValue,
        variables: &Variables,
    ) -> Result<(HeaderMap, Vec<String>), Failure> {
        let mut headers = HeaderMap::with_capacity(12);
        let mut secrets = Vec::new();
        headers.insert(HOST, HeaderValue::from_static(""));
        headers.insert(USER_AGENT, user_agent.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(http_protocol::ACCEPT_ENCODING));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
        if let Some(content_type) = &self.content_type {
            headers.insert(CONTENT_TYPE, content_type.clone());
        }
        if let Some(bearer) = &self.authorization {
            let authorization = bearer.render(variables)?;
            secrets.push(authorization.clone());
            headers.insert(AUTHORIZATION, to_header_value(authorization)?);
        }
        for (index, (name, template)) in self.headers.iter().enumerate() {
            let text = template.render(variables)?;
            if is_sensitive_header(name.as_str()) {
                secrets.push(text.clone());
            }
            let value = to_header_value(text)?;
            if self.headers[..index].iter().any(|(earlier_name, _)| earlier_name == name) {
                headers.append(name, value);
            } else {
                headers.insert(name, value);
            }
        }
        let tokens: Vec<String> =
            secrets.iter().filter_map(|text| token_after_scheme(text)).map(str::to_owned).collect();
        secrets.extend(tokens);
        Ok((headers, secrets))
    }
}

/// The body of a step, before its variables are filled in.
struct PostBody {
    content_type: String,
    body: String,
}

impl PostBody {
    /// Creates the body of `post`. A multipart body is sent as written, parts and boundaries included, with two
    /// corrections: the boundary is added to the content type, taken from the body's first line,
    /// and line ends become CRLF (RFC 2046 4.1.1).
    fn new(post: &StepBodySettings<'_>) -> Self {
        let mut content_type = match post.content_type {
            "" => "application/x-www-form-urlencoded".to_owned(),
            media_type => media_type.to_owned(),
        };
        let mut body = post.body.to_owned();
        if content_type.get(..10).is_some_and(|media_type| media_type.eq_ignore_ascii_case("multipart/")) {
            body = body.replace("\r\n", "\n").replace('\n', "\r\n");
            let boundary = body.lines().next().and_then(|line| line.strip_prefix("--")).unwrap_or_default();
            if !content_type.to_ascii_lowercase().contains("boundary=") && !boundary.is_empty() {
                content_type = format!("{content_type}; boundary=\"{boundary}\"");
            }
        }
        Self { content_type, body }
    }
}

fn parse_headers(header_settings: &[HeaderSettings<'_>]) -> Result<Box<[(HeaderName, Template)]>, String> {
    let header = |entry: &HeaderSettings<'_>| {
        let name = HeaderName::from_bytes(entry.name.as_bytes())
            .map_err(|_| format!("`{}` cannot be set", entry.name))?;
        Ok((name, Template::new(entry.value, EscapeContext::Header)))
    };
    header_settings.iter().map(header).collect()
}

/// Returns the value of a header. The error does not quote it, since it may be a secret.
fn to_header_value(text: String) -> Result<HeaderValue, Failure> {
    HeaderValue::from_maybe_shared(Bytes::from(text))
        .map_err(|_| invalid_variable_failure("a header has a character that is not allowed in its value"))
}
