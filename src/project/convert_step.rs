//! A request of a project as an API step.

use serde_json::{Map, Value, json};

use super::convert_assertion::convert_assertion;
use super::convert_scope::ConversionScope;
use super::model::{ParameterStyle, RequestProtocol, RequestStep};
use super::request_text::{encode_parameter, join_location, split_values};

/// Longest name of a step, in characters, and most assertions of one (fields.md 2).
const MAX_NAME_CHARS: usize = 255;
const MAX_ASSERTIONS: usize = 100;

/// An API step, and what it does not do.
pub(super) struct ConvertedStep {
    pub(super) step: Value,
    pub(super) losses: Vec<String>,
}

/// Converts the request `request`, the step at `position` of its case.
pub(super) fn convert_request(
    scope: &ConversionScope<'_>,
    position: usize,
    name: &str,
    request: &RequestStep,
) -> ConvertedStep {
    let mut converter = RequestConverter { scope, position, request, losses: Vec::new() };
    let step = converter.step(name);
    ConvertedStep { step: Value::Object(step), losses: converter.losses }
}

struct RequestConverter<'s> {
    scope: &'s ConversionScope<'s>,
    position: usize,
    request: &'s RequestStep,
    losses: Vec<String>,
}

impl RequestConverter<'_> {
    fn lose(&mut self, what: impl Into<String>) {
        self.losses.push(what.into());
    }

    /// Returns `text` with its expansions replaced; as it is, when that cannot be done.
    fn text(&mut self, text: &str) -> String {
        self.scope.text(text).unwrap_or_else(|reason| {
            self.lose(reason);
            text.to_owned()
        })
    }

    /// Returns the value of a property of the request.
    fn property(&mut self, name: &str, value: &str) -> String {
        self.scope.request_text(self.position, name, value).unwrap_or_else(|reason| {
            self.lose(reason);
            value.to_owned()
        })
    }

    fn step(&mut self, name: &str) -> Map<String, Value> {
        let request = self.request;
        let mut step = Map::new();
        if name.chars().count() > MAX_NAME_CHARS {
            self.lose(format!("the end of its name: steps have names of {MAX_NAME_CHARS} characters"));
        }
        step.insert(
            "step_name".to_owned(),
            Value::from(name.chars().take(MAX_NAME_CHARS).collect::<String>()),
        );
        match request.method.as_str() {
            method @ ("GET" | "POST" | "HEAD") => step.insert("http_method".to_owned(), Value::from(method)),
            method => {
                step.insert("custom_method".to_owned(), Value::from(method));
                step.insert("http_method".to_owned(), Value::from("CUSTOM"))
            }
        };
        let (url, query, parameter_headers) = self.location();
        let posts_query = request.post_query_string && request.has_body() && !request.protocol.is_soap();
        let separator = if url.contains('?') { '&' } else { '?' };
        let full_url = if query.is_empty() || posts_query { url } else { format!("{url}{separator}{query}") };
        step.insert("url".to_owned(), Value::from(full_url));
        let head = self.head(parameter_headers);
        if !head.is_empty() {
            step.insert("head".to_owned(), Value::Object(head));
        }
        if request.has_body() {
            let body = if posts_query { query } else { self.property("Request", &request.body) };
            let action = self.text(&request.soap_action);
            let content_type = request.content_type(&action).unwrap_or_default();
            let content_type = self.text(&content_type);
            if content_type.contains("{{") {
                self.lose("the value of a variable in its media type");
            }
            step.insert("post".to_owned(), json!({"content_type": content_type, "body": body}));
            if request.entitize_properties && request.body.contains("${") {
                self.lose("expanded values are not escaped for XML");
            }
            if !request.encoding.trim().is_empty() && !request.encoding.trim().eq_ignore_ascii_case("utf-8") {
                self.lose(format!("the charset `{}` of the body: steps send UTF-8", request.encoding.trim()));
            }
        }
        if !request.follow_redirects {
            step.insert("follow_redirects".to_owned(), Value::from(false));
        }
        if !request.timeout_ms.trim().is_empty() && request.timeout_ms.trim() != "0" {
            self.lose("its timeout: steps have none of their own");
        }
        let assertions = self.assertions();
        step.insert("assertions".to_owned(), Value::Array(assertions));
        for name in foreign_placeholders(&Value::Object(step.clone()), self.scope) {
            self.lose(format!("`{{{{{name}}}}}` in its texts: steps read that as a variable"));
        }
        step
    }

    /// Returns the URL without its query, the query, and the header fields of parameters.
    fn location(&mut self) -> (String, String, Vec<Value>) {
        let request = self.request;
        let endpoint = self.property("Endpoint", &request.endpoint);
        let mut path = self.text(&request.path);
        let mut matrix = String::new();
        let (mut query, mut headers) = (Vec::new(), Vec::new());
        for parameter in &request.parameters {
            let value = self.property(&parameter.name, &parameter.value);
            let encoded = |text: &str| {
                if parameter.disable_url_encoding { text.to_owned() } else { encode_around_variables(text) }
            };
            match parameter.style {
                ParameterStyle::Query => {
                    if value.is_empty() && !request.send_empty_parameters && !parameter.required {
                        continue;
                    }
                    let name = encode_parameter(&parameter.name);
                    let parts = split_values(&value, &request.multi_value_delimiter);
                    query.extend(parts.map(|part| format!("{name}={}", encoded(part))));
                }
                ParameterStyle::Header => {
                    let parts = split_values(&value, &request.multi_value_delimiter);
                    let parts = parts.filter(|part| !part.is_empty());
                    headers.extend(parts.map(|part| json!({"name": parameter.name, "value": part})));
                }
                ParameterStyle::Template => {
                    path = path.replace(&format!("{{{}}}", parameter.name), &encoded(&value));
                }
                ParameterStyle::Matrix if parameter.is_boolean => {
                    if matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1") {
                        matrix.extend([";", parameter.name.as_str()]);
                    }
                }
                ParameterStyle::Matrix => {
                    let value =
                        if value.is_empty() { String::new() } else { format!("={}", encoded(&value)) };
                    matrix.extend([";", parameter.name.as_str(), value.as_str()]);
                }
                ParameterStyle::Plain => {}
            }
        }
        if request.path.is_empty() && endpoint.contains('{') && !endpoint.contains("{{") {
            self.lose("parameters in its endpoint: steps do not know them");
        }
        let joined = join_location(&endpoint, &path);
        // A variable holds the scheme.
        let url = match joined.strip_prefix("http://") {
            Some(rest) if endpoint.trim_start().starts_with("{{") => rest.to_owned(),
            _ => joined,
        };
        (url + &matrix, query.join("&"), headers)
    }

    fn head(&mut self, mut headers: Vec<Value>) -> Map<String, Value> {
        let request = self.request;
        if request.protocol == RequestProtocol::Soap11 && !request.skip_soap_action {
            let action = self.text(&request.soap_action);
            headers.push(json!({"name": "SOAPAction", "value": format!("\"{action}\"")}));
        }
        for (name, value) in &request.headers {
            let (name, value) = (self.text(name), self.text(value));
            if name.eq_ignore_ascii_case("content-type") && request.has_body() {
                self.lose("the header `Content-Type` beside the media type of the body");
                continue;
            }
            headers.push(json!({"name": name, "value": value}));
        }
        let mut head = Map::new();
        if !headers.is_empty() {
            head.insert("headers".to_owned(), Value::Array(headers));
        }
        if let Some(login) = &request.credentials {
            let username = self.property("Username", &login.username);
            let password = self.property("Password", &login.password);
            head.insert("http_basic_auth_username".to_owned(), Value::from(username));
            head.insert("http_basic_auth_password".to_owned(), Value::from(password));
            head.insert("preemptive_authentication".to_owned(), Value::from(login.preemptive));
        }
        head
    }

    fn assertions(&mut self) -> Vec<Value> {
        let mut converted = Vec::new();
        for assertion in &self.request.assertions {
            match convert_assertion(&assertion.rule, self.scope) {
                Ok(found) => converted.extend(found),
                Err(reason) => self.lose(format!("assertion `{}`: {reason}", assertion.name)),
            }
        }
        if converted.len() >= MAX_ASSERTIONS {
            self.lose(format!("assertions after the first {}", MAX_ASSERTIONS - 1));
            converted.truncate(MAX_ASSERTIONS - 1);
        }
        if !converted.iter().any(|assertion| assertion["source"] == "Status Code") {
            // A status of 400 and more fails no request of a project by itself.
            converted.push(json!({"source": "Status Code", "comparison": "equals", "value": "100-599"}));
        }
        converted
    }
}

/// Encodes `text` for a URL, but for placeholders, whose values steps encode.
fn encode_around_variables(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inner, after)) = split_placeholder(rest) {
        out.push_str(&encode_parameter(before));
        out.extend(["{{", inner, "}}"]);
        rest = after;
    }
    out.push_str(&encode_parameter(rest));
    out
}

/// Returns what stands before, in and behind the first `{{…}}` of `text`.
fn split_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (inner, after) = rest.split_once("}}")?;
    Some((before, inner, after))
}

/// Returns the names in `{{…}}` of `value` that are none of the variables.
fn foreign_placeholders(value: &Value, scope: &ConversionScope<'_>) -> Vec<String> {
    match value {
        Value::String(text) => {
            let (mut found, mut rest) = (Vec::new(), text.as_str());
            while let Some((_, inner, after)) = split_placeholder(rest) {
                if !scope.is_variable(inner) {
                    found.push(crate::syntax::truncate_value(inner));
                }
                rest = after;
            }
            found
        }
        Value::Array(items) => items.iter().flat_map(|item| foreign_placeholders(item, scope)).collect(),
        Value::Object(fields) => fields.values().flat_map(|item| foreign_placeholders(item, scope)).collect(),
        _ => Vec::new(),
    }
}
