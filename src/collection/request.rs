//! A request with its placeholders replaced.

use std::cell::Cell;

use serde_json::{Value, json};
use url::Url;

use super::auth::AuthMethod;
use super::aws_signature::SignedRequest;
use super::body::{RenderedBody, UploadedFile};
use super::dynamic_values::dynamic_value;
use super::item::ProtocolBehavior;
use super::json_entries::enabled_entries;
use super::scopes::{MAX_WORK, VariableScopes};
use super::{body, request_url};
use crate::domain::Timestamp;

/// Most bytes of all texts of a request with their variables.
const MAX_REQUEST_BYTES: usize = 20 * 1024 * 1024;
/// Methods that send no body unless `disableBodyPruning` is set.
pub(super) const METHODS_WITHOUT_BODY: [&str; 5] = ["GET", "HEAD", "COPY", "PURGE", "UNLOCK"];

/// A request ready to be sent.
pub struct RenderedRequest {
    /// Its method.
    pub method: String,
    /// Its URL, with the login where that stands in the URL.
    pub url: String,
    /// Its header fields, in order, with the login where that is one of them.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Option<RenderedBody>,
    /// A login that answers a challenge.
    pub digest: Option<(String, String)>,
    /// What no result may show.
    pub secrets: Vec<String>,
}

/// What a request is rendered with.
#[derive(Clone, Copy)]
pub struct RenderContext<'a> {
    /// The variables.
    pub scopes: &'a VariableScopes,
    /// The files that bodies may send.
    pub files: &'a [UploadedFile],
    /// The boundary of multipart bodies.
    pub boundary: &'a str,
    /// The time of signatures and of dynamic variables.
    pub now: Timestamp,
}

impl RenderContext<'_> {
    /// Fills in the placeholders of `text`.
    #[must_use]
    pub fn replace_in(&self, text: &str) -> String {
        self.scopes.replace_in(text, &|name| dynamic_value(name, self.now)).into_owned()
    }

    /// Returns the URL of `request` with its placeholders filled in.
    #[must_use]
    pub fn render_url(&self, request: &Value) -> String {
        request_url::add_scheme(self.replace_in(&request_url::build(&request["url"])))
    }
}

/// Fills in the placeholders of `request` and adds its login.
///
/// # Errors
/// Fails with the reason when the URL cannot be used or a file is missing.
pub fn render_request(
    request: &Value,
    auth: Option<&Value>,
    behavior: &ProtocolBehavior,
    cx: RenderContext<'_>,
) -> Result<RenderedRequest, String> {
    let (remaining, work) = (Cell::new(MAX_REQUEST_BYTES), Cell::new(MAX_WORK));
    let replace = |text: &str| {
        if remaining.get() == 0 || work.get() == 0 {
            return String::new();
        }
        let dynamic = |name: &str| dynamic_value(name, cx.now);
        let text = cx.scopes.replace_within(text, &dynamic, &work).into_owned();
        remaining.set(remaining.get().saturating_sub(text.len()));
        text
    };
    let method = Some(replace(request["method"].as_str().unwrap_or_default()).trim().to_uppercase());
    let method = method.filter(|method| !method.is_empty()).unwrap_or_else(|| "GET".to_owned());
    let mut url = request_url::add_scheme(replace(&request_url::build(&request["url"])));
    let mut headers = header_fields(&request["header"], &replace);
    let has_body = behavior.send_body_always || !METHODS_WITHOUT_BODY.contains(&method.as_str());
    let body = if has_body {
        body::render(&map_texts(&request["body"], &replace), cx.files, cx.boundary)?
    } else {
        None
    };
    let auth = auth.map_or(AuthMethod::None, |auth| AuthMethod::from_json(&map_texts(auth, &replace)));
    if remaining.get() == 0 {
        return Err(format!("with its variables it takes more than {} MiB", MAX_REQUEST_BYTES >> 20));
    }
    if work.get() == 0 {
        return Err("it has too many variables, or they refer to each other without end".to_owned());
    }
    let secrets = auth.secrets();
    let mut digest = None;
    match auth {
        AuthMethod::None => {}
        AuthMethod::Basic { user, password } => {
            use base64::Engine as _;
            let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
            set_header(&mut headers, "Authorization", format!("Basic {pair}"));
        }
        AuthMethod::Digest { user, password } => digest = Some((user, password)),
        AuthMethod::Header { name, value } => set_header(&mut headers, &name, value),
        AuthMethod::Query { name, value } => {
            let mut parsed = parse_url(&url)?;
            let pair = format!("{}={}", request_url::encode_name(&name), request_url::encode_value(&value));
            let query = parsed.query().map_or_else(|| pair.clone(), |query| format!("{query}&{pair}"));
            parsed.set_query(Some(&query));
            url = parsed.into();
        }
        AuthMethod::Aws(credentials) => {
            let content = body.as_ref().map(|body| body.content.as_slice()).unwrap_or_default();
            let parsed = parse_url(&url)?;
            let signed = SignedRequest { method: &method, url: &parsed, body: content, time: cx.now };
            for (name, value) in credentials.sign(&signed) {
                set_header(&mut headers, name, value);
            }
        }
    }
    Ok(RenderedRequest { method, url, headers, body, digest, secrets })
}

impl RenderedRequest {
    /// Returns it in the form that scripts read after it was sent.
    #[must_use]
    pub fn to_script_json(&self, request: &Value) -> Value {
        let header: Vec<Value> =
            self.headers.iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
        let mut object = request.as_object().cloned().unwrap_or_default();
        object.insert("method".to_owned(), json!(self.method));
        object.insert("url".to_owned(), json!(self.url));
        object.insert("header".to_owned(), Value::Array(header));
        Value::Object(object)
    }
}

/// Applies `replace` to every text of `value`.
pub(super) fn map_texts(value: &Value, replace: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(replace(text)),
        Value::Array(items) => items.iter().map(|item| map_texts(item, replace)).collect(),
        Value::Object(entries) => {
            let replaced = entries.iter().map(|(key, value)| (key.clone(), map_texts(value, replace)));
            Value::Object(replaced.collect())
        }
        other => other.clone(),
    }
}

fn parse_url(url: &str) -> Result<Url, String> {
    Url::parse(url).map_err(|error| format!("the URL cannot be used: {error}"))
}

/// Replaces the header field, whatever the case of its name.
fn set_header(headers: &mut Vec<(String, String)>, name: &str, value: String) {
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value));
}

/// Returns the header fields that are switched on, from a list, an object or one text.
pub(super) fn header_fields(header: &Value, replace: &dyn Fn(&str) -> String) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => replace(text),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let pairs: Vec<(String, String)> = match header {
        Value::Array(_) => {
            enabled_entries(header).map(|entry| (text(&entry["key"]), text(&entry["value"]))).collect()
        }
        Value::Object(fields) => fields.iter().map(|(name, value)| (replace(name), text(value))).collect(),
        Value::String(lines) => lines
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (replace(name.trim()), replace(value.trim())))
            .collect(),
        _ => Vec::new(),
    };
    pairs.into_iter().filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
